//! Finds stopped and frozen programs.

use seatmap_data::document::visible;
use seatmap_os::brake::{Brake, BrakeKind};
use seatmap_os::hierarchy::Hierarchies;
use seatmap_os::{Root, Tid, task};

/// A stopped or frozen process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaltedProcess {
    /// The PID.
    pub pid: Tid,
    /// The name, at most 15 bytes.
    pub name: String,
    /// The reason, and the command that resumes it.
    pub reason: String,
}

/// The halted ones among these processes.
pub fn among(root: &Root, pids: impl IntoIterator<Item = Tid>) -> Vec<HaltedProcess> {
    let hierarchies = Hierarchies::read(root);
    pids.into_iter().filter_map(|pid| halted(root, &hierarchies, pid)).collect()
}

fn halted(root: &Root, hierarchies: &Hierarchies, pid: Tid) -> Option<HaltedProcess> {
    let threads = task::of_process(root, pid).ok()?;
    let name = visible(&threads.first()?.name);
    // A frozen thread still shows its earlier state, so the group is checked.
    if let Some(brake) = freezer(root, hierarchies, pid) {
        let group = &brake.group;
        let is = brake.words();
        let release = brake.release();
        let reason = format!("its control group {group} is {is}; '{release}' resumes it");
        return Some(HaltedProcess { pid, name, reason });
    }
    // T: by a signal; t: by a debugger (proc_pid_stat(5)).
    threads.iter().all(|thread| ['T', 't'].contains(&thread.state)).then(|| {
        let reason = format!("it is stopped; 'kill -CONT {pid}' resumes it");
        HaltedProcess { pid, name, reason }
    })
}

fn freezer(root: &Root, hierarchies: &Hierarchies, pid: Tid) -> Option<Brake> {
    let membership = root.read(&format!("/proc/{pid}/cgroup")).ok()?;
    let groups = hierarchies.groups(root, pid, &membership);
    let brakes = Hierarchies::limits(root, &groups).brakes;
    brakes.into_iter().find(|brake| brake.kind == BrakeKind::Frozen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_program_is_named_with_its_remedy() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as Tid;
        let root = Root::new("/");
        let found = || among(&root, [pid]);
        let before = found();
        // SAFETY: the child has not been waited for, so its number is not reused.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while found().is_empty() && std::time::Instant::now() < until {
            std::thread::yield_now();
        }
        let stopped = found();
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(before, []);
        let [stopped] = &stopped[..] else { panic!("{stopped:?}") };
        assert_eq!((stopped.pid, stopped.name.as_str()), (pid, "sleep"));
        assert_eq!(stopped.reason, format!("it is stopped; 'kill -CONT {pid}' resumes it"));
    }
}
