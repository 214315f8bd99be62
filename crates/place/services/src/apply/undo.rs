//! Takes the sets of a plan back, backwards, and only where a setting is still as it was left.

use super::drop_in::DropIn;
use super::setting;
use crate::living;
use crate::plan::PlannedService;
use seatmap_cell::change::{Change, What};
use seatmap_cell::fault;
use seatmap_cell::journal::{Journal, JournalEntry};
use seatmap_cell::undo::{Left, forgotten_masks};
use seatmap_os::layout::Layout;
use seatmap_os::task::{Family, Task};
use seatmap_os::{CpuSet, Root, Tid, affinity, task};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// How often threads are looked for that began while others were given their masks back.
const ROUNDS: u32 = 4;

/// Undoes a journal and removes it. Returns the settings that could not be put back: the journal
/// goes all the same, or a change by somebody else would keep it for ever.
///
/// # Errors
/// The journal cannot be removed.
pub(crate) fn undo(
    root: &Root,
    mut journal: Journal,
    services: &[PlannedService],
) -> io::Result<Vec<Left>> {
    let layout = Layout::read(root);
    journal.append_or_take(vec![JournalEntry::Undo]);
    let mut left = Vec::new();
    if journal.lost > 0 {
        let path = journal.path().display().to_string();
        let why = format!("{} of its lines are damaged; their settings stay", journal.lost);
        left.push(Left::new(path, why));
    }
    for change in journal.changes.iter().rev() {
        if setting::may_be(change, &layout) {
            left.extend(put_back(root, change));
        } else {
            let why = format!("no plan changes this; {} is damaged", journal.path().display());
            left.push(Left::new(change.path.clone(), why));
        }
        fault::point();
    }
    if journal.changes.iter().any(|change| DropIn::of(&change.path).is_some()) {
        let reloaded = setting::reload_units();
        left.extend(reloaded.err().map(|error| Left::new(error.path, error.source.to_string())));
    }
    let mut widened = Vec::new();
    for _ in 0..ROUNDS {
        let heirs = heirs(root, &journal, services);
        if heirs.is_empty() {
            break;
        }
        for heir in heirs {
            left.extend(put_back(root, &heir));
            widened.push(heir);
        }
    }
    let changes = journal.changes.iter().chain(&widened);
    left.extend(forgotten_masks(root, changes, &CpuSet::default()));
    journal.remove()?;
    fault::point();
    Ok(left)
}

/// Puts one setting back, where it is as the plan left it.
fn put_back(root: &Root, change: &Change) -> Option<Left> {
    if let Some(drop_in) = DropIn::of(&change.path) {
        return take_away(root, change, drop_in);
    }
    let current = match setting::current(root, change) {
        Ok(current) => current,
        // A thread that has ended, or a group that is gone, took the setting along.
        Err(error) if error.is_absent() => return None,
        Err(error) => return left(change, error.source.to_string()),
    };
    if setting::is_old(root, change, &current) {
        return None;
    }
    if !change.same(&current, &change.new) && !change.is_given(&current) {
        return left(
            change,
            format!("somebody changed it to '{current}'; it was '{}'", change.old),
        );
    }
    let put = setting::set(root, change, &change.old);
    put.err()
        .filter(|error| !error.is_absent())
        .and_then(|error| left(change, error.source.to_string()))
}

/// Takes systemd's file for a property away that has its old value again. A value that somebody
/// else has set is in the same file, which stays.
fn take_away(root: &Root, change: &Change, drop_in: DropIn) -> Option<Left> {
    let current = setting::current(root, change).ok()?;
    if !setting::is_old(root, change, &current) {
        return None;
    }
    drop_in.remove(root).err().and_then(|error| left(change, error.source.to_string()))
}

fn left(change: &Change, why: String) -> Option<Left> {
    Some(Left::new(change.path.clone(), why))
}

/// Threads that began while the plan stood and have a mask of it from the thread that created them,
/// with the mask that this one had before.
fn heirs(root: &Root, journal: &Journal, services: &[PlannedService]) -> Vec<Change> {
    let mut old_of: BTreeMap<&str, &str> = BTreeMap::new();
    let mut known: BTreeSet<(Tid, u64)> = BTreeSet::new();
    let mut pids: BTreeSet<Tid> = BTreeSet::new();
    for change in journal.changes.iter().filter(|change| change.what == What::Affinity) {
        old_of.insert(&change.new, &change.old);
        let tid = change.path.strip_prefix("/proc/").and_then(|tid| tid.parse().ok());
        if let Some((tid, started)) = tid.zip(change.started_ticks) {
            known.insert((tid, started));
            pids.extend(Family::of(tid).map(|family| family.pid));
        }
    }
    if old_of.is_empty() {
        return Vec::new();
    }
    for planned in services {
        pids.extend(living::processes(root, &planned.service).unwrap_or_default());
    }
    let mut found = Vec::new();
    for tid in pids.iter().flat_map(|pid| task::threads(*pid).unwrap_or_default()) {
        let Some(started_ticks) = Task::of(tid).map(|task| task.started_ticks) else { continue };
        let is_younger = journal.header.began_ticks.is_none_or(|began| started_ticks >= began);
        if known.contains(&(tid, started_ticks)) || !is_younger {
            continue;
        }
        let Ok(mask) = affinity::whole(tid) else { continue };
        let inherited = old_of.iter().find(|(new, _)| {
            CpuSet::of_list(new).is_some_and(|new| affinity::is_as_given(&new, &mask))
        });
        if let Some((new, old)) = inherited {
            found.push(Change {
                what: What::Affinity,
                path: format!("/proc/{tid}"),
                old: (*old).to_owned(),
                new: (*new).to_owned(),
                started_ticks: Some(started_ticks),
            });
        }
    }
    found
}
