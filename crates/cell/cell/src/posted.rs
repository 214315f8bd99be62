//! The creator's view of a guardian of a cell or a plan of services.

use crate::{CellError, Left, Name, RunFolder, fault};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use seatmap_os::guardian::{Guardian, GuardianCommand};
use std::time::{Duration, Instant};

/// The guardian allocates the record's memory, and writes its path into the record.
pub(crate) const TAKE_MEMORY: &str = "memory";

const PATIENCE: Duration = Duration::from_secs(2);

/// Posts a guardian, and returns when it is ready.
///
/// # Errors
/// [`CellError::Guardian`]: it cannot be started, or ends at once.
pub fn post(keeper: &GuardianCommand, name: &Name) -> Result<Guardian, CellError> {
    let mut command = keeper.command().map_err(CellError::Guardian)?;
    let command = fault::spare_guardian(&mut command).arg(name.to_string());
    Guardian::post(command).map_err(CellError::Guardian)
}

/// Ends a guardian, unless masks lack offline CPUs: then they name it as their waiter.
pub fn dismiss(posted: Guardian, left: Vec<Left>) -> Vec<Left> {
    match posted.dismiss(Left::owed(&left)) {
        Some(waiter) => left.into_iter().map(|one| one.waited_for(waiter)).collect(),
        None => left,
    }
}

/// Replaces a dead guardian; if this fails, the next command tries again.
pub(crate) fn adopt(keeper: &GuardianCommand, name: &Name, has_memory: bool) {
    let Ok(mut posted) = post(keeper, name) else { return };
    if has_memory {
        posted.request(TAKE_MEMORY);
    }
    posted.dismiss([]);
}

/// Ends the guardian of this name, and waits for it.
pub fn relieve(run: &RunFolder, name: &Name) {
    let Some(pid) = run.guardian(name) else { return };
    let handle = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    // Another process may have got the number before the handle was opened, but not since.
    if run.guardian(name) == Some(pid)
        && let Some(handle) = handle
    {
        let _ = pidfd_send_signal(handle, Signal::TERM);
    }
    let end = Instant::now() + PATIENCE;
    while run.guardian(name).is_some() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
}
