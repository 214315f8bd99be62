//! The masks of all threads before the kernel changes a cpuset, and those CPUs of them that it
//! forgets.
//!
//! Where a partition of version 2 comes or goes, kernels before 6.3 give each thread of the root
//! cpuset the CPUs that are online at that moment. A CPU that is offline just then is gone from
//! hundreds of masks that no journal has, since nobody had chosen them. So all masks are read
//! first, the CPUs are collected that are seen offline meanwhile, and each thread is owed the CPUs
//! that are in both, if its mask is otherwise the one that the kernel gives to all.
//!
//! A CPU that goes and comes between two looks is seen by what it does to this process: nobody else
//! changes its mask. On other kernels nothing is read and nothing is owed.

use crate::change::{SettingChange, SettingKind};
use crate::thread_mask;
use seatmap_os::owed::ThreadMask;
use seatmap_os::root::Root;
use seatmap_os::{CpuSet, Tid, affinity, task};
use std::collections::BTreeSet;

/// The masks that threads are to have, and the CPUs that were away since theirs were read.
#[derive(Debug, Default)]
pub(crate) struct MaskSnapshot {
    threads: Vec<ThreadMask>,
    /// This process's mask.
    own: CpuSet,
    /// The CPUs that were offline at some look.
    away: CpuSet,
}

/// A thread that lost CPUs, which it is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostCpus {
    /// The thread, with the mask that it is to have.
    pub thread: ThreadMask,
    /// The mask that it has.
    pub now: CpuSet,
    /// The CPUs that it lost.
    pub lost: CpuSet,
}

impl MaskSnapshot {
    /// Reads all masks, on a kernel that forgets CPUs. `expected` makes of each the mask that the
    /// thread is to have when the cpuset has changed.
    pub(crate) fn take(root: &Root, expected: impl Fn(&CpuSet) -> CpuSet) -> Self {
        if !affinity::forgets_offline() {
            return MaskSnapshot::default();
        }
        // Threads that cannot be listed are not put back, as they are not by anybody else.
        let threads = task::all(root).unwrap_or_default();
        let threads = threads.into_iter().filter(|task| !task.is_bound && !task.has_ended());
        let masks = threads.filter_map(|task| {
            let cpus = expected(&task.cpus()?);
            Some(ThreadMask { tid: task.tid, started_ticks: task.started_ticks, cpus })
        });
        let mut snapshot = MaskSnapshot { threads: masks.collect(), ..MaskSnapshot::default() };
        snapshot.own = affinity::whole(0).unwrap_or_default();
        snapshot.look();
        snapshot
    }

    /// Collects the CPUs that are offline now, or were since the last look.
    pub(crate) fn look(&mut self) {
        if self.threads.is_empty() {
            return;
        }
        let own = affinity::whole(0).unwrap_or_else(|_| self.own.clone());
        self.away = self.away.with(&affinity::offline()).with(&self.own.without(&own));
        self.own = own;
    }

    /// The CPUs that were away at some look.
    pub(crate) fn away(&self) -> &CpuSet {
        &self.away
    }

    /// The threads that lost CPUs, without those that a change of a journal concerns. `open` are
    /// the CPUs that belong to no cell now.
    pub(crate) fn lost(&mut self, open: &CpuSet, noted: &[SettingChange]) -> Vec<LostCpus> {
        self.look();
        if self.away.is_empty() {
            return Vec::new();
        }
        let noted = noted.iter().filter(|change| change.what == SettingKind::Affinity);
        let noted: BTreeSet<Tid> =
            noted.filter_map(|change| thread_mask::tid_of(&change.path).ok()).collect();
        let threads = self.threads.iter();
        threads
            .filter(|thread| !noted.contains(&thread.tid) && is_same(thread))
            .filter_map(|thread| {
                let now = affinity::whole(thread.tid).ok()?;
                let lost = lost(&thread.cpus, &now, open, &self.away);
                let thread = thread.clone();
                (!lost.is_empty()).then_some(LostCpus { thread, now, lost })
            })
            .collect()
    }
}

/// The CPUs that a thread lost to the kernel. One that has a mask of its own is left with it.
fn lost(expected: &CpuSet, now: &CpuSet, open: &CpuSet, away: &CpuSet) -> CpuSet {
    let is_the_kernels = now.without(away) == open.without(away);
    if is_the_kernels { expected.within(away).without(now) } else { CpuSet::default() }
}

fn is_same(thread: &ThreadMask) -> bool {
    let task = task::ThreadStat::of(thread.tid);
    task.is_some_and(|task| task.started_ticks == thread.started_ticks && !task.has_ended())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &str) -> CpuSet {
        CpuSet::of_list(list).unwrap()
    }

    /// A cell of CPUs 6 and 7 goes, and CPU 2 was offline for a moment.
    #[test]
    fn the_cpus_that_the_kernel_left_out_are_lost() {
        let lost = |now: &str, away: &str| {
            lost(&set("0-7"), &set(now), &set("0-7"), &set(away)).to_string()
        };
        assert_eq!(lost("0,1,3-7", "2"), "2");
        assert_eq!(lost("0-7", "2"), "", "it has them");
        assert_eq!(lost("0,1,3-6", "2,7"), "2,7");
        assert_eq!(lost("0,1", "2"), "", "the program chose it meanwhile");
        assert_eq!(lost("0,1,3-7", ""), "", "nothing was away: somebody chose it");
    }

    #[test]
    fn threads_of_a_journal_and_threads_that_ended_are_not_owed() {
        let own = ThreadMask {
            tid: task::own_tid(),
            started_ticks: task::ThreadStat::of(task::own_tid()).unwrap().started_ticks,
            cpus: affinity::whole(0).unwrap(),
        };
        let gone = ThreadMask { started_ticks: own.started_ticks + 1, ..own.clone() };
        let far = set("4000");
        let open = own.cpus.with(&far);
        let owed = ThreadMask { cpus: open.clone(), ..own.clone() };
        let change = SettingChange {
            what: SettingKind::Affinity,
            path: format!("/proc/{}", own.tid),
            old: open.to_string(),
            new: own.cpus.to_string(),
            started_ticks: Some(own.started_ticks),
        };
        let mut snapshot = MaskSnapshot { threads: vec![gone], own: open.clone(), away: far };
        assert_eq!(snapshot.lost(&open, &[]), []);
        snapshot.threads = vec![owed.clone()];
        let lost = snapshot.lost(&open, &[]);
        assert_eq!(lost.len(), 1);
        assert_eq!((lost[0].lost.to_string().as_str(), &lost[0].thread), ("4000", &owed));
        assert_eq!(snapshot.lost(&open, &[change]), []);
    }

    /// The CPU was back before anybody could look.
    #[test]
    fn a_cpu_that_this_process_lost_was_away() {
        let threads = vec![ThreadMask { tid: 1, started_ticks: 1, cpus: CpuSet::default() }];
        let own = affinity::whole(0).unwrap().with(&set("4000"));
        let mut snapshot = MaskSnapshot { threads, own, away: CpuSet::default() };
        snapshot.look();
        assert!(snapshot.away().contains(4000));
    }
}
