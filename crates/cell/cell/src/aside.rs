//! Moves Seatmap's own threads off a cell's CPUs. Creating a cell moves all other threads.

use seatmap_os::{CpuSet, Root, Tid, kept_masks, task};

/// This process's moved threads with their masks, restored when dropped.
#[derive(Debug)]
#[must_use]
pub struct SteppedAside(Vec<(Tid, CpuSet)>);

/// Moves this process's threads off these CPUs. A thread that may run only there stays.
pub fn step_aside(root: &Root, cpus: &CpuSet) -> SteppedAside {
    let threads = task::of_process(root, task::own_pid()).unwrap_or_default();
    SteppedAside(threads.iter().filter_map(|thread| moved(thread.tid, cpus)).collect())
}

/// Returns the former mask.
fn moved(tid: Tid, cpus: &CpuSet) -> Option<(Tid, CpuSet)> {
    let before = kept_masks::to_put_back(tid).ok().filter(|mask| mask.meets(cpus))?;
    // The kernel refuses an empty mask, and one outside the thread's cpuset.
    kept_masks::give(tid, &before.without(cpus)).ok()?;
    Some((tid, before))
}

impl Drop for SteppedAside {
    fn drop(&mut self) {
        // Masks that lack CPUs matter only while this process lives, so it can wait itself.
        self.0.iter().for_each(|(tid, before)| drop(kept_masks::give(*tid, before)));
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
        let stepped = SteppedAside(moved(0, &last).into_iter().collect());
        assert!(!CpuSet::of_thread(0).unwrap().meets(&last));
        drop(stepped);
        assert_eq!(affinity::to_put_back(0).unwrap(), before);
        assert_eq!(moved(0, &before), None, "there is nowhere else");
    }
}
