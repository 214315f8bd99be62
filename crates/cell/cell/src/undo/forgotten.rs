//! Masks that could not be restored completely, because old kernels forget offline CPUs.

use super::left::Left;
use crate::mask_snapshot::LostCpus;
use crate::{SettingChange, SettingKind, thread_mask};

use seatmap_os::owed::ThreadMask;
use seatmap_os::{CpuSet, Root, affinity, forgotten};

/// Undone masks that lack offline CPUs, one entry for equal ones. CPUs `taken` by existing cells
/// belong to no mask.
pub fn find<'a>(
    root: &Root,
    changes: impl IntoIterator<Item = &'a SettingChange>,
    taken: &CpuSet,
) -> Vec<Left> {
    let offline = affinity::offline();
    if offline.is_empty() || !affinity::forgets_offline() {
        return Vec::new();
    }
    let masks = changes.into_iter().filter(|change| change.what == SettingKind::Affinity);
    let lacking = masks.filter_map(|change| lacking(root, change, taken, &offline));
    Left::of_lacking(lacking)
}

/// A thread with its intended mask, and the offline CPUs missing from it.
fn lacking(
    root: &Root,
    change: &SettingChange,
    taken: &CpuSet,
    offline: &CpuSet,
) -> Option<(ThreadMask, CpuSet)> {
    let old = CpuSet::of_list(&change.old)?.without(taken);
    let now = CpuSet::of_list(&change.current(root).ok()?)?;
    let lost = old.within(offline).without(&now);
    let tid = thread_mask::tid_of(&change.path).ok()?;
    let started_ticks = change.started_ticks?;
    Some((ThreadMask { tid, started_ticks, cpus: old }, lost))
}

/// Restores CPUs that the kernel removed from masks. Returns those still offline. `taken` as in
/// [`find`].
pub fn give(threads: impl IntoIterator<Item = LostCpus>, taken: &CpuSet) -> Vec<Left> {
    let lacking = threads.into_iter().filter_map(|LostCpus { thread, now, lost }| {
        let cpus = now.with(&lost).without(taken);
        cpus.give(thread.tid).ok()?;
        let lost = forgotten::lost(thread.tid, &cpus);
        Some((ThreadMask { cpus, ..thread }, lost))
    });
    Left::of_lacking(lacking)
}
