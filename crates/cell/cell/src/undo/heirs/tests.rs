//! Simulated processes: threads with inherited, chosen or unclear masks.

use super::*;
use crate::JournalEntry;
use crate::tests::{journal_since, set};

const BEGAN: u64 = 1000;

fn journal(
    folder: &tempfile::TempDir,
    serial: u64,
    cpus: &str,
    masks: &[(Tid, &str, &str)],
) -> CellJournal {
    let cell = format!("c{serial}");
    let mut journal = journal_since(folder.path(), &cell, cpus, serial, Some(BEGAN));
    let changes = masks
        .iter()
        .map(|(tid, old, new)| SettingChange::of_mask(*tid, started_ticks(*tid), old, new));
    journal.note(&changes.collect::<Vec<_>>()).unwrap();
    journal
}

/// Below 100: older than the cells.
fn started_ticks(tid: Tid) -> u64 {
    if tid < 100 { tid as u64 } else { BEGAN + tid as u64 }
}

fn thread(tid: Tid, pid: Tid, parent: Tid, mask: &str) -> Thread {
    let name = format!("t{tid}");
    let started_ticks = started_ticks(tid);
    let stat = format!(
        "{tid} ({name}) S {parent} {pid} 10 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {started_ticks}"
    );
    let task = ThreadStat::parse(tid, pid, &stat).unwrap();
    Thread { task, mask: set(mask) }
}

fn found(
    masks: &[(Tid, &str, &str)],
    threads: Vec<Thread>,
) -> (Vec<(String, String)>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    family(&journal(&folder, 1, "6-7", masks), &[], "0-7", threads)
}

fn family(
    cell: &CellJournal,
    others: &[CellJournal],
    open: &str,
    threads: Vec<Thread>,
) -> (Vec<(String, String)>, Vec<String>) {
    let root = Root::new("/nowhere");
    let found = Family::new(&root, cell, others, &set(open), threads.into_iter()).found();
    let heirs = found.heirs.into_iter().map(|heir| (heir.path, heir.old)).collect();
    (heirs, found.unclear.into_iter().map(|left| left.path).collect())
}

fn heir(tid: Tid, old: &str) -> (String, String) {
    (format!("/proc/{tid}"), set(old).to_string())
}

#[test]
fn heirs_inherit_restored_masks_over_any_generations() {
    let masks = [(10, "0-7", "0-5"), (20, "4-7", "4-5")];
    let threads = vec![
        thread(10, 10, 9, "0-5"),
        thread(100, 10, 9, "0-5"),
        thread(101, 101, 10, "0-5"),
        thread(102, 102, 101, "0-5"),
        thread(20, 20, 9, "4-5"),
        thread(103, 103, 20, "4-5"),
    ];
    let heirs = vec![heir(100, "0-7"), heir(101, "0-7"), heir(102, "0-7"), heir(103, "4-7")];
    assert_eq!(found(&masks, threads), (heirs, Vec::new()));
}

#[test]
fn existing_and_chosen_masks_are_kept() {
    let masks = [(10, "0-7", "0-5"), (20, "0-5", "0-5")];
    let threads = vec![
        thread(10, 10, 9, "0-5"),
        // A pinned thread and its child; a thread that chose this mask; one with another parental
        // mask.
        thread(20, 20, 9, "0-5"),
        thread(100, 100, 20, "0-5"),
        thread(30, 30, 9, "0-5"),
        thread(40, 40, 9, "3"),
        thread(101, 101, 40, "0-5"),
        // A mask that the cell did not give.
        thread(102, 102, 10, "2"),
    ];
    assert_eq!(found(&masks, threads), (Vec::new(), Vec::new()));
}

#[test]
fn threads_of_unknown_origin_are_not_widened() {
    let masks = [
        (10, "0-7", "0-5"),
        (11, "0-5", "0-5"),
        (20, "0-7", "0-5"),
        (21, "0-6", "0-5"),
        (50, "0-7", "0-5"),
    ];
    let mut stranger = thread(104, 104, 50, "0-5");
    stranger.task.session = 77;
    let threads = vec![
        thread(1, 1, 0, "0-7"),
        // Processes with both kinds of threads, or with threads that get different masks.
        thread(10, 10, 9, "0-5"),
        thread(11, 10, 9, "0-5"),
        thread(100, 10, 9, "0-5"),
        thread(20, 20, 9, "0-5"),
        thread(21, 20, 9, "0-5"),
        thread(101, 101, 20, "0-5"),
        // The parent has exited, and process 1 or one of another session adopted the children.
        thread(102, 102, 1, "0-5"),
        thread(50, 50, 9, "0-5"),
        stranger,
        // A parent in between with another mask.
        thread(105, 105, 50, "3"),
        thread(106, 106, 105, "0-5"),
        // An invisible parent.
        thread(107, 107, 99, "0-5"),
    ];
    let unclear = [100, 101, 102, 104, 106, 107].map(|tid| format!("thread {tid} (t{tid})"));
    assert_eq!(found(&masks, threads), (Vec::new(), unclear.into()));
}

#[test]
fn new_session_does_not_make_an_orphan() {
    let mut own = thread(100, 100, 10, "0-5");
    own.task.session = 100;
    let threads = vec![thread(10, 10, 9, "0-5"), own];
    assert_eq!(found(&[(10, "0-7", "0-5")], threads).0, [heir(100, "0-7")]);
}

#[test]
fn existing_cell_keeps_its_cpus() {
    let folder = tempfile::tempdir().unwrap();
    let older = journal(&folder, 1, "6-7", &[(10, "0-7", "0-5")]);
    let younger = journal(&folder, 2, "4-5", &[(10, "0-5", "0-3"), (101, "0-5", "0-3")]);
    let threads =
        vec![thread(10, 10, 9, "0-3"), thread(100, 100, 10, "0-3"), thread(101, 101, 10, "0-3")];
    // The younger cell recorded the second thread.
    let heirs = vec![heir(100, "0-3,6-7"), heir(101, "0-7")];
    assert_eq!(family(&older, &[younger], "0-3,6-7", threads), (heirs, Vec::new()));
}

#[test]
fn control_group_cell_has_no_heirs() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder, 1, "6-7", &[(10, "0-7", "0-5")]);
    journal.append(&[JournalEntry::Change(SettingChange::folder("/cg/seatmap.c1"))]).unwrap();
    let threads = vec![thread(10, 10, 9, "0-5"), thread(100, 100, 10, "0-5")];
    assert_eq!(family(&journal, &[], "0-7", threads), (Vec::new(), Vec::new()));
}
