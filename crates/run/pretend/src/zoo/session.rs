//! Processes that run side by side and leave nothing behind.
//!
//! Each one leads its own session and adopts the orphans below it, and this process adopts those of
//! an ended one. So every child of this process is a running one or is left over.

use seatmap_launch::Ending;
use seatmap_os::{StopCheck, Tid, orphans};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(5);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZooRunEnd {
    /// By itself.
    Ended(Ending),
    /// Its time was over.
    TimedOut,
    /// The user ended the session.
    Stopped,
}

/// The processes of the zoo.
#[derive(Debug)]
pub struct ZooSession {
    /// Children that are not the zoo's.
    others: BTreeSet<Tid>,
    running: Mutex<BTreeSet<Tid>>,
}

impl ZooSession {
    /// From now on this process adopts orphans.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn begin() -> io::Result<Self> {
        orphans::adopt(true)?;
        Ok(ZooSession { others: orphans::children()?, running: Mutex::default() })
    }

    /// Runs a command until it ends, or ends it with all of its processes.
    ///
    /// # Errors
    /// The command cannot be started or followed.
    pub fn run(
        &self,
        command: &mut Command,
        limit: Duration,
        is_stopped: StopCheck,
    ) -> io::Result<ZooRunEnd> {
        // SAFETY: between fork and exec the child makes only system calls.
        unsafe { command.pre_exec(lead_session) };
        let begun = Instant::now();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = command.spawn()?;
        let pid = child.id() as Tid;
        running.insert(pid);
        drop(running);
        let end = loop {
            if let Some(status) = child.try_wait()? {
                break ZooRunEnd::Ended(Ending::of(status));
            }
            if is_stopped() {
                break ZooRunEnd::Stopped;
            }
            if begun.elapsed() > limit {
                break ZooRunEnd::TimedOut;
            }
            std::thread::sleep(PAUSE);
        };
        if !matches!(end, ZooRunEnd::Ended(_)) {
            child.kill()?;
            child.wait()?;
        }
        self.sweep(pid)?;
        Ok(end)
    }

    /// Ends the processes left by an ended one, while none starts.
    fn sweep(&self, ended: Tid) -> io::Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&ended);
        loop {
            let left = orphans::children()?;
            let left: Vec<Tid> = left
                .into_iter()
                .filter(|pid| !running.contains(pid) && !self.others.contains(pid))
                .collect();
            if left.is_empty() {
                return Ok(());
            }
            left.into_iter().for_each(orphans::end);
        }
    }
}

impl Drop for ZooSession {
    fn drop(&mut self) {
        let _ = orphans::adopt(false);
    }
}

/// The new process also adopts the orphans below it.
fn lead_session() -> io::Result<()> {
    orphans::lead_session()?;
    orphans::adopt(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    /// One test, because this process adopts all orphans.
    #[test]
    fn processes_end_with_all_that_they_left() {
        let session = ZooSession::begin().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let daemon = format!("(setsid sleep 600 & echo $! > {}) ; true", file.display());
        let left = || {
            let pid = std::fs::read_to_string(&file).unwrap();
            seatmap_os::task::lives(pid.trim().parse().unwrap())
        };
        let has_started = || std::fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n'));
        let long = Duration::from_secs(600);
        let end = session.run(&mut shell(&daemon), long, &|| false).unwrap();
        assert_eq!((end, left()), (ZooRunEnd::Ended(Ending::Exited(0)), false));
        let waits = format!("{daemon}; sleep 600");
        // Long enough for a busy computer to start the daemon.
        let end = session.run(&mut shell(&waits), Duration::from_secs(5), &|| false).unwrap();
        assert_eq!((end, left()), (ZooRunEnd::TimedOut, false));
        std::fs::remove_file(&file).unwrap();
        let end = session.run(&mut shell(&waits), long, &has_started).unwrap();
        assert_eq!((end, left()), (ZooRunEnd::Stopped, false));
    }
}
