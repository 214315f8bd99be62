//! Masks that could not be put back whole, as old kernels take CPUs that are offline out of every
//! mask that is set.

use super::left::Left;
use crate::change::{Change, What};
use crate::journal::Journal;
use crate::thread_mask;
use seatmap_os::forgotten::ForgottenCpus;
use seatmap_os::root::Root;
use seatmap_os::{CpuSet, Tid, affinity};

/// The masks that lack CPUs which are offline, one entry for all threads that had the same.
pub(super) fn find(root: &Root, journal: &Journal) -> Vec<Left> {
    let offline = affinity::offline();
    if offline.is_empty() || !affinity::forgets_offline() {
        return Vec::new();
    }
    let masks = journal.changes.iter().filter(|change| change.what == What::Affinity);
    let lacking = masks.filter_map(|change| lacking(root, change, &offline));
    let forgotten = ForgottenCpus::gather(lacking);
    forgotten.iter().map(|cpus| Left { path: cpus.subject(), why: cpus.reason() }).collect()
}

/// A thread, the mask that it had, and the CPUs of it that it lacks and that are offline.
fn lacking(root: &Root, change: &Change, offline: &CpuSet) -> Option<(Tid, CpuSet, CpuSet)> {
    let old = CpuSet::of_list(&change.old).filter(|old| old.meets(offline))?;
    let now = CpuSet::of_list(&change.current(root).ok()?)?;
    let lost = old.within(offline).without(&now);
    let tid = thread_mask::tid_of(&change.path).ok()?;
    Some((tid, old, lost))
}
