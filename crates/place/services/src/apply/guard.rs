//! The guardian of a plan, and the end of the plan's time.
//!
//! It starts before any change, waits while the command applies the plan, and undoes it if the
//! command dies. Then it waits until the plan's time is over.

use super::{ApplyError, ServicesHost};
use seatmap_cell::guardian::{self, Parting};
use seatmap_cell::name::Name;
use seatmap_cell::undo::Left;
use seatmap_os::owed::{OwedMasks, RunningKernel, ThreadMask};
use std::time::Duration;

/// The clock must be checked, because a sleep does not count the time of a suspended computer.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// Runs a guardian to its end.
///
/// # Errors
/// Some settings could not be restored; the next command tries again.
pub fn serve(host: &ServicesHost, name: &Name) -> Result<(), ApplyError> {
    // Another process with this lock guards the plan.
    let Some(held) = host.run.guard(name).map_err(ApplyError::Remembering)? else {
        return Ok(());
    };
    let owed = guard(host, name)?;
    // Another plan may be applied while masks wait.
    drop(held);
    OwedMasks::give(&mut RunningKernel, owed).wait();
    Ok(())
}

/// Guards a plan to its end. Returns the threads whose masks then lack CPUs.
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

/// Returns the settings that could not be restored.
fn stay(host: &ServicesHost, name: &Name) -> Result<Vec<Left>, ApplyError> {
    let mut left = Vec::new();
    loop {
        // A kept plan needs no guardian, and an undone one has no record.
        let Some(left_s) = host.record(name).and_then(|record| record.left_s()) else {
            return Ok(left);
        };
        if left_s > 0 {
            std::thread::sleep(Duration::from_secs(left_s).min(LONGEST_SLEEP));
            continue;
        }
        let _lock = host.run.lock_at_last().map_err(ApplyError::Remembering)?;
        // Another command may have extended the time.
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

/// Starts a guardian for a plan whose guardian died. If this fails, the next command tries again.
pub(crate) fn adopt(host: &ServicesHost, name: &Name) {
    if let Ok(posted) = host.post(name) {
        posted.dismiss();
    }
}
