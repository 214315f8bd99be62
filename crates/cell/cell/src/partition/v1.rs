//! An exclusive cpuset of cgroup version 1 (cpuset(7)).
//!
//! The root cpuset always has all CPUs. So all movable threads go to a cpuset with the remaining
//! CPUs, common to all cells, and the root's load balancing is off.

use super::error::ClosingError;
use super::masks::{chosen_masks, renew};
use crate::settings::{PREFIX, REST};
use crate::site::Site;
use crate::{SettingChange, SettingKind};
use seatmap_os::layout::CpusetMounts;
use seatmap_os::{CpuSet, FileError, Root, Tid, group, layout, task};
use std::collections::BTreeSet;
use std::path::Path;

/// After these rounds, few new threads remain.
const ROUNDS: u32 = 4;

/// Closes a cell and returns its group.
///
/// # Errors
/// [`ClosingError`].
pub fn close(site: &mut Site, layout: &CpusetMounts) -> Result<String, ClosingError> {
    let base = super::base(&layout.v1, 1)?;
    if let Some((sibling, cpus)) =
        rivals(site.root, &base, "")?.into_iter().find(|(_, cpus)| cpus.meets(&site.cell))
    {
        return Err(ClosingError::NotHere(format!(
            "the cpuset {sibling} already has {}",
            cpus.named()
        )));
    }
    let masks = chosen_masks(site, |task| !task.is_spared(&site.spared))?;
    site.note(&masks)?;
    let rest = make_rest(site, &base)?;
    gather(site, &base, &rest)?;
    let narrow = site.keep_out(SettingKind::Cpus, &format!("{rest}/cpuset.cpus"));
    narrow.map_or(Ok(()), |change| site.change(change))?;
    let group = make_cell(site, &base)?;
    let balance = format!("{base}/cpuset.sched_load_balance");
    site.change(SettingChange::of_file(site.root, SettingKind::Value, &balance, "0")?)?;
    renew(site, &masks);
    Ok(group)
}

fn make_rest(site: &mut Site, base: &str) -> Result<String, ClosingError> {
    let rest = format!("{base}/{REST}");
    let is_new = !site.root.has(&rest) || is_nobodys(site.root, base)?;
    let made = SettingChange::folder(&rest);
    // If another cell already uses it, it stays until the last one ends.
    let old = if is_new { made.old.clone() } else { made.current(site.root)? };
    site.change(SettingChange { old, ..made })?;
    if is_new {
        let online = layout::online(site.root)?;
        site.furnish(&format!("{rest}/cpuset.cpus"), &online.to_string())?;
        copy_memory(site, base, &rest)?;
    }
    Ok(rest)
}

/// Whether no cell exists: an earlier one could not remove the rest.
fn is_nobodys(root: &Root, base: &str) -> Result<bool, FileError> {
    let cell = format!("{PREFIX}.");
    Ok(!root.folders(base)?.iter().any(|name| name.starts_with(&cell)))
}

fn make_cell(site: &mut Site, base: &str) -> Result<String, ClosingError> {
    let group = super::group(site, base)?;
    copy_memory(site, base, &group)?;
    site.furnish(&format!("{group}/cpuset.cpu_exclusive"), "1")?;
    site.furnish(&format!("{group}/cpuset.sched_load_balance"), "0")?;
    Ok(group)
}

/// Threads cannot enter a cpuset without memory nodes.
fn copy_memory(site: &Site, base: &str, group: &str) -> Result<(), ClosingError> {
    let nodes = site.root.read(&format!("{base}/cpuset.mems"))?;
    Ok(site.furnish(&format!("{group}/cpuset.mems"), &nodes)?)
}

/// Moves all movable threads from the root to the rest. Bound kernel threads refuse.
fn gather(site: &Site, base: &str, rest: &str) -> Result<(), FileError> {
    let mut refused: BTreeSet<Tid> = BTreeSet::new();
    let spared = tasks_of_spared(site)?;
    let file = group::members_file(site.root, rest);
    for _ in 0..ROUNDS {
        let mut found = group::members(site.root, base)?;
        found.retain(|tid| !spared.contains(tid) && !refused.contains(tid));
        if found.is_empty() {
            break;
        }
        found.retain(|tid| site.root.write(&file, &tid.to_string()).is_err());
        refused.extend(found);
    }
    crate::fault::point();
    Ok(())
}

fn tasks_of_spared(site: &Site) -> Result<BTreeSet<Tid>, FileError> {
    let mut tids = BTreeSet::new();
    for pid in site.spared.iter().copied().chain([1]) {
        tids.extend(task::of_process(site.root, pid)?.into_iter().map(|task| task.tid));
    }
    Ok(tids)
}

/// The cpusets next to a cell's, with their CPUs, except the one for other threads.
///
/// # Errors
/// [`FileError`]: the groups cannot be listed.
pub fn rivals(root: &Root, base: &str, own: &str) -> Result<Vec<(String, CpuSet)>, FileError> {
    let folders = root.all_folders(Path::new(base))?;
    let rivals = folders.into_iter().filter_map(|folder| {
        let name = folder.file_name()?.to_string_lossy().into_owned();
        let list = std::fs::read_to_string(root.of(&folder.join("cpuset.cpus"))).ok()?;
        let cpus = CpuSet::of_list(list.trim())?;
        (name != REST && name != own).then_some((name, cpus))
    });
    Ok(rivals.collect())
}

/// The fault of an exclusive cpuset.
pub fn fault(root: &Root, group: &str, cell: &CpuSet) -> Option<String> {
    if !root.has(group) {
        return Some("its control group no longer exists".into());
    }
    let cpus = root.cpus(&format!("{group}/cpuset.cpus"));
    if let Some(found) = cpus.filter(|found| found != cell) {
        return Some(format!("its cpuset has {} now", found.named()));
    }
    let exclusive = root.read(&format!("{group}/cpuset.cpu_exclusive")).ok();
    (exclusive.as_deref() != Some("1")).then(|| "its cpuset is no longer exclusive".into())
}
