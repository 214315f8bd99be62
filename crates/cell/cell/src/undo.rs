//! Undoes a journal's changes in reverse order, except values that another program has changed
//! since.
//!
//! Cells may end in any order. If a younger cell has changed the same path, its journal gets the
//! older value to restore (it is *rebased*), and the path keeps the younger cell's value.

mod forgotten;
mod heirs;
mod left;

pub use forgotten::find as forgotten_masks;
pub use left::Left;

use crate::journal::CellStage;
use crate::mask_snapshot::MaskSnapshot;
use crate::{
    CellClaim, CellJournal, JournalEntry, SettingChange, SettingKind, fault, permitted, settings,
    thread_mask,
};
use seatmap_data::invariant;
use seatmap_data::words::agreeing;
use seatmap_os::layout::CpusetMounts;
use seatmap_os::{CpuSet, FileError, Root, Tid, affinity, group, isolated, layout, task};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// To find threads created meanwhile.
const ROUNDS: u32 = 4;

/// Undoes and removes a journal. Returns the settings that could not be restored; the journal is
/// removed even then, or another program's change would keep it forever. `others` are the other
/// cells' journals, oldest first. Undoing needs only disk space reserved by younger cells. It
/// writes only cells' settings.
///
/// # Errors
/// Another cell's journal cannot be written, or this one not removed.
pub fn undo(
    root: &Root,
    mut journal: CellJournal,
    others: &mut [CellJournal],
) -> io::Result<Vec<Left>> {
    let layout = CpusetMounts::read(root);
    let mut left = refused(&layout, &mut journal);
    // Planted lines of other cells must not decide values.
    others.iter_mut().for_each(|other| drop(refused(&layout, other)));
    let mut lines = counts(root, &journal);
    lines.push(JournalEntry::Undo);
    journal.append_or_take(lines);
    left.extend(note_masks(root, &mut journal, others).err().map(|error| Left::unlisted(&error)));
    left.extend(lost(&journal));
    let own = journal.header.set();
    let mut snapshot = if journal.has_group() {
        MaskSnapshot::take(root, |mask| mask.with(&own))
    } else {
        MaskSnapshot::default()
    };
    // Masks last, because the kernel resets them when cpusets change.
    let (masks, rest): (Vec<&SettingChange>, Vec<&SettingChange>) =
        journal.changes.iter().rev().partition(|change| change.what == SettingKind::Affinity);
    for change in rest.into_iter().chain(masks) {
        left.extend(undo_one(root, change, &journal, others, snapshot.away())?);
        fault::point();
        snapshot.look();
    }
    let mut heirs = Vec::new();
    left.extend(widen_heirs(root, &journal, others, snapshot.away(), &mut heirs)?);
    let taken = others.iter().flat_map(|other| other.header.set()).collect();
    left.extend(forgotten::find(root, journal.changes.iter().chain(&heirs), &taken));
    let open = everywhere(root, others);
    left.extend(forgotten::give(snapshot.lost(&open, &journal.changes), &taken));
    let away = snapshot.away();
    others.iter().for_each(|other| narrow_again(root, other, &open, away));
    invariant!(
        journal.stage == CellStage::Leaving,
        "undo",
        "the journal of cell {} is removed, and the cell is {:?}",
        journal.header.cell,
        journal.stage
    );
    // Otherwise the cell would seem to have lost its journal.
    CellClaim::forget(root, &journal.header.cell, &journal.path);
    CellClaim::renew(root, others);
    journal.remove()?;
    fault::point();
    Ok(left)
}

/// Removes lines that no cell can have written: the file is damaged or planted.
fn refused(layout: &CpusetMounts, journal: &mut CellJournal) -> Vec<Left> {
    let cell = journal.header.cell.clone();
    let (changes, refused): (Vec<SettingChange>, Vec<SettingChange>) =
        std::mem::take(&mut journal.changes)
            .into_iter()
            .partition(|change| permitted::may_be(change, &cell, layout));
    journal.changes = changes;
    let why =
        format!("a cell never makes this change; {} is damaged or forged", journal.path.display());
    refused.into_iter().map(|change| Left::new(change.path, why.clone())).collect()
}

