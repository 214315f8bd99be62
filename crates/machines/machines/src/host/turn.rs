//! A word by which two threads take turns to sleep and wake.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// The rank whose turn it is, 0 at first, on its own line.
#[repr(align(128))]
#[derive(Default)]
pub struct TurnWord(AtomicU32);

/// Neither rank's turn: one has failed.
const FAILED: u32 = u32::MAX;

impl TurnWord {
    /// Sleeps until the word holds this rank.
    ///
    /// # Errors
    /// The kernel's, or the other thread has failed.
    pub fn wait_for(&self, rank: u32) -> io::Result<()> {
        loop {
            match self.0.load(Ordering::Acquire) {
                found if found == rank => return Ok(()),
                FAILED => return Err(io::Error::other("the other thread failed")),
                _ => self.call(libc::FUTEX_WAIT, 1 - rank).inspect_err(|_| self.fail())?,
            }
        }
    }

    /// Gives the turn to this rank, and wakes it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn pass_to(&self, rank: u32) -> io::Result<()> {
        self.0.store(rank, Ordering::Release);
        self.call(libc::FUTEX_WAKE, 1).inspect_err(|_| self.fail())
    }

    /// Ends the other thread's sleep, which would last forever.
    fn fail(&self) {
        self.0.store(FAILED, Ordering::Release);
        let _ = self.call(libc::FUTEX_WAKE, 1);
    }

    fn call(&self, operation: libc::c_int, value: u32) -> io::Result<()> {
        let no_timeout = std::ptr::null::<libc::timespec>();
        // SAFETY: the word outlives the call, and neither operation touches anything else.
        let status = unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                operation | libc::FUTEX_PRIVATE_FLAG,
                value,
                no_timeout,
            )
        };
        match (status < 0).then(io::Error::last_os_error) {
            // The word had changed already, or a signal came: the caller looks again.
            Some(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => {
                Ok(())
            }
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_thread_ends_the_others_sleep() {
        let turn = TurnWord::default();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| turn.wait_for(1));
            turn.fail();
            assert_eq!(sleeper.join().unwrap().unwrap_err().to_string(), "the other thread failed");
        });
    }
}
