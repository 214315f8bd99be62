//! Undoes a plan in reverse, but only settings that still have the plan's values.

use super::drop_in::DropIn;
use super::setting;
use crate::{PlannedService, living};
use seatmap_cell::undo::{forgotten_masks, lost, overwritten, refusal};
use seatmap_cell::{CellJournal, JournalEntry, Left, SettingChange, SettingKind, fault};
use seatmap_os::heirs::{Loan, QUIET_LOOKS, SeatLedger};
use seatmap_os::layout::CpusetMounts;
use seatmap_os::owed::ThreadMask;
use seatmap_os::task::Family;
use seatmap_os::{CpuSet, Root};
use std::io;

/// Returns the settings that could not be restored. The journal is removed anyway, or another
/// program's change would keep it.
///
/// # Errors
/// The journal cannot be removed.
pub fn undo(
    root: &Root,
    mut journal: CellJournal,
    services: &[PlannedService],
) -> io::Result<Vec<Left>> {
    let layout = CpusetMounts::read(root);
    journal.append_or_take(vec![JournalEntry::Undo]);
    let mut left = Vec::from_iter(lost(&journal));
    for change in journal.changes.iter().rev() {
        if setting::may_be(change, &layout) {
            left.extend(put_back(root, change));
        } else {
            let path = journal.path.display();
            let why = format!("a plan never makes this change; {path} is damaged or forged");
            left.push(Left::new(&change.path, why));
        }
        fault::point();
    }
    if journal.changes.iter().any(|change| DropIn::of(&change.path).is_some()) {
        let reloaded = setting::reload_units();
        left.extend(reloaded.err().map(|error| Left::new(error.path, error.source.to_string())));
    }
    let mut widened = Vec::new();
    // Threads that may have chosen their mask keep it. Without /proc there were none to seat.
    let _ = ledger(root, &journal, services).settle(QUIET_LOOKS, |heir| {
        let ThreadMask { tid, started_ticks, cpus } = &heir.thread;
        let heir = SettingChange::of_mask(*tid, *started_ticks, cpus, &heir.seat);
        left.extend(put_back(root, &heir));
        widened.push(heir);
        Ok(())
    });
    let changes = journal.changes.iter().chain(&widened);
    left.extend(forgotten_masks(root, changes, &CpuSet::default()));
    journal.remove()?;
    fault::point();
    Ok(left)
}

fn put_back(root: &Root, change: &SettingChange) -> Option<Left> {
    if let Some(drop_in) = DropIn::of(&change.path) {
        return take_away(root, change, drop_in);
    }
    let current = match setting::current(root, change) {
        Ok(current) => current,
        // The setting ended with its thread or group.
        Err(error) => return refusal(change, Err(error)),
    };
    if setting::is_old(root, change, &current) {
        return None;
    }
    if !change.same(&current, &change.new) && !change.is_given(&current) {
        return overwritten(change, &current);
    }
    refusal(change, setting::set(root, change, &change.old))
}

/// Removes systemd's file for a property, unless it has another program's value.
fn take_away(root: &Root, change: &SettingChange, drop_in: DropIn) -> Option<Left> {
    let current = setting::current(root, change).ok()?;
    if !setting::is_old(root, change, &current) {
        return None;
    }
    let error = drop_in.remove(root).err()?;
    Some(Left::new(&change.path, error.source.to_string()))
}

fn ledger(root: &Root, journal: &CellJournal, services: &[PlannedService]) -> SeatLedger {
    let mut ledger = SeatLedger::since(journal.header.began_ticks.unwrap_or(0));
    for change in journal.changes.iter().filter(|change| change.what == SettingKind::Affinity) {
        let tid = change.path.strip_prefix("/proc/").and_then(|tid| tid.parse().ok());
        let masks = CpuSet::of_list(&change.new).zip(CpuSet::of_list(&change.old));
        if let (Some(tid), Some(started_ticks), Some((seat, cpus))) =
            (tid, change.started_ticks, masks)
        {
            let pid = Family::of(tid).map_or(tid, |family| family.pid);
            ledger.lend(Loan { pid, thread: ThreadMask { tid, started_ticks, cpus }, seat });
        }
    }
    // Threads in the journal count as "on their seats": their own lines restore them.
    for planned in services {
        let pids = living::processes(root, &planned.service).unwrap_or_default();
        pids.into_iter().for_each(|pid| ledger.take_in(pid));
    }
    ledger
}