/// Reports changes on damaged lines.
pub fn lost(journal: &CellJournal) -> Option<Left> {
    let are = agreeing(journal.lost, "is", "are");
    let why = format!(
        "{} of its lines {are} damaged; changes recorded there are not undone",
        journal.lost
    );
    (journal.lost > 0).then(|| Left::new(journal.path.display().to_string(), why))
}

/// Records masks that threads chose during the cell's life, to outlive its cpuset.
fn note_masks(
    root: &Root,
    journal: &mut CellJournal,
    others: &[CellJournal],
) -> Result<(), FileError> {
    // Without known CPUs, every mask looks chosen: the cell's cpuset has narrowed all.
    if journal.header.set().is_empty() || !journal.has_group() {
        return Ok(());
    }
    let own = journal.header.set();
    let open = everywhere(root, others).without(&own);
    let inside = inside(root, journal)?;
    let whole = open.with(&own);
    let narrowed = narrowed_whole(journal, &by_default(root, &whole, &own));
    let lines: Vec<JournalEntry> = task::all(root)?
        .into_iter()
        .filter_map(|task| {
            // A thread inside with the whole cell has its cpuset's mask, even if a user moved it
            // in.
            let is_inside = inside.contains(&task.tid) || inside.contains(&task.pid);
            let now = task.cpus().filter(|now| !task.is_bound && !open.is_subset(now))?;
            let path = task.folder();
            // The kernel may change its new threads' masks at any time.
            let is_kernels = task.is_kernel && journal.of_path(&path).is_none();
            if is_inside && now == own || is_kernels {
                return None;
            }
            let before = narrowed.get(&now).unwrap_or(&now);
            if *before != now && whole.is_subset(before) {
                return None;
            }
            let line = SettingChange::of_mask(task.tid, task.started_ticks, before, &now);
            let known = journal.of_path(&path);
            let is_known = known.is_some_and(|change| change.same(&change.new, &line.new));
            (!is_known).then_some(JournalEntry::Change(line))
        })
        .collect();
    if !lines.is_empty() {
        journal.append_or_take(lines);
    }
    Ok(())
}

/// Without the CPUs of `isolcpus=`, unless they are the cell's.
fn by_default(root: &Root, whole: &CpuSet, own: &CpuSet) -> CpuSet {
    whole.without(&isolated::at_boot(root).without(own))
}

/// Masks from the cell for threads with default masks, and the former masks. A thread created since
/// inherited one, even if an offline CPU has returned. The kernel itself restores masks of all
/// CPUs, but not those without the CPUs of `isolcpus=`.
fn narrowed_whole(journal: &CellJournal, by_default: &CpuSet) -> BTreeMap<CpuSet, CpuSet> {
    let masks = journal.changes.iter().filter(|change| change.is_new_mask());
    masks
        .filter_map(|change| Some((CpuSet::of_list(&change.new)?, CpuSet::of_list(&change.old)?)))
        .filter(|(_, old)| by_default.is_subset(old))
        .collect()
}

fn inside(root: &Root, journal: &CellJournal) -> Result<BTreeSet<Tid>, FileError> {
    let mut inside = BTreeSet::new();
    for change in journal.changes.iter().filter(|change| change.what == SettingKind::Folder) {
        inside.extend(group::members(root, &change.path)?);
    }
    Ok(inside)
}

fn undo_one(
    root: &Root,
    change: &SettingChange,
    journal: &CellJournal,
    others: &mut [CellJournal],
    away: &CpuSet,
) -> io::Result<Option<Left>> {
    if change.what == SettingKind::Count {
        return Ok(take_away(root, change));
    }
    // The cell did not set this mask; only control groups make the kernel reset masks.
    if change.is_kept() && !journal.has_group() {
        return Ok(None);
    }
    let serial = journal.header.serial;
    let open = everywhere(root, others);
    let heirs: Vec<&mut CellJournal> = others
        .iter_mut()
        .filter(|other| other.header.serial > serial && other.of_path(&change.path).is_some())
        .collect();
    if heirs.is_empty() {
        Ok(put_back(root, change, &open, away))
    } else {
        rebase(root, change, heirs, &open, away)
    }
}

