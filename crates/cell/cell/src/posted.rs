//! A guardian of a cell or of a plan of services, as the program sees it that posts it.

use crate::error::CellError;
use crate::fault;
use crate::name::Name;
use crate::run_folder::RunFolder;
use crate::undo::Left;
use seatmap_os::guardian::{Guardian, GuardianCommand};
use std::time::{Duration, Instant};

/// Requests that the guardian takes the record's memory, and writes its place into the record.
pub(crate) const TAKE_MEMORY: &str = "memory";

/// How long a guardian that was asked to go is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Posts a guardian, and returns when it is there: without it, a cell would outlive this process.
///
/// # Errors
/// [`CellError::Guardian`]: it cannot be started, or ends at once.
pub fn post(keeper: &GuardianCommand, name: &Name) -> Result<Guardian, CellError> {
    let mut command = keeper.command().map_err(CellError::Guardian)?;
    let command = fault::spare_guardian(&mut command).arg(name.to_string());
    Guardian::post(command).map_err(CellError::Guardian)
}

/// Says that all is well but for what is left. A guardian stays for masks that lack CPUs which are
/// offline, and is named as the one that waits for these.
#[must_use]
pub fn dismiss(posted: Guardian, left: Vec<Left>) -> Vec<Left> {
    match posted.dismiss(Left::owed(&left)) {
        Some(waiter) => left.into_iter().map(|one| one.waited_for(waiter)).collect(),
        None => left,
    }
}

/// Posts a guardian for changes whose guardian died. If that fails, the next command tries again.
pub(crate) fn adopt(keeper: &GuardianCommand, name: &Name, has_memory: bool) {
    let Ok(mut posted) = post(keeper, name) else { return };
    if has_memory {
        posted.request(TAKE_MEMORY);
    }
    posted.dismiss([]);
}

/// Asks the guardian of this name to go, and waits until it has.
pub fn relieve(run: &RunFolder, name: &Name) {
    let Some(pid) = run.guardian(name) else { return };
    // SAFETY: the guardian holds its lock, so that the number is its own.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    let end = Instant::now() + PATIENCE;
    while run.guardian(name).is_some() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
}
