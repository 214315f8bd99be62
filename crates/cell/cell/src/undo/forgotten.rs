//! Masks that could not be put back whole, as old kernels take CPUs that are offline out of every
//! mask that is set.

use super::left::Left;
use crate::change::{SettingChange, SettingKind};
use crate::mask_snapshot::LostCpus;
use crate::thread_mask;
use seatmap_os::forgotten::{self, ForgottenCpus};
use seatmap_os::owed::ThreadMask;
use seatmap_os::root::Root;
use seatmap_os::{CpuSet, affinity};

/// The masks that lack CPUs which are offline after these changes were undone, one entry for all
/// threads that had the same. The CPUs that are `taken` by cells that stand belong to no mask.
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
    ForgottenCpus::gather(lacking).into_iter().map(Left::masks).collect()
}

/// A thread with the mask that it is to have, and the CPUs of it that it lacks and that are
/// offline.
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

/// Gives threads the CPUs that the kernel has taken out of their masks by itself. Returns those
/// that are offline still. The CPUs that are `taken` by cells that stand belong to no mask.
pub(super) fn give(threads: impl IntoIterator<Item = LostCpus>, taken: &CpuSet) -> Vec<Left> {
    let lacking = threads.into_iter().filter_map(|LostCpus { thread, now, lost }| {
        let cpus = now.with(&lost).without(taken);
        // One that has ended needs none.
        cpus.give(thread.tid).ok()?;
        let lost = forgotten::lost(thread.tid, &cpus);
        Some((ThreadMask { cpus, ..thread }, lost))
    });
    ForgottenCpus::gather(lacking).into_iter().map(Left::masks).collect()
}
