//! Seatmap's own threads, off the CPUs of a cell. Making a cell moves everybody but its maker,
//! which would stand at the door for as long as it lives.

use seatmap_os::root::Root;
use seatmap_os::{CpuSet, Tid, kept_masks, task};

/// The threads of this process that have left a cell's CPUs, with the masks that they had, which
/// those that still live get back when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct SteppedAside(Vec<(Tid, CpuSet)>);

/// Moves the threads of this process off these CPUs. Those that may run nowhere else stay.
pub fn step_aside(root: &Root, cpus: &CpuSet) -> SteppedAside {
    let threads = task::of_process(root, std::process::id() as Tid).unwrap_or_default();
    SteppedAside(threads.iter().filter_map(|thread| moved(thread.tid, cpus)).collect())
}

/// Moves a thread off these CPUs; returns its mask before that.
fn moved(tid: Tid, cpus: &CpuSet) -> Option<(Tid, CpuSet)> {
    let before = kept_masks::to_put_back(tid).ok().filter(|mask| mask.meets(cpus))?;
    // The kernel refuses an empty mask, and one that the thread's cpuset does not hold.
    kept_masks::give(tid, &before.without(cpus)).ok()?;
    Some((tid, before))
}

impl Drop for SteppedAside {
    fn drop(&mut self) {
        // One that has ended needs nothing. They are threads of this process, so that masks which
        // lack CPUs matter for as long as it lives, and it can wait for these itself.
        self.0.iter().for_each(|(tid, before)| drop(kept_masks::give(*tid, before)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::affinity;

    #[test]
    fn threads_leave_and_come_back() {
        let before = affinity::to_put_back(0).unwrap();
        let online = CpuSet::of_thread(0).unwrap();
        let last: CpuSet = online.iter().last().into_iter().collect();
        if online.len() < 2 {
            return seatmap_needs::skipped!("one CPU");
        }
        // This thread alone, as other tests run beside it.
        let stepped = SteppedAside(moved(0, &last).into_iter().collect());
        assert!(!CpuSet::of_thread(0).unwrap().meets(&last));
        drop(stepped);
        assert_eq!(affinity::to_put_back(0).unwrap(), before);
        assert_eq!(moved(0, &before), None, "there is nowhere else");
    }
}
