//! Orphans: processes whose parent has ended. A process that adopts them finds all that its
//! commands left behind.

use crate::root::Root;
use crate::{Tid, task};
use rustix::process::{self, Pid, Signal, WaitOptions};
use std::collections::BTreeSet;
use std::io;

/// Decides whether this process adopts the orphans below it, `PR_SET_CHILD_SUBREAPER` of prctl(2).
/// The setting survives execve(2).
///
/// # Errors
/// The kernel's error.
pub fn adopt(is_wanted: bool) -> io::Result<()> {
    Ok(process::set_child_subreaper(is_wanted.then(process::getpid))?)
}

/// Makes the calling process lead a session and end with its parent. It only makes system calls,
/// so a new process may call it before execve(2).
///
/// # Errors
/// The kernel's error: it leads a group of processes already.
pub fn lead_session() -> io::Result<()> {
    process::setsid()?;
    Ok(process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// The living children of this process.
///
/// # Errors
/// They cannot be listed.
pub fn children() -> io::Result<BTreeSet<Tid>> {
    let own = task::own_pid();
    task::children(&Root::new("/"), own, &task::threads(own)?).map_err(|error| error.source)
}

/// Kills a child and reaps it, unless that has happened already.
pub fn end(child: Tid) {
    if let Some(child) = Pid::from_raw(child) {
        let _ = process::kill_process(child, Signal::KILL);
        let _ = process::waitpid(Some(child), WaitOptions::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    #[expect(clippy::zombie_processes, reason = "the tested function reaps it")]
    fn ended_child_is_reaped() {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id() as Tid;
        assert!(children().unwrap().contains(&pid));
        end(pid);
        assert!(!children().unwrap().contains(&pid) && !task::exists(pid));
    }
}
