//! One controller at a time.

use crate::error::ControlError;
use seatmap_cell::CellHost;
use seatmap_os::trusted::Open;
use std::fs::File;
use std::time::Duration;

/// Attempts and the pause between them: a warden may still hold the lock.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// Takes the lock, which the kernel releases when the process ends. Returns `None` if another
/// process holds it.
///
/// # Errors
/// The file cannot be opened.
pub fn take(host: &CellHost) -> Result<Option<File>, ControlError> {
    let file = host.run.open("controller.lock", Open::Keep).map_err(ControlError::Lock)?;
    for _ in 0..TRIES {
        if file.try_lock().is_ok() {
            return Ok(Some(file));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(None)
}
