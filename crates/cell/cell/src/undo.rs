//! Puts back what a journal says was changed, backwards, and only what is still as we left it.
//!
//! Cells may end in another order than they began. If a younger cell changed the same path on top,
//! its journal is given the older value to bring back (it is *rebased*), and the path keeps what
//! the younger cell needs.

mod forgotten;
mod heirs;
mod left;

pub use forgotten::find as forgotten_masks;
pub use left::Left;

use crate::change::{SettingChange, SettingKind};
use crate::claim::CellClaim;
use crate::fault;
use crate::journal::{CellJournal, CellStage, JournalEntry};
use crate::mask_snapshot::MaskSnapshot;
use crate::permitted;
use crate::settings;
use crate::thread_mask;
use seatmap_data::invariant;
use seatmap_data::statistics::words::agreeing;
use seatmap_os::Tid;
use seatmap_os::group;
use seatmap_os::isolated;
use seatmap_os::layout::{self, CpusetMounts};
use seatmap_os::root::{FileError, Root};
use seatmap_os::task;
use seatmap_os::{CpuSet, affinity};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// How often threads are looked for that were created while others were widened.
const ROUNDS: u32 = 4;

/// Undoes a journal and removes it. Returns the settings that could not be put back. The journal is
/// removed all the same, or a change by another program would keep it for ever. `others` are the
/// journals of the other cells, the oldest first. Undoing needs no room on the disk, beside that
/// which younger cells keep for it. It writes only [settings] that cells change, no matter what a
/// journal says.
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
    // Lines of other cells decide what is put back, so planted ones must not count there either.
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
    // Masks last: the kernel forgets them when cpusets change.
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
    // Without a journal, the cell would be taken for one that has lost it.
    CellClaim::forget(root, &journal.header.cell, journal.path());
    CellClaim::renew(root, others);
    journal.remove()?;
    fault::point();
    Ok(left)
}

/// Takes out of a journal the lines that no cell can have written: the file is damaged, or planted.
fn refused(layout: &CpusetMounts, journal: &mut CellJournal) -> Vec<Left> {
    let cell = journal.header.cell.clone();
    let (changes, refused): (Vec<SettingChange>, Vec<SettingChange>) =
        std::mem::take(&mut journal.changes)
            .into_iter()
            .partition(|change| permitted::may_be(change, &cell, layout));
    journal.changes = changes;
    let why = format!(
        "no cell changes this, or not so; {} is damaged or was planted",
        journal.path().display()
    );
    refused.into_iter().map(|change| Left::new(change.path, why.clone())).collect()
}

/// The changes that cannot be put back, because their lines are lost.
fn lost(journal: &CellJournal) -> Option<Left> {
    let are = agreeing(journal.lost, "is", "are");
    let they = agreeing(journal.lost, "it", "they");
    let why =
        format!("{} of its lines {are} damaged; what {they} told of stays as it is", journal.lost);
    (journal.lost > 0).then(|| Left::new(journal.path().display().to_string(), why))
}

/// Notes the masks that threads have chosen while the cell stood, so that they outlive its cpuset.
fn note_masks(
    root: &Root,
    journal: &mut CellJournal,
    others: &[CellJournal],
) -> Result<(), FileError> {
    // Where it is not known which cell these CPUs belonged to, every thread's mask looks chosen:
    // the cell's cpuset has narrowed them all.
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
            // A thread inside that may use the whole cell has the mask of its cpuset, also where a
            // user moved it in.
            let is_inside = inside.contains(&task.tid) || inside.contains(&task.pid);
            let now = task.cpus().filter(|now| !task.is_bound && !open.is_subset(now))?;
            let path = task.folder();
            // The kernel gives a thread of its own that is new another mask when it likes.
            let is_kernels = task.is_kernel && journal.of_path(&path).is_none();
            if is_inside && now == own || is_kernels {
                return None;
            }
            let mask = now.to_string();
            let before = narrowed.get(&now);
            if before.is_some_and(|before| whole.is_subset(before)) {
                return None;
            }
            let is_known =
                journal.of_path(&path).is_some_and(|change| change.same(&change.new, &mask));
            let started_ticks = Some(task.started_ticks);
            let old = before.map_or_else(|| mask.clone(), CpuSet::to_string);
            let line =
                SettingChange { what: SettingKind::Affinity, path, old, new: mask, started_ticks };
            (!is_known).then_some(JournalEntry::Change(line))
        })
        .collect();
    if !lines.is_empty() {
        journal.append_or_take(lines);
    }
    Ok(())
}

