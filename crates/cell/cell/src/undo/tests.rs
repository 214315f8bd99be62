//! Undoing, on a tree of files.

use super::*;
use crate::tests::{journal, read, set};
use std::path::Path;

const IRQ: &str = "/proc/irq/1/smp_affinity_list";
const VALUE: &str = "/proc/sys/vm/stat_interval";
const PAGES: &str = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages";

fn computer() -> (tempfile::TempDir, Root) {
    let files =
        [("/sys/devices/system/cpu/online", "0-7"), (IRQ, "0-7"), (VALUE, "1"), (PAGES, "5")];
    let folder = seatmap_needs::tree(&files);
    let root = Root::new(folder.path());
    (folder, root)
}

fn cell(folder: &Path, root: &Root, serial: u64, cpus: &str) -> CellJournal {
    let mut journal = journal(folder, &format!("c{serial}"), cpus, serial);
    let irq = set(&root.read(IRQ).unwrap()).without(&journal.header.set()).to_string();
    let pages = root.read(PAGES).unwrap().parse::<u32>().unwrap() + 2;
    let change = |what, path, new: &str| SettingChange::of_file(root, what, path, new).unwrap();
    let pages = change(SettingKind::Count, PAGES, &pages.to_string());
    for change in
        [change(SettingKind::Cpus, IRQ, &irq), change(SettingKind::Value, VALUE, "120"), pages]
    {
        journal.append(&[JournalEntry::Change(change.clone())]).unwrap();
        change.make(root).unwrap();
    }
    journal.append(&[JournalEntry::Done]).unwrap();
    journal
}

fn told(left: &[Left]) -> Vec<String> {
    left.iter().map(Left::to_string).collect()
}

fn state(root: &Root) -> [String; 3] {
    [IRQ, VALUE, PAGES].map(|path| root.read(path).unwrap())
}

#[test]
fn changes_are_restored_and_the_journal_ends() {
    let (folder, root) = computer();
    let before = state(&root);
    let journal = cell(folder.path(), &root, 1, "6-7");
    assert_eq!(state(&root), ["0-5", "120", "7"]);
    let path = journal.path.clone();
    assert_eq!(undo(&root, journal, &mut []).unwrap(), []);
    assert_eq!((state(&root), path.exists()), (before, false));
}

#[test]
fn changes_by_others_are_left_and_reported() {
    let (folder, root) = computer();
    let journal = cell(folder.path(), &root, 1, "6-7");
    root.write(IRQ, "3").unwrap();
    root.write(PAGES, "9").unwrap();
    assert_eq!(
        told(&undo(&root, journal, &mut []).unwrap()),
        ["/proc/irq/1/smp_affinity_list is not restored: another program changed it to '3'; it \
          was '0-7'"]
    );
    assert_eq!(state(&root), ["3", "1", "7"], "only the pages that were added are taken");
}

/// CPU 4 was offline at the cell's creation; on its return, the kernel gave its thread the whole
/// node.
#[test]
fn widened_mask_is_restored_with_the_new_cpu() {
    assert_eq!(widened("0-3", "0-2", "0-2,4").as_deref(), Some("0-4"));
    assert_eq!(widened("0-3", "0-2", "0-4").as_deref(), Some("0-4"));
    assert_eq!(widened("0-3", "0-2", "0-2"), None, "as the cell left it");
    assert_eq!(widened("0-3", "0-2", "1"), None, "somebody narrowed it");
    let change = mask_change(&format!("/proc/{}", task::own_tid()), "0-3", "0");
    assert_eq!(widened_by_kernel(&change, "0-3"), None, "a thread of a user, widened by another");
}

#[test]
fn absent_or_unmade_changes_need_no_undo() {
    let (folder, root) = computer();
    let mut journal = cell(folder.path(), &root, 1, "6-7");
    journal
        .note(&[SettingChange::of_file(&root, SettingKind::Value, VALUE, "0").unwrap()])
        .unwrap();
    std::fs::remove_file(root.path(IRQ)).unwrap();
    assert_eq!(undo(&root, journal, &mut []).unwrap(), []);
    assert_eq!(root.read(VALUE).unwrap(), "1");
}

