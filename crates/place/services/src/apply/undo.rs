//! Undoes a plan in reverse, but only settings that still have the plan's values.

use super::drop_in::DropIn;
use super::setting;
use crate::living;
use crate::plan::PlannedService;
use seatmap_cell::change::{SettingChange, SettingKind};
use seatmap_cell::fault;
use seatmap_cell::journal::{CellJournal, JournalEntry};
use seatmap_cell::undo::{Left, forgotten_masks};
use seatmap_data::statistics::words::agreeing;
use seatmap_os::heirs::{Loan, QUIET_LOOKS, SeatLedger, StillSeated};
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
    let mut left = Vec::new();
    if journal.lost > 0 {
        let path = journal.path().display().to_string();
        let are = agreeing(journal.lost, "is", "are");
        let why = format!(
            "{} of its lines {are} damaged; changes recorded there are not undone",
            journal.lost
        );
        left.push(Left::new(path, why));
    }
    for change in journal.changes.iter().rev() {
        if setting::may_be(change, &layout) {
            left.extend(put_back(root, change));
        } else {
            let path = journal.path().display();
            let why = format!("a plan never makes this change; {path} is damaged or forged");
            left.push(Left::new(change.path.clone(), why));
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
        let heir = change_of(heir);
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
        Err(error) if error.is_absent() => return None,
        Err(error) => return left(change, error.source.to_string()),
    };
    if setting::is_old(root, change, &current) {
        return None;
    }
    if !change.same(&current, &change.new) && !change.is_given(&current) {
        return left(
            change,
            format!("another program changed it to '{current}'; it was '{}'", change.old),
        );
    }
    let put = setting::set(root, change, &change.old);
    put.err()
        .filter(|error| !error.is_absent())
        .and_then(|error| left(change, error.source.to_string()))
}

/// Removes systemd's file for a property, unless it has another program's value.
fn take_away(root: &Root, change: &SettingChange, drop_in: DropIn) -> Option<Left> {
    let current = setting::current(root, change).ok()?;
    if !setting::is_old(root, change, &current) {
        return None;
    }
    drop_in.remove(root).err().and_then(|error| left(change, error.source.to_string()))
}

fn left(change: &SettingChange, why: String) -> Option<Left> {
    Some(Left::new(change.path.clone(), why))
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

fn change_of(heir: &StillSeated) -> SettingChange {
    SettingChange {
        what: SettingKind::Affinity,
        path: format!("/proc/{}", heir.thread.tid),
        old: heir.thread.cpus.to_string(),
        new: heir.seat.to_string(),
        started_ticks: Some(heir.thread.started_ticks),
    }
}
