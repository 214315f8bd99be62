//! Moves Seatmap's own threads off a cell's CPUs. Creating a cell moves all other threads.

use seatmap_os::owed::ThreadMask;
use seatmap_os::task::{self, ThreadIdentity};
use seatmap_os::{CpuSet, Root, kept_masks};

/// This process's moved threads with their masks, restored when dropped.
#[derive(Debug)]
#[must_use]
pub struct SteppedAside(Vec<ThreadMask>);

/// Moves this process's threads off these CPUs. A thread that may run only there stays.
pub fn step_aside(root: &Root, cpus: &CpuSet) -> SteppedAside {
    let threads = task::of_process(root, task::own_pid()).unwrap_or_default();
    SteppedAside(threads.iter().filter_map(|thread| moved(thread.identity(), cpus)).collect())
}

/// Returns the former mask.
fn moved(thread: ThreadIdentity, cpus: &CpuSet) -> Option<ThreadMask> {
    let before = kept_masks::to_put_back(thread.tid).ok().filter(|mask| mask.meets(cpus))?;
    // The kernel refuses an empty mask, and one outside the thread's cpuset.
    kept_masks::give(thread.tid, &before.without(cpus)).ok()?;
    Some(ThreadMask::of(thread, before))
}

impl Drop for SteppedAside {
    fn drop(&mut self) {
        // Masks that lack CPUs matter only while this process lives, so it can wait itself.
        for thread in self.0.iter().filter(|thread| thread.identity().exists()) {
            let _ = kept_masks::give(thread.tid, &thread.cpus);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::affinity;

    #[test]
    fn threads_step_aside_and_return() {
        let before = affinity::to_put_back(0).unwrap();
        let online = CpuSet::of_thread(0).unwrap();
        let last: CpuSet = online.iter().last().into_iter().collect();
        if online.len() < 2 {
            return seatmap_needs::skipped!("one CPU");
        }
        // Only this thread, because other tests run simultaneously.
        let own = ThreadIdentity::of(task::own_tid()).unwrap();
        let stepped = SteppedAside(moved(own, &last).into_iter().collect());
        assert!(!CpuSet::of_thread(0).unwrap().meets(&last));
        let ended = ThreadMask { started_ticks: own.started_ticks - 1, ..stepped.0[0].clone() };
        drop(SteppedAside(vec![ended]));
        assert!(!CpuSet::of_thread(0).unwrap().meets(&last), "this thread has its number now");
        drop(stepped);
        assert_eq!(affinity::to_put_back(0).unwrap(), before);
        assert_eq!(moved(own, &before), None, "there is nowhere else");
    }
}
