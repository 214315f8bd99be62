//! An isolated partition of cgroup version 2 (`Documentation/admin-guide/cgroup-v2.rst`, "Cpuset").
//!
//! The kernel removes the CPUs from the root group, so all threads leave them except bound kernel
//! threads. Cells are directly below the root, because kernels before 6.7 allow partitions only
//! there.

use super::error::ClosingError;
use super::masks::{chosen_masks, renew};
use crate::mask_snapshot::{LostCpus, MaskSnapshot};
use crate::site::{Site, SiteError};
use crate::{SettingChange, SettingKind};
use seatmap_data::document::with_causes;
use seatmap_os::Root;
use seatmap_os::layout::CpusetMounts;

/// The file's text for a valid partition.
pub const ISOLATED: &str = "isolated";

/// Closes a cell and returns its group.
///
/// # Errors
/// [`ClosingError`].
pub fn close(site: &mut Site, layout: &CpusetMounts) -> Result<String, ClosingError> {
    let base = super::base(&layout.v2, 2)?;
    // The kernel moves all threads and resets their masks.
    let masks = chosen_masks(site, |_| true)?;
    site.note(&masks)?;
    hand_down(site, &base)?;
    let group = super::group(site, &base)?;
    let partition = format!("{group}/cpuset.cpus.partition");
    let mut snapshot = MaskSnapshot::take(site.root, |mask| mask.without(&site.cell));
    let isolated = site.furnish(&partition, ISOLATED);
    let found = site.root.read(&partition);
    // Before any error, because undoing uses the journal.
    note_lost(site, &mut snapshot)?;
    isolated?;
    let found = found?;
    if found != ISOLATED {
        return Err(ClosingError::NotHere(format!("the kernel reports '{found}'")));
    }
    renew(site, &masks);
    Ok(group)
}

/// For CPUs that went offline after the chosen masks were recorded.
fn note_lost(site: &mut Site, snapshot: &mut MaskSnapshot) -> Result<(), SiteError> {
    let lost = snapshot.lost(&site.rest, &site.journal.changes);
    let changes = lost.into_iter().map(|LostCpus { thread, now, .. }| {
        let before = thread.cpus.with(&site.cell);
        SettingChange::of_mask(thread.tid, thread.started_ticks, before, now)
    });
    let changes: Vec<SettingChange> = changes.collect();
    site.note(&changes)
}

/// A cell records this even if it was enabled, so that the last cell disables it.
fn hand_down(site: &mut Site, base: &str) -> Result<(), ClosingError> {
    let path = format!("{base}/cgroup.subtree_control");
    let old = site.root.read(&path)?;
    let has_cpuset = old.split_whitespace().any(|word| word == "cpuset");
    let new = if has_cpuset { old.clone() } else { format!("cpuset {old}") };
    site.change(SettingChange::new(SettingKind::Controller, path, old, new.trim()))?;
    Ok(())
}

/// The fault of a partition.
pub fn fault(root: &Root, group: &str) -> Option<String> {
    match root.read(&format!("{group}/cpuset.cpus.partition")) {
        Ok(found) if found == ISOLATED => None,
        Ok(found) => Some(format!("the partition is '{found}' now")),
        Err(error) if error.is_absent() => Some("its control group no longer exists".into()),
        Err(error) => Some(with_causes(&error)),
    }
}
