//! Masks that could not be put back whole, as old kernels take CPUs that are offline out of every
//! mask that is set.

use super::left::Left;
use crate::change::{Change, What};
use crate::journal::Journal;
use crate::thread_mask;
use seatmap_os::affinity;
use seatmap_os::root::Root;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

/// The masks that lack CPUs which are offline, one entry for all threads that had the same.
pub(super) fn find(root: &Root, journal: &Journal) -> Vec<Left> {
    let offline = affinity::offline();
    if offline.is_empty() || !affinity::forgets_offline() {
        return Vec::new();
    }
    let masks = journal.changes.iter().filter(|change| change.what == What::Affinity);
    let mut forgotten: BTreeMap<CpuSet, Vec<Tid>> = BTreeMap::new();
    for (mask, tid) in masks.filter_map(|change| lacking(root, change, &offline)) {
        forgotten.entry(mask).or_default().push(tid);
    }
    forgotten.into_iter().map(|(mask, tids)| left_wide(&mask, &tids, &offline)).collect()
}

/// The mask that a thread had, and the thread, where it lacks CPUs of it that are offline.
fn lacking(root: &Root, change: &Change, offline: &CpuSet) -> Option<(CpuSet, Tid)> {
    let old = CpuSet::of_list(&change.old).filter(|old| old.meets(offline))?;
    let now = CpuSet::of_list(&change.current(root).ok()?)?;
    let lost = old.within(offline).without(&now);
    let tid = thread_mask::tid_of(&change.path).ok()?;
    (!lost.is_empty()).then_some((old, tid))
}

fn left_wide(mask: &CpuSet, tids: &[Tid], offline: &CpuSet) -> Left {
    let path = match tids {
        // Plural: one has its own words below.
        [first, _, ..] => format!("the mask of {} threads, {first} and others,", tids.len()),
        one => format!("the mask of thread {}", one.first().copied().unwrap_or_default()),
    };
    let lost = mask.within(offline);
    let why = format!(
        "it was {mask}, and this kernel takes {} out of it while that is offline; once it is back, \
         '{}' puts it back",
        lost.named(),
        thread_mask::command(mask, tids),
    );
    Left { path, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &str) -> CpuSet {
        CpuSet::of_list(list).unwrap()
    }

    #[test]
    fn threads_that_lost_the_same_are_told_together() {
        let one = left_wide(&set("0-3"), &[7], &set("2")).to_string();
        assert!(
            one.starts_with(
                "the mask of thread 7 is not put back: it was 0-3, and this kernel takes CPU 2"
            ),
            "{one}"
        );
        let many = left_wide(&set("0-3"), &[7, 9], &set("2")).to_string();
        assert!(many.starts_with("the mask of 2 threads, 7 and others, is not put back"), "{many}");
        assert!(many.contains("'taskset -pc 0-3 7; taskset -pc 0-3 9' puts it back"), "{many}");
    }
}