fn everywhere(root: &Root, others: &[CellJournal]) -> CpuSet {
    let live: CpuSet = others.iter().flat_map(|other| other.header.set()).collect();
    layout::online(root).unwrap_or_default().without(&live)
}

/// Restores one setting, unless another program has changed it.
fn put_back(root: &Root, change: &SettingChange, open: &CpuSet, away: &CpuSet) -> Option<Left> {
    let current = match change.current(root) {
        Ok(current) => current,
        Err(error) if error.is_absent() => return None,
        Err(error) => return left(change, error.source.to_string()),
    };
    if change.same(&current, &change.old) {
        return None;
    }
    // Since 6.2 the kernel restores a thread's chosen mask, including the cell's CPUs.
    if change.is_kept() && !was_widened(change, &current, open, away) {
        return None;
    }
    if let Some(mask) = widened_by_kernel(change, &current) {
        return refusal(change, thread_mask::set_affinity(&change.path, &mask));
    }
    let is_ours = change.same(&current, &change.new) || change.is_given(&current);
    if !is_ours && !was_widened(change, &current, open, away) {
        return overwritten(change, &current);
    }
    let put = match change.what {
        SettingKind::Folder => group::dissolve(root, &change.path),
        SettingKind::Controller => root.write(&change.path, "-cpuset"),
        SettingKind::Affinity => thread_mask::set_affinity(&change.path, &change.old),
        _ => root.write(&change.path, &change.old),
    };
    refusal(change, put)
}

/// A refused restoration, unless the setting no longer exists.
pub fn refusal(change: &SettingChange, put: Result<(), FileError>) -> Option<Left> {
    let error = put.err().filter(|error| !error.is_absent())?;
    left(change, error.source.to_string())
}

/// A setting changed since by another program.
pub fn overwritten(change: &SettingChange, current: &str) -> Option<Left> {
    left(change, format!("another program changed it to '{current}'; it was '{}'", change.old))
}

fn left(change: &SettingChange, why: String) -> Option<Left> {
    Some(Left::new(&change.path, why))
}

/// Before 6.2, a change of its cpuset resets a thread's mask to all CPUs, even offline ones. CPUs
/// `away` meanwhile may be missing.
fn was_widened(change: &SettingChange, current: &str, open: &CpuSet, away: &CpuSet) -> bool {
    let away = away.with(&affinity::offline());
    change.what == SettingKind::Affinity
        && CpuSet::of_list(current)
            .is_some_and(|current| current.without(&away) == open.without(&away))
}

/// The mask for a kernel thread widened by the kernel, such as `kcompactd` when a CPU returns: the
/// union of its masks before the cell and now. Only the latter has a CPU that was offline at the
/// cell's creation.
fn widened_by_kernel(change: &SettingChange, current: &str) -> Option<String> {
    let tid =
        thread_mask::tid_of(&change.path).ok().filter(|_| change.what == SettingKind::Affinity)?;
    widened(&change.old, &change.new, current).filter(|_| task::is_of_kernel(tid))
}

fn widened(old: &str, given: &str, now: &str) -> Option<String> {
    let old = CpuSet::of_list(old)?;
    let given = CpuSet::of_list(given)?;
    let now = CpuSet::of_list(now)?;
    let is_wider = now != given && given.is_subset(&now);
    is_wider.then(|| old.with(&now).to_string())
}

/// Final values of increased numbers, recorded first, so that a crash cannot cause a second
/// decrease.
fn counts(root: &Root, journal: &CellJournal) -> Vec<JournalEntry> {
    if journal.stage == CellStage::Leaving {
        return Vec::new();
    }
    journal
        .changes
        .iter()
        .filter(|change| change.what == SettingKind::Count)
        .filter_map(|change| {
            let (old, new) = left_of(root, change, journal.stage)?;
            let [old, new] = [old, new].map(|number| number.to_string());
            Some(JournalEntry::Rebase { path: change.path.clone(), old, new })
        })
        .collect()
}

