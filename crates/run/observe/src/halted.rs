//! Programs that do not run while they are observed: a signal stopped them, or a control group
//! freezes them.

use seatmap_os::brake::{Brake, BrakeKind};
use seatmap_os::hierarchy::Hierarchies;
use seatmap_os::{Root, Tid, task};
use std::collections::BTreeSet;

/// A sentence about each of these processes that does not run now, with the command that lets it go
/// on.
pub fn sentences(root: &Root, pids: &BTreeSet<Tid>) -> Vec<String> {
    let hierarchies = Hierarchies::read(root);
    pids.iter().filter_map(|pid| sentence(root, &hierarchies, *pid)).collect()
}

fn sentence(root: &Root, hierarchies: &Hierarchies, pid: Tid) -> Option<String> {
    let threads = task::of_process(root, pid).ok()?;
    let name = &threads.first()?.name;
    // The state of a frozen thread is the one in which it was frozen, so that its group tells.
    if let Some(brake) = freezer(root, hierarchies, pid) {
        return Some(format!(
            "anything of {name} ({pid}), which does not run: its control group {} is {}; \
             '{}' lets it go on",
            brake.group,
            brake.words(),
            brake.release()
        ));
    }
    // T: by a signal; t: by a debugger (proc_pid_stat(5)).
    threads.iter().all(|thread| ['T', 't'].contains(&thread.state)).then(|| {
        format!(
            "anything of {name} ({pid}), which does not run: it is stopped; 'kill -CONT {pid}' \
             lets it go on"
        )
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
        let found = || sentences(&root, &BTreeSet::from([pid]));
        let before = found();
        // SAFETY: the child has not been waited for, so that its number is its own.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while found().is_empty() && std::time::Instant::now() < until {
            std::thread::yield_now();
        }
        let stopped = found();
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(before, Vec::<String>::new());
        assert!(stopped[0].ends_with(&format!("'kill -CONT {pid}' lets it go on")), "{stopped:?}");
    }
}
