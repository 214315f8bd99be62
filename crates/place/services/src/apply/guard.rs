//! The guardian of a plan, and the end of the plan's time.
//!
//! It is posted before anything is changed, waits beside the command that gives the sets, and takes
//! them back if that command dies. Then it stays until the plan's time is over.

use super::{ApplyError, ServicesHost};
use seatmap_cell::guardian::{self, Parting};
use seatmap_cell::name::Name;
use seatmap_cell::undo::Left;
use seatmap_os::owed::{OwedMasks, RunningKernel, ThreadMask};
use std::time::Duration;

/// The longest sleep: the time of a computer that is suspended does not go on while it sleeps.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// A guardian's life.
///
/// # Errors
/// Some settings could not be put back; the next command deals with them.
pub fn serve(host: &ServicesHost, name: &Name) -> Result<(), ApplyError> {
    // Another one that holds the lock guards the plan already.
    let Some(held) = host.run.guard(name).map_err(ApplyError::Remembering)? else {
        return Ok(());
    };
    let owed = guard(host, name)?;
    // Masks belong to no plan any more: another may be applied while they are waited for.
    drop(held);
    OwedMasks::give(&mut RunningKernel, owed).wait();
    Ok(())
}

/// Guards a plan to its end. Returns the threads that lack CPUs of their masks then.
fn guard(host: &ServicesHost, name: &Name) -> Result<Vec<ThreadMask>, ApplyError> {
    let mut owed = Vec::new();
    match guardian::attend_creator().map_err(ApplyError::Remembering)? {
        Parting::Well => {}
        Parting::MasksOwed(masks) => owed = masks,
        Parting::Death => {
            let _lock = host.run.lock_at_last().map_err(ApplyError::Remembering)?;
            owed.extend(Left::owed(&host.recover()?));
            if !host.stands(name) {
                // Without a journal nothing else removes it.
                host.run.forget_guardian(name).map_err(ApplyError::Remembering)?;
                return Ok(owed);
            }
        }
    }
    owed.extend(Left::owed(&stay(host, name)?));
    Ok(owed)
}

/// Ends a plan when its time is over. Returns what could not be put back.
fn stay(host: &ServicesHost, name: &Name) -> Result<Vec<Left>, ApplyError> {
    let mut left = Vec::new();
    loop {
        // A plan that is kept needs no guardian, and one that is undone has no record.
        let Some(left_s) = host.record(name).and_then(|record| record.left_s()) else {
            return Ok(left);
        };
        if left_s > 0 {
            std::thread::sleep(Duration::from_secs(left_s).min(LONGEST_SLEEP));
            continue;
        }
        let _lock = host.run.lock_at_last().map_err(ApplyError::Remembering)?;
        // It may have been given more time while this process waited for the lock.
        if host.record(name).and_then(|record| record.left_s()) == Some(0) {
            for journal in host.journals()? {
                if journal.header.cell == *name {
                    left.extend(host.end(journal)?);
                }
            }
            return Ok(left);
        }
    }
}

/// Posts a guardian for a plan whose guardian died. If that fails, the next command tries again.
pub(crate) fn adopt(host: &ServicesHost, name: &Name) {
    if let Ok(posted) = host.post(name) {
        posted.dismiss();
    }
}
