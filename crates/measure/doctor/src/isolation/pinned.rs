//! CPUs that somebody's thread is pinned to.

use super::text::{list, read};
use std::collections::HashSet;
use std::path::PathBuf;

/// The parent of all kernel threads (kthreadd).
const KTHREADD: &str = "2";

/// The last of these CPUs that no thread of a program is pinned to alone.
///
/// To isolate a CPU for a moment moves such threads away, and kernels before 6.2 forget where they were.
pub(super) fn last_free(cpus: &[u32]) -> Option<u32> {
    let pinned = taken();
    cpus.iter().rev().find(|cpu| !pinned.contains(cpu)).copied()
}

/// CPUs that are the only one of some thread.
fn taken() -> HashSet<u32> {
    let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let tasks = below("/proc".into()).flat_map(|process| below(process.path().join("task")));
    tasks.filter_map(|task| only_cpu(&read(task.path().join("status"))?)).collect()
}

/// The one CPU that a program's thread may run on, from its status (proc_pid_status(5)).
fn only_cpu(status: &str) -> Option<u32> {
    let value = |key: &str| status.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()));
    let is_kernel = value("PPid") == Some(KTHREADD) || value("Kthread") == Some("1");
    match list(value("Cpus_allowed_list")?)[..] {
        [cpu] if !is_kernel => Some(cpu),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_with_one_cpu_count() {
        let status = |parent: u32, cpus: &str| format!("Name:\tx\nPPid:\t{parent}\nCpus_allowed_list:\t{cpus}\n");
        assert_eq!(only_cpu(&status(1, "3")), Some(3));
        assert_eq!(only_cpu(&status(1, "2-3")), None);
        assert_eq!(only_cpu(&status(2, "3")), None);
        assert_eq!(only_cpu("nonsense"), None);
    }

    #[test]
    fn a_pinned_thread_takes_its_cpu() {
        let cpus = seatmap_os::affinity::current().unwrap();
        let pinned = || seatmap_os::affinity::pin(&cpus[..1]).map(|()| last_free(&cpus[..1])).unwrap();
        assert_eq!(std::thread::scope(|scope| scope.spawn(pinned).join().unwrap()), None);
        assert_eq!(last_free(&[400_000, 500_000]), Some(500_000));
    }
}