#[test]
fn refused_changes_are_not_a_fault() {
    let (folder, root) = computer();
    let journals =
        [(1, "6-7"), (2, "4-5")].map(|(serial, cpus)| cell(folder.path(), &root, serial, cpus));
    root.write(IRQ, "0-7").unwrap();
    let [first, second] = journals;
    assert_eq!(undo(&root, first, &mut [second]).unwrap(), []);
    assert_eq!(root.read(IRQ).unwrap(), "0-7");
}

#[test]
fn only_received_pages_are_removed() {
    let (folder, root) = computer();
    let mut journal = cell(folder.path(), &root, 1, "6-7");
    journal.stage = CellStage::Building;
    root.write(PAGES, "6").unwrap();
    assert_eq!(undo(&root, journal, &mut []).unwrap(), []);
    assert_eq!(root.read(PAGES).unwrap(), "5");
}

/// An undoing process may die after any change.
#[test]
fn removed_pages_are_not_removed_twice() {
    for stage in [CellStage::Building, CellStage::Standing] {
        let (folder, root) = computer();
        let mut journal = cell(folder.path(), &root, 1, "6-7");
        journal.stage = stage;
        journal.append(&[counts(&root, &journal), vec![JournalEntry::Undo]].concat()).unwrap();
        for written in ["7", "5", "5"] {
            root.write(PAGES, written).unwrap();
            let again = read(&journal.path);
            assert_eq!(again.stage, CellStage::Leaving);
            assert_eq!(take_away(&root, again.of_path(PAGES).unwrap()), None);
            assert_eq!(root.read(PAGES).unwrap(), "5", "{stage:?}");
        }
    }
}

#[test]
fn damaged_journal_is_undone_as_far_as_readable() {
    let (folder, root) = computer();
    let CellJournal { path, .. } = cell(folder.path(), &root, 1, "6-7");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[2] = "damaged";
    std::fs::write(&path, lines.join("\n")).unwrap();
    let left = undo(&root, read(&path), &mut []).unwrap();
    assert_eq!(state(&root), ["0-7", "120", "5"]);
    let wanted = format!(
        "{} is not restored: 1 of its lines is damaged; changes recorded there are not undone",
        path.display()
    );
    assert_eq!(told(&left), [wanted]);
}

#[test]
fn undo_needs_no_disk_space() {
    let (folder, root) = computer();
    let before = state(&root);
    let journal = cell(folder.path(), &root, 1, "6-7");
    // Can be removed but not written.
    std::fs::remove_file(&journal.path).unwrap();
    std::os::unix::fs::symlink(folder.path().join("none/none"), &journal.path).unwrap();
    assert_eq!(undo(&root, journal, &mut []).unwrap(), []);
    assert_eq!(state(&root), before);
}

fn mount_small_disk(folder: &Path) -> bool {
    let place = std::ffi::CString::new(folder.to_str().unwrap()).unwrap();
    // SAFETY: all affect only this thread's mounts, and the texts end with a zero byte.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                std::ptr::null(),
                c"/".as_ptr(),
                std::ptr::null(),
                libc::MS_REC | libc::MS_PRIVATE,
                std::ptr::null(),
            ) == 0
            && libc::mount(
                c"none".as_ptr(),
                place.as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                c"size=64k,mode=755".as_ptr().cast(),
            ) == 0
    }
}

