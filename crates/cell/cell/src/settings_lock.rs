//! The lock that a program holds while it tries settings out, or changes them: one program at a
//! time.
//!
//! Two programs that write a value back after each other would undo what a third changed in
//! between. The lock is advisory (flock(2)) and on the folder where control groups are mounted: it
//! exists wherever cells do, needs no file of its own, and is released when the process that has it
//! ends.

use std::fs::{File, TryLockError};
use std::io;
use std::time::Duration;

/// The folder that is locked.
pub const FOLDER: &str = "/sys/fs/cgroup";

/// How often, and how far apart, it is asked for: other processes hold it for milliseconds.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// The lock; given back when dropped.
#[derive(Debug)]
pub struct SettingsLock(
    #[expect(dead_code, reason = "closing the file gives the lock back")] Option<File>,
);

/// Takes it, waiting for up to two seconds.
///
/// # Errors
/// `WouldBlock` where another process holds it all that time. Where the folder does not exist there
/// is nothing to lock.
pub fn take() -> io::Result<SettingsLock> {
    let Ok(folder) = File::open(FOLDER) else { return Ok(SettingsLock(None)) };
    for _ in 0..TRIES {
        match folder.try_lock() {
            Ok(()) => return Ok(SettingsLock(Some(folder))),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            // On a file system without locks no process holds one.
            Err(TryLockError::Error(_)) => return Ok(SettingsLock(None)),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::WouldBlock,
        format!("another program holds the lock on {FOLDER}"),
    ))
}
