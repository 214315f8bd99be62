//! Stops all threads of a cell, and continues them in their cell.
//!
//! It uses signals on every backend: the freezer of control groups releases threads that leave the
//! group, and a cell that is handed over has no freezer. A program cannot block SIGSTOP, and its
//! parent sees that it has stopped.

use seatmap_cell::fault;
use seatmap_os::Tid;
use seatmap_os::root::FileError;
use seatmap_os::task;
use seatmap_os::{CpuSet, Root, group, kept_masks};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How often to look for threads created while others were stopped.
const ROUNDS: u32 = 20;

/// A stopped thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedThread {
    /// The thread's ID.
    pub tid: Tid,
    /// Its process's ID.
    pub pid: Tid,
    /// Its start time, because another thread may get its ID later.
    pub started_ticks: u64,
    /// The CPUs in its affinity mask.
    pub cpus: String,
}

impl StoppedThread {
    fn is(&self, other: &StoppedThread) -> bool {
        (self.tid, self.started_ticks) == (other.tid, other.started_ticks)
    }
}

/// The threads in a control group.
///
/// # Errors
/// [`FileError`] if the threads cannot be listed.
pub fn members(root: &Root, folder: &str) -> Result<Vec<StoppedThread>, FileError> {
    let members: BTreeSet<Tid> = group::members(root, folder)?.into_iter().collect();
    // Version 2 lists processes, version 1 lists threads.
    let inside = task::all(root)?
        .into_iter()
        .filter(|task| members.contains(&task.tid) || members.contains(&task.pid));
    Ok(inside
        .filter(|task| !task.has_ended())
        .filter_map(|task| {
            let cpus = kept_masks::to_put_back(task.tid).ok()?.to_string();
            Some(StoppedThread {
                tid: task.tid,
                pid: task.pid,
                started_ticks: task.started_ticks,
                cpus,
            })
        })
        .collect())
}

/// Stops all threads in a control group. `note` gets them before that, and again when new ones
/// appear.
///
/// # Errors
/// The error of `note`, or the threads cannot be listed; threads stopped by then stay stopped.
pub fn stop<E: From<FileError>>(
    root: &Root,
    folder: &str,
    mut note: impl FnMut(&[StoppedThread]) -> Result<(), E>,
) -> Result<Vec<StoppedThread>, E> {
    let mut stopped: Vec<StoppedThread> = Vec::new();
    for _ in 0..ROUNDS {
        let found = members(root, folder)?;
        // All are stopped, because no thread is new since the last signal.
        if found.iter().all(|thread| stopped.iter().any(|known| known.is(thread))) {
            break;
        }
        note(&found)?;
        processes(root, &found).into_iter().for_each(|pid| signal(pid, libc::SIGSTOP));
        stopped = found;
    }
    Ok(stopped)
}

/// Moves stopped threads back into a control group, and restores their CPUs. Returns the living
/// ones outside it.
pub fn seat(root: &Root, stopped: &[StoppedThread], folder: &str) -> Vec<Tid> {
    let file = group::members_file(root, folder);
    for thread in stopped.iter().filter(|thread| is_the_same(root, thread)) {
        // Version 2 accepts process IDs and rejects other threads' IDs; the main thread has moved
        // those.
        let _ = root.write(&file, &thread.tid.to_string());
        fault::point();
    }
    // After all moves, because entering a group can change a thread's mask. The controller stays
    // and restores the mask again when an offline CPU returns.
    for thread in stopped.iter().filter(|thread| is_the_same(root, thread)) {
        let cpus = CpuSet::of_list(&thread.cpus).unwrap_or_default();
        let _ = kept_masks::give(thread.tid, &cpus);
        fault::point();
    }
    // If its members cannot be read, any thread may be outside.
    let inside = group::members(root, folder).unwrap_or_default();
    let are_threads = file.ends_with("/tasks");
    stopped
        .iter()
        .filter(|thread| !inside.contains(if are_threads { &thread.tid } else { &thread.pid }))
        .filter(|thread| is_the_same(root, thread))
        .map(|thread| thread.tid)
        .collect()
}

/// Continues stopped threads.
pub fn go_on(root: &Root, stopped: &[StoppedThread]) {
    processes(root, stopped).into_iter().for_each(|pid| signal(pid, libc::SIGCONT));
}

fn processes(root: &Root, threads: &[StoppedThread]) -> BTreeSet<Tid> {
    threads.iter().filter(|thread| is_the_same(root, thread)).map(|thread| thread.pid).collect()
}

fn is_the_same(root: &Root, thread: &StoppedThread) -> bool {
    let own = std::process::id() as Tid;
    // Whatever the file says, neither init nor this process.
    thread.pid > 1
        && thread.pid != own
        && task::of_process(root, thread.pid).is_ok_and(|tasks| {
            tasks
                .iter()
                .any(|task| task.tid == thread.tid && task.started_ticks == thread.started_ticks)
        })
}

fn signal(pid: Tid, signal: libc::c_int) {
    // SAFETY: the number is that of a process which was looked at a moment ago; 1, 0 and below are
    // never passed.
    unsafe { libc::kill(pid, signal) };
    fault::point();
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use seatmap_os::task::ThreadStat;
    use std::process::{Child, Command};

    pub(crate) struct Sleeper(pub(crate) Child);

    impl Sleeper {
        fn state(&self) -> char {
            ThreadStat::of(self.0.id() as Tid).unwrap().state
        }

        pub(crate) fn becomes(&self, state: char) -> bool {
            (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(2));
                self.state() == state
            })
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill().and_then(|()| self.0.wait());
        }
    }

    #[test]
    fn gang_threads_stop_and_continue_without_others() {
        let folder = tempfile::tempdir().unwrap();
        let sleeper = Sleeper(Command::new("sleep").arg("600").spawn().unwrap());
        std::fs::write(folder.path().join("tasks"), sleeper.0.id().to_string()).unwrap();
        let root = Root::new("/");
        let group = folder.path().to_str().unwrap();
        let mut noted = Vec::new();
        let note = |threads: &[StoppedThread]| {
            noted.extend_from_slice(threads);
            Ok::<(), FileError>(())
        };
        let stopped = stop(&root, group, note).unwrap();
        assert!(stopped.len() == 1 && noted == stopped && sleeper.becomes('T'));
        let another = StoppedThread { started_ticks: 1, ..stopped[0].clone() };
        go_on(&root, &[another]);
        assert_eq!(sleeper.state(), 'T', "the number is not who it was");
        let gone = folder.path().join("gone");
        assert_eq!(seat(&root, &stopped, gone.to_str().unwrap()), [stopped[0].tid]);
        assert!(seat(&root, &stopped, group).is_empty());
        go_on(&root, &stopped);
        assert!(sleeper.becomes('S'));
    }

    #[test]
    fn unrecorded_thread_is_not_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let sleeper = Sleeper(Command::new("sleep").arg("600").spawn().unwrap());
        std::fs::write(folder.path().join("tasks"), sleeper.0.id().to_string()).unwrap();
        let full = |_: &[StoppedThread]| Err(Box::<dyn std::error::Error>::from("disk full"));
        let stopped = stop(&Root::new("/"), folder.path().to_str().unwrap(), full);
        assert!(stopped.is_err_and(|error| error.to_string() == "disk full"));
        assert!(sleeper.state() != 'T');
    }
}