fn go_on_full_disk(root: &Root, run: &Path, keeps_room: bool) {
    let before = state(root);
    if !mount_small_disk(run) {
        return seatmap_needs::skipped!("no disk can be mounted here");
    }
    let older = cell(run, root, 1, "6-7");
    let mut younger = cell(run, root, 2, "4-5");
    let page_is_full = |journal: &CellJournal| journal.path.metadata().unwrap().len() % 4096 > 3950;
    while !page_is_full(&younger) {
        let SettingChange { path, old, new, .. } = younger.of_path(VALUE).unwrap().clone();
        younger.append(&[JournalEntry::Rebase { path, old, new }]).unwrap();
    }
    if keeps_room {
        younger.reserve(1).unwrap();
    }
    let rest = run.join("rest");
    assert!(std::fs::write(&rest, vec![b'x'; 1 << 17]).is_err(), "the disk is full");
    let went = undo(root, older.clone(), &mut [younger.clone()]);
    assert_eq!(went.is_ok(), keeps_room, "{went:?}");
    assert_eq!(older.path.exists(), !keeps_room, "what is not undone is still known");
    if !keeps_room {
        assert_eq!(went.unwrap_err().kind(), io::ErrorKind::StorageFull);
        std::fs::remove_file(rest).unwrap();
        assert_eq!(undo(root, read(&older.path), &mut [read(&younger.path)]).unwrap(), []);
    }
    assert_eq!(state(root)[..2], ["0-3,6,7", "120"]);
    assert_eq!(undo(root, read(&younger.path), &mut []).unwrap(), []);
    assert_eq!(state(root), before);
}

#[test]
fn full_disk_loses_nothing() {
    for keeps_room in [true, false] {
        let (folder, root) = computer();
        let run = folder.path().join("run");
        std::fs::create_dir(&run).unwrap();
        std::thread::spawn(move || go_on_full_disk(&root, &run, keeps_room)).join().unwrap();
    }
}

#[test]
fn cells_are_undone_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (folder, root) = computer();
        let before = state(&root);
        let cells = [(1, "6-7"), (2, "4-5"), (3, "2")];
        let cells = cells.map(|(serial, cpus)| cell(folder.path(), &root, serial, cpus).path);
        for going in order {
            let alive = cells.iter().enumerate().filter(|(at, path)| *at != going && path.exists());
            let mut others: Vec<CellJournal> = alive.map(|(_, path)| read(path)).collect();
            assert_eq!(undo(&root, read(&cells[going]), &mut others).unwrap(), [], "{order:?}");
            let kept: CpuSet = others.iter().flat_map(|other| other.header.set()).collect();
            let irq = set(&root.read(IRQ).unwrap());
            assert_eq!(irq, set("0-7").without(&kept), "{order:?} after {going}");
            assert_eq!(root.read(VALUE).unwrap() == "120", !others.is_empty());
        }
        assert_eq!(state(&root), before, "{order:?}");
    }
}

fn mask_change(path: &str, old: &str, new: &str) -> SettingChange {
    SettingChange::new(SettingKind::Affinity, path, old, new)
}

#[test]
fn default_mask_of_heirs_excludes_isolated_cpus() {
    let (folder, root) = computer();
    std::fs::write(root.path("/sys/devices/system/cpu/isolated"), "4-7").unwrap();
    let mut journal = cell(folder.path(), &root, 1, "2-3");
    let changes = [("/proc/1", "0-3", "0-1"), ("/proc/2", "1-2", "1"), ("/proc/3", "0", "0")];
    journal.note(&changes.map(|(path, old, new)| mask_change(path, old, new))).unwrap();
    let by_default = by_default(&root, &set("0-7"), &set("2-3"));
    assert_eq!(by_default, set("0-3"));
    let narrowed = narrowed_whole(&journal, &by_default);
    assert_eq!(narrowed, BTreeMap::from([(set("0-1"), set("0-3"))]));
    std::fs::write(root.path("/sys/devices/system/cpu/isolated"), "2-3").unwrap();
    let own = super::by_default(&root, &set("0-7"), &set("2-3"));
    assert_eq!(own, set("0-7"), "a kernel that counts the cell itself among the isolated CPUs");
}

#[test]
fn mask_chosen_meanwhile_is_kept() {
    let path = format!("/proc/{}", task::own_tid());
    let root = Root::new("/");
    let kept = mask_change(&path, "4000", "4000");
    let online = set("4000-4001");
    assert_eq!(put_back(&root, &kept, &online, &CpuSet::default()), None);
    let changed = mask_change(&path, "4000", "4001");
    let left = put_back(&root, &changed, &online, &CpuSet::default());
    assert!(left.is_some_and(|left| left.why.contains("another program changed it")));
}