/// A number's final and present value. An unfinished cell may have got less than requested. No cell
/// has ended since it started, so its initial value is the minimum.
fn left_of(root: &Root, change: &SettingChange, stage: CellStage) -> Option<(u64, u64)> {
    let old = number(&change.old);
    let current = settings::pages(root, &change.path)?;
    let fewer = current.saturating_sub(number(&change.new).saturating_sub(old));
    Some((if stage == CellStage::Building { fewer.max(old.min(current)) } else { fewer }, current))
}

/// Subtracts what the cell added, unless that is already done.
fn take_away(root: &Root, change: &SettingChange) -> Option<Left> {
    let (fewer, current) = left_of(root, change, CellStage::Leaving)?;
    if current == number(&change.old) || fewer == current {
        return None;
    }
    let error = root.write(&change.path, &fewer.to_string()).err()?;
    left(change, error.source.to_string())
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

/// Makes younger cells restore this cell's old value, and frees this cell's CPUs on the path.
fn rebase(
    root: &Root,
    change: &SettingChange,
    heirs: Vec<&mut CellJournal>,
    open: &CpuSet,
    away: &CpuSet,
) -> io::Result<Option<Left>> {
    let mut value = change.old.clone();
    let mut ours = vec![change.new.clone()];
    for heir in heirs {
        let cpus = heir.header.set();
        let Some(found) = heir.of_path(&change.path) else { continue };
        ours.push(found.new.clone());
        let new = change.what.narrowed(&value, &cpus, open).unwrap_or_else(|| found.new.clone());
        // Written before any change. If this fails, the next command continues from this cell's
        // journal. Otherwise the younger cell would restore a value that excludes all programs from
        // an ended cell's CPUs.
        let path = change.path.clone();
        heir.append(&[JournalEntry::Rebase { path, old: value, new: new.clone() }])?;
        value = new;
    }
    let Ok(current) = change.current(root) else { return Ok(None) };
    // The host refused this change, as for some interrupts.
    if change.same(&current, &value) || change.same(&current, &change.old) {
        return Ok(None);
    }
    let is_ours = ours.iter().any(|value| change.same(value, &current))
        || change.is_given(&current)
        || is_within(change.what, &current, &value)
        || was_widened(change, &current, open, away)
        || widened_by_kernel(change, &current).is_some();
    let made = SettingChange { old: current, new: value, ..change.clone() };
    Ok(if is_ours {
        made.make(root).err().and_then(|error| left(change, error.source.to_string()))
    } else {
        left(change, format!("another program changed it to '{}'", made.old))
    })
}

/// This cell narrowed the set and now widens it.
fn is_within(what: SettingKind, small: &str, large: &str) -> bool {
    let sets = what.set(small).zip(what.set(large));
    sets.is_some_and(|(small, large)| small.is_subset(&large))
}

fn narrow_again(root: &Root, other: &CellJournal, open: &CpuSet, away: &CpuSet) {
    for change in other.changes.iter().filter(|change| !change.is_kept() || other.has_group()) {
        if change.what == SettingKind::Affinity
            && change.current(root).is_ok_and(|now| was_widened(change, &now, open, away))
        {
            // The thread has exited.
            let _ = change.make(root);
        }
    }
}

/// Gives threads created during the cell's life their creators' masks, and adds them to `widened`.
/// Returns unclear ones.
fn widen_heirs(
    root: &Root,
    journal: &CellJournal,
    others: &mut [CellJournal],
    away: &CpuSet,
    widened: &mut Vec<SettingChange>,
) -> io::Result<Vec<Left>> {
    let mut left = Vec::new();
    for _ in 0..ROUNDS {
        let found = match heirs::find(root, journal, others, &everywhere(root, others)) {
            Ok(found) => found,
            Err(error) => return Ok(vec![Left::unlisted(&error)]),
        };
        left = found.unclear;
        if found.heirs.is_empty() {
            break;
        }
        for heir in found.heirs {
            left.extend(undo_one(root, &heir, journal, others, away)?);
            widened.push(heir);
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests;
