//! The guardian of a plan, and the end of the plan's time.
//!
//! It is posted before anything is changed, waits beside the command that gives the sets, and takes
//! them back if that command dies. Then it stays until the plan's time is over.

use super::{ApplyError, ServicesHost};
use seatmap_cell::guardian;
use seatmap_cell::name::Name;
use std::time::Duration;

/// The longest sleep: the time of a computer that is suspended does not go on while it sleeps.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// A guardian's life.
///
/// # Errors
/// Some settings could not be put back; the next command deals with them.
pub fn serve(host: &ServicesHost, name: &Name) -> Result<(), ApplyError> {
    // Another one that holds the lock guards the plan already.
    let Some(_held) = host.run.guard(name).map_err(ApplyError::Remembering)? else {
        return Ok(());
    };
    let is_well = guardian::attend_creator().map_err(ApplyError::Remembering)?;
    if !is_well {
        let _lock = host.run.lock_at_last().map_err(ApplyError::Remembering)?;
        host.recover()?;
        if !host.stands(name) {
            return Ok(());
        }
    }
    stay(host, name)
}

fn stay(host: &ServicesHost, name: &Name) -> Result<(), ApplyError> {
    loop {
        // A plan that is kept needs no guardian, and one that is undone has no record.
        let Some(left_s) = host.record(name).and_then(|record| record.left_s()) else {
            return Ok(());
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
                    host.end(journal)?;
                }
            }
            return Ok(());
        }
    }
}

/// Posts a guardian for a plan whose guardian died. If that fails, the next command tries again.
pub(crate) fn adopt(host: &ServicesHost, name: &Name) {
    if let Ok(posted) = host.post(name) {
        posted.dismiss();
    }
}
