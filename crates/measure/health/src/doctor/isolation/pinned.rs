//! CPUs with pinned threads.

use seatmap_os::task::{self, ThreadStat};
use seatmap_os::{CpuSet, Root};

/// Isolating a CPU even for a moment moves such threads away, and kernels before 6.2 forget their
/// masks. `None` also if the threads cannot be listed.
pub fn last_free(cpus: &[u32]) -> Option<u32> {
    let tasks = task::all(&Root::new("/")).ok()?;
    let pinned: CpuSet = tasks.iter().filter_map(|task| only_cpu(task, &task.cpus()?)).collect();
    cpus.iter().rev().copied().find(|cpu| !pinned.contains(*cpu))
}

fn only_cpu(task: &ThreadStat, cpus: &CpuSet) -> Option<u32> {
    cpus.only().filter(|_| !task.is_kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cpus: &str) -> CpuSet {
        CpuSet::of_list(cpus).unwrap()
    }

    #[test]
    fn only_programs_with_one_cpu_are_pinned() {
        let task = |is_kernel| ThreadStat {
            is_kernel,
            ..ThreadStat::of(std::process::id() as seatmap_os::Tid).unwrap()
        };
        assert_eq!(only_cpu(&task(false), &set("3")), Some(3));
        assert_eq!(only_cpu(&task(false), &set("2-3")), None);
        assert_eq!(only_cpu(&task(true), &set("3")), None);
    }

    #[test]
    fn pinned_thread_occupies_its_cpu() {
        let cpus = seatmap_os::affinity::current().unwrap();
        let pinned =
            || seatmap_os::affinity::pin(&cpus[..1]).map(|()| last_free(&cpus[..1])).unwrap();
        assert_eq!(std::thread::scope(|scope| scope.spawn(pinned).join().unwrap()), None);
        assert_eq!(last_free(&[400_000, 500_000]), Some(500_000));
    }
}