/// The CPUs that a thread may use which nobody has bound: those of `isolcpus=` are not among them,
/// unless they are the cell's own.
fn by_default(root: &Root, whole: &CpuSet, own: &CpuSet) -> CpuSet {
    let isolated = isolated::at_boot(root);
    whole.without(&isolated.without(own))
}

/// The masks that the cell gave to threads which nobody had bound, each with the one before.
/// Threads that were created since have them as well, also where a CPU that was offline then has
/// come back, and did not choose them. The kernel itself gives these a mask of all CPUs back; one
/// without the CPUs of `isolcpus=` it does not.
fn narrowed_whole(journal: &CellJournal, by_default: &CpuSet) -> BTreeMap<CpuSet, CpuSet> {
    let masks = journal
        .changes
        .iter()
        .filter(|change| change.what == SettingKind::Affinity && !change.is_kept());
    masks
        .filter_map(|change| Some((CpuSet::of_list(&change.new)?, CpuSet::of_list(&change.old)?)))
        .filter(|(_, old)| by_default.is_subset(old))
        .collect()
}

/// Threads, or processes, in the cell's groups.
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
    // Such a thread did not get its present mask from the cell. The kernel forgets masks for
    // control groups alone.
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

/// The CPUs that do not belong to another cell.
fn everywhere(root: &Root, others: &[CellJournal]) -> CpuSet {
    let live: CpuSet = others.iter().flat_map(|other| other.header.set()).collect();
    layout::online(root).unwrap_or_default().without(&live)
}

/// Puts one thing back, where it is as we left it.
fn put_back(root: &Root, change: &SettingChange, open: &CpuSet, away: &CpuSet) -> Option<Left> {
    let current = match change.current(root) {
        Ok(current) => current,
        Err(error) if error.is_absent() => return None,
        Err(error) => return left(change, error.source.to_string()),
    };
    if change.same(&current, &change.old) {
        return None;
    }
    // Kernels since 6.2 give a thread the mask back that it chose, also the CPUs that were the
    // cell's.
    if change.is_kept() && !was_widened(change, &current, open, away) {
        return None;
    }
    if let Some(mask) = widened_by_kernel(change, &current) {
        let put = thread_mask::set_affinity(&change.path, &mask);
        return put
            .err()
            .filter(|error| !error.is_absent())
            .and_then(|error| left(change, error.source.to_string()));
    }
    let is_ours = change.same(&current, &change.new) || change.is_given(&current);
    if !is_ours && !was_widened(change, &current, open, away) {
        return left(
            change,
            format!("somebody changed it to '{current}'; it was '{}'", change.old),
        );
    }
    let put = match change.what {
        SettingKind::Folder => group::dissolve(root, &change.path),
        SettingKind::Controller => root.write(&change.path, "-cpuset"),
        SettingKind::Affinity => thread_mask::set_affinity(&change.path, &change.old),
        _ => root.write(&change.path, &change.old),
    };
    put.err()
        .filter(|error| !error.is_absent())
        .and_then(|error| left(change, error.source.to_string()))
}

fn left(change: &SettingChange, why: String) -> Option<Left> {
    Some(Left::new(change.path.clone(), why))
}

/// Kernels before 6.2 forget a thread's own mask when its cpuset changes, and let it run
/// everywhere, on CPUs that are offline as well. CPUs that were `away` meanwhile may be missing.
fn was_widened(change: &SettingChange, current: &str, open: &CpuSet, away: &CpuSet) -> bool {
    let away = away.with(&affinity::offline());
    change.what == SettingKind::Affinity
        && CpuSet::of_list(current)
            .is_some_and(|current| current.without(&away) == open.without(&away))
}

/// The mask for a thread of the kernel that the kernel itself has widened while the cell stood, as
/// it does to its `kcompactd` and others when a CPU comes back: what it had before the cell, and
/// what it has now. A CPU that was offline when the cell was made is in the second alone.
fn widened_by_kernel(change: &SettingChange, current: &str) -> Option<String> {
    let tid =
        thread_mask::tid_of(&change.path).ok().filter(|_| change.what == SettingKind::Affinity)?;
    widened(&change.old, &change.new, current).filter(|_| task::is_of_kernel(tid))
}

