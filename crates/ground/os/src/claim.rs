//! One measurement of this computer at a time, for all users.
//!
//! The claim is a lock (flock(2)) on a sysfs folder that every process may open and none can write.
//! The kernel releases it when the process ends. Containers with their own sysfs do not see each
//! other.

use crate::small;
use std::fs::{File, TryLockError};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

const FOLDER: &str = "/sys/devices/system/cpu";

/// Polling interval.
const PAUSE: Duration = Duration::from_millis(50);

/// A claim on this computer, until dropped.
#[derive(Debug)]
pub struct ComputerClaim {
    /// `None` if the kernel lacks such locks: other programs are then invisible.
    _folder: Option<File>,
}

impl ComputerClaim {
    /// Waits until no other process has a claim. Meanwhile calls `observe` with the owner's number,
    /// if known; breaking ends the wait with `None`.
    pub fn wait(observe: &mut dyn FnMut(Option<u32>) -> ControlFlow<()>) -> Option<Self> {
        Self::on(Path::new(FOLDER), observe)
    }

    fn on(folder: &Path, observe: &mut dyn FnMut(Option<u32>) -> ControlFlow<()>) -> Option<Self> {
        let Ok(file) = File::open(folder) else { return Some(ComputerClaim { _folder: None }) };
        loop {
            match file.try_lock() {
                Ok(()) => return Some(ComputerClaim { _folder: Some(file) }),
                Err(TryLockError::Error(_)) => return Some(ComputerClaim { _folder: None }),
                Err(TryLockError::WouldBlock) if observe(holder(&file)).is_break() => return None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }
}

fn holder(file: &File) -> Option<u32> {
    let found = file.metadata().ok()?;
    let major = libc::major(found.dev());
    let minor = libc::minor(found.dev());
    holder_in(&small::read("/proc/locks")?, &format!("{major:02x}:{minor:02x}:{}", found.ino()))
}

/// The process with a lock on this device and inode (proc_locks(5)); 0 if invisible.
fn holder_in(locks: &str, of: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, file, ..] = words.as_slice() else { return None };
        process.parse().ok().filter(|process| *process > 0 && *file == of)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_claim_waits_and_learns_the_holder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let first = ComputerClaim::on(folder, &mut |_| ControlFlow::Break(())).unwrap();
        let mut heard = None;
        let second = ComputerClaim::on(folder, &mut |process| {
            heard = Some(process);
            ControlFlow::Break(())
        });
        assert!(second.is_none());
        assert!(heard.unwrap().is_none_or(|process| process == std::process::id()), "{heard:?}");
        let mut first = Some(first);
        let second = ComputerClaim::on(folder, &mut |_| {
            first = None;
            ControlFlow::Continue(())
        });
        assert!(second.is_some() && first.is_none());
    }

    #[test]
    fn holder_is_found_in_proc_locks() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 00:17:33 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 00:17:34 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 00:17:33 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 14 00:17:33 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 0 00:17:35 0 EOF\n";
        assert_eq!(holder_in(locks, "00:17:33"), Some(13));
        assert_eq!(holder_in(locks, "00:17:35"), None);
        assert_eq!(holder_in(locks, "00:17:36"), None);
    }

    #[test]
    fn unlockable_folder_does_not_block_the_claim() {
        assert!(
            ComputerClaim::on(Path::new("/nowhere/at/all"), &mut |_| ControlFlow::Break(()))
                .is_some()
        );
    }
}
