//! A lock that lets one program at a time try or change settings.
//!
//! Otherwise two programs that restore values could undo a third one's changes. It is advisory
//! (flock(2)), on the folder where control groups are mounted, which exists wherever cells do.

use std::fs::{File, TryLockError};
use std::io;
use std::time::Duration;

/// The locked folder.
pub const FOLDER: &str = "/sys/fs/cgroup";

/// Attempts and their interval: others hold the lock for milliseconds.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// The lock, released when dropped.
#[derive(Debug)]
pub struct SettingsLock(
    #[expect(dead_code, reason = "closing the file gives the lock back")] Option<File>,
);

/// Takes the lock, waiting for up to two seconds. Does nothing without the folder.
///
/// # Errors
/// `WouldBlock` if another process holds it for so long.
pub fn take() -> io::Result<SettingsLock> {
    let Ok(folder) = File::open(FOLDER) else { return Ok(SettingsLock(None)) };
    for _ in 0..TRIES {
        match folder.try_lock() {
            Ok(()) => return Ok(SettingsLock(Some(folder))),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            // Without support for locks, no process holds one.
            Err(TryLockError::Error(_)) => return Ok(SettingsLock(None)),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::WouldBlock,
        format!("another program holds the lock on {FOLDER}"),
    ))
}

#[cfg(test)]
mod tests;