/// All CPUs of a mask before and after, where the one now is more than the one that was given.
fn widened(old: &str, given: &str, now: &str) -> Option<String> {
    let old = CpuSet::of_list(old)?;
    let given = CpuSet::of_list(given)?;
    let now = CpuSet::of_list(now)?;
    let is_wider = now != given && given.is_subset(&now);
    is_wider.then(|| old.with(&now).to_string())
}

/// The values to leave in numbers to which something was added. They are written down before
/// anything is taken away, so that a process that dies in between does not take it twice.
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
            Some(JournalEntry::Rebase {
                path: change.path.clone(),
                old: old.to_string(),
                new: new.to_string(),
            })
        })
        .collect()
}

/// The value that a number shall have, and the one that it has. A cell that was never whole may
/// have got less than it asked for. No cell has gone since it was begun, so that the number at that
/// time is the least that may be left.
fn left_of(root: &Root, change: &SettingChange, stage: CellStage) -> Option<(u64, u64)> {
    let old = number(&change.old);
    let current = settings::pages(root, &change.path)?;
    let fewer = current.saturating_sub(number(&change.new).saturating_sub(old));
    Some((if stage == CellStage::Building { fewer.max(old.min(current)) } else { fewer }, current))
}

/// Takes away what was added, and no more; nothing where that has been done.
fn take_away(root: &Root, change: &SettingChange) -> Option<Left> {
    let (fewer, current) = left_of(root, change, CellStage::Leaving)?;
    if current == number(&change.old) || fewer == current {
        return None;
    }
    let written = root.write(&change.path, &fewer.to_string());
    written.err().map(|error| Left::new(change.path.clone(), error.source.to_string()))
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

/// Lets younger cells bring back what this one found, and gives the path the CPUs that this one no
/// longer keeps.
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
        let new = narrowed(change.what, &value, &cpus, open).unwrap_or_else(|| found.new.clone());
        // Before anything is changed, and not taken for done where it fails: this cell's journal is
        // kept then, and the next command goes on from it. Without this line the younger cell would
        // bring back a value that keeps everybody off the CPUs of a cell which nobody knows of.
        heir.append(&[JournalEntry::Rebase {
            path: change.path.clone(),
            old: value,
            new: new.clone(),
        }])?;
        value = new;
    }
    let Ok(current) = change.current(root) else { return Ok(None) };
    // A setting that the host refused to change, as it does some interrupts, is as it was.
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
        made.make(root).err().map(|error| Left::new(change.path.clone(), error.source.to_string()))
    } else {
        Some(Left::new(change.path.clone(), format!("somebody changed it to '{}'", made.old)))
    })
}

fn set(what: SettingKind, text: &str) -> Option<CpuSet> {
    match what {
        SettingKind::Cpus | SettingKind::Affinity => CpuSet::of_list(text),
        SettingKind::CpuMask => CpuSet::of_mask(text),
        _ => None,
    }
}

/// A value without a cell's CPUs, where it is one of CPUs.
fn narrowed(what: SettingKind, value: &str, cell: &CpuSet, rest: &CpuSet) -> Option<String> {
    let left = set(what, value)?.outside(cell, rest);
    Some(if what == SettingKind::CpuMask { left.to_mask() } else { left.to_string() })
}

/// Whether a set of CPUs lies within another: one that was narrowed by us and is about to be
/// widened.
fn is_within(what: SettingKind, small: &str, large: &str) -> bool {
    let sets = set(what, small).zip(set(what, large));
    sets.is_some_and(|(small, large)| small.is_subset(&large))
}

/// Gives threads back the masks that another cell knows of, where the kernel forgot them when this
/// one went.
fn narrow_again(root: &Root, other: &CellJournal, open: &CpuSet, away: &CpuSet) {
    for change in other.changes.iter().filter(|change| !change.is_kept() || other.has_group()) {
        if change.what == SettingKind::Affinity
            && change.current(root).is_ok_and(|now| was_widened(change, &now, open, away))
        {
            // Where this fails the thread has gone.
            let _ = change.make(root);
        }
    }
}

/// Gives threads that were created while the cell stood the masks that their creators get, and
/// notes them in `widened`. Threads that may have inherited their masks or chosen them are
/// returned, and left as they are.
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
