//! Masks chosen by users, which the kernel resets when cpusets change.

use crate::SettingChange;
use crate::site::Site;
use seatmap_os::{CpuSet, FileError, affinity, task};

/// Records masks that lack some CPU open to all threads: users chose them, and the kernel resets or
/// empties them. Recorded first, they are restored last.
pub fn chosen_masks(
    site: &Site,
    concerns: impl Fn(&task::ThreadStat) -> bool,
) -> Result<Vec<SettingChange>, FileError> {
    let everywhere = site.rest.with(&site.cell);
    let forgets = affinity::forgets_offline();
    let forgotten = if forgets { affinity::offline() } else { CpuSet::default() };
    Ok(task::all(site.root)?
        .into_iter()
        .filter_map(|task| {
            let old = task.cpus().filter(|_| !task.is_bound && concerns(&task))?;
            let is_noted = !everywhere.is_subset(&old) || old.meets(&forgotten);
            is_noted.then(|| narrowing(site, &task, &old))
        })
        .collect())
}

pub fn narrowing(site: &Site, task: &task::ThreadStat, old: &CpuSet) -> SettingChange {
    // An ended thread needs no mask.
    let back = affinity::to_put_back(task.tid).unwrap_or_else(|_| old.clone());
    let new = given(old.outside(&site.cell, &site.rest));
    SettingChange::of_mask(task.tid, task.started_ticks, back, new)
}

/// The mask that the kernel will report for this one, to compare when the cell ends.
fn given(mask: CpuSet) -> CpuSet {
    let lasting = mask.without(&affinity::offline());
    if lasting.is_empty() || !affinity::forgets_offline() { mask } else { lasting }
}

pub fn renew(site: &Site, masks: &[SettingChange]) {
    for change in masks {
        let now = change.current(site.root);
        if now.is_ok_and(|now| !change.same(&now, &change.new)) {
            // A refusal shows when stragglers are counted.
            let _ = site.make(change);
        }
    }
}
