//! All threads' masks before a cpuset changes, and the CPUs that the kernel then removes from them.
//!
//! When a version 2 partition is created or removed, kernels before 6.3 set each mask in the root
//! cpuset to the online CPUs. So offline CPUs disappear from hundreds of masks in no journal. This
//! module reads all masks first, and collects CPUs offline meanwhile. Each thread gets its own
//! back, unless it has chosen another mask.
//!
//! This process's mask shows CPUs that were offline only between two checks.

use crate::{SettingChange, SettingKind, thread_mask};
use seatmap_os::owed::ThreadMask;
use seatmap_os::{CpuSet, Root, Tid, affinity, task};
use std::collections::BTreeSet;

/// Threads' expected masks, and the CPUs found offline since.
#[derive(Default)]
pub struct MaskSnapshot {
    threads: Vec<ThreadMask>,
    /// This process's mask.
    own: CpuSet,
    away: CpuSet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostCpus {
    /// The thread, with its expected mask.
    pub thread: ThreadMask,
    /// Its present mask.
    pub now: CpuSet,
    pub lost: CpuSet,
}

impl MaskSnapshot {
    /// Reads all masks, if the kernel forgets CPUs. `expected` computes a mask after the change.
    pub fn take(root: &Root, expected: impl Fn(&CpuSet) -> CpuSet) -> Self {
        if !affinity::forgets_offline() {
            return MaskSnapshot::default();
        }
        // If threads cannot be listed, none are restored.
        let threads = task::all(root).unwrap_or_default();
        let threads = threads.into_iter().filter(|task| !task.is_bound && !task.has_ended());
        let masks = threads.filter_map(|task| {
            let cpus = expected(&task.cpus()?);
            Some(ThreadMask::of(task.identity(), cpus))
        });
        let mut snapshot = MaskSnapshot { threads: masks.collect(), ..MaskSnapshot::default() };
        snapshot.own = affinity::whole(0).unwrap_or_default();
        snapshot.look();
        snapshot
    }

    /// Collects CPUs that are offline, or were since the last check.
    pub fn look(&mut self) {
        if self.threads.is_empty() {
            return;
        }
        let own = affinity::whole(0).unwrap_or_else(|_| self.own.clone());
        self.away = self.away.with(&affinity::offline()).with(&self.own.without(&own));
        self.own = own;
    }

    pub fn away(&self) -> &CpuSet {
        &self.away
    }

    /// The threads that lost CPUs, except journaled ones. `open` are the CPUs outside all cells.
    pub fn lost(&mut self, open: &CpuSet, noted: &[SettingChange]) -> Vec<LostCpus> {
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

/// The CPUs that the kernel removed; none if the thread has chosen another mask.
fn lost(expected: &CpuSet, now: &CpuSet, open: &CpuSet, away: &CpuSet) -> CpuSet {
    let is_the_kernels = now.without(away) == open.without(away);
    if is_the_kernels { expected.within(away).without(now) } else { CpuSet::default() }
}

fn is_same(thread: &ThreadMask) -> bool {
    let task = task::ThreadStat::of(thread.tid);
    task.is_some_and(|task| task.identity() == thread.identity() && !task.has_ended())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::set;

    #[test]
    fn cpus_dropped_by_the_kernel_are_lost() {
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
    fn journalled_and_ended_threads_are_not_owed() {
        let own = ThreadMask {
            tid: task::own_tid(),
            started_ticks: task::ThreadStat::of(task::own_tid()).unwrap().started_ticks,
            cpus: affinity::whole(0).unwrap(),
        };
        let gone = ThreadMask { started_ticks: own.started_ticks + 1, ..own.clone() };
        let far = set("4000");
        let open = own.cpus.with(&far);
        let owed = ThreadMask { cpus: open.clone(), ..own.clone() };
        let change = SettingChange::of_mask(own.tid, own.started_ticks, &open, &own.cpus);
        let mut snapshot = MaskSnapshot { threads: vec![gone], own: open.clone(), away: far };
        assert_eq!(snapshot.lost(&open, &[]), []);
        snapshot.threads = vec![owed.clone()];
        let lost = snapshot.lost(&open, &[]);
        assert_eq!(lost.len(), 1);
        assert_eq!((lost[0].lost.to_string().as_str(), &lost[0].thread), ("4000", &owed));
        assert_eq!(snapshot.lost(&open, &[change]), []);
    }

    /// The CPU returned before the check.
    #[test]
    fn cpu_lost_by_this_process_was_away() {
        let threads = vec![ThreadMask { tid: 1, started_ticks: 1, cpus: CpuSet::default() }];
        let own = affinity::whole(0).unwrap().with(&set("4000"));
        let mut snapshot = MaskSnapshot { threads, own, away: CpuSet::default() };
        snapshot.look();
        assert!(snapshot.away().contains(4000));
    }
}
