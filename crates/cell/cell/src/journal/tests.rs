//! Journals that are complete, truncated or foreign.

use super::*;
use proptest::prelude::*;

fn header() -> CellJournalHeader {
    CellJournalHeader::new(&"quiet".parse().unwrap(), "2-3", 7, None)
}

fn change(path: &str) -> SettingChange {
    SettingChange { path: path.into(), ..SettingChange::folder("") }
}

/// The journal in a new folder.
fn written() -> (tempfile::TempDir, CellJournal) {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = CellJournal::begin(&folder.path().join("j"), "boot", header()).unwrap();
    journal.note(&[change("/a"), change("/b")]).unwrap();
    journal.append(&[JournalEntry::Done]).unwrap();
    (folder, journal)
}

fn read(path: &Path) -> Option<CellJournal> {
    CellJournal::read(path, "boot").unwrap()
}

#[test]
fn round_trip_keeps_journal() {
    let (_folder, mut journal) = written();
    let found = read(&journal.path).unwrap();
    assert_eq!(
        (&found.header, &found.changes, found.stage),
        (&header(), &journal.changes, CellStage::Standing)
    );
    let rebase = JournalEntry::Rebase { path: "/b".into(), old: "0".into(), new: "1".into() };
    journal.append(&[JournalEntry::Undo, rebase]).unwrap();
    let found = read(&journal.path).unwrap();
    assert_eq!((found.stage, found.changes[1].old.as_str()), (CellStage::Leaving, "0"));
    assert_eq!(found.changes, journal.changes, "writer and reader agree");
}

#[test]
fn journal_of_another_boot_is_ignored() {
    let (_folder, CellJournal { path, .. }) = written();
    assert!(CellJournal::read(&path, "another").unwrap().is_none());
    let again = CellJournal::begin(&path, "boot", header());
    assert!(again.is_err(), "no other program's is written over");
}

#[test]
fn damaged_lines_are_counted_and_others_kept() {
    let (_folder, CellJournal { path, .. }) = written();
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let of = |damaged: usize, by: &str| {
        let mut text = lines.clone();
        text[damaged] = by;
        fs::write(&path, text.join("\n")).unwrap();
        let found = read(&path).unwrap();
        (found.header.cell.to_string(), found.changes.len(), found.stage, found.lost)
    };
    for (at, by, name, changes, stage, lost) in [
        // The file's name is the cell's.
        (0, "xx", "j", 2, CellStage::Standing, 1),
        (1, "\u{0}\u{0}", "quiet", 1, CellStage::Standing, 1),
        (3, "{\"entry\":\"done\"}", "quiet", 2, CellStage::Building, 1),
        // Torn, and so never done.
        (3, &lines[3][..9], "quiet", 2, CellStage::Building, 0),
    ] {
        assert_eq!(of(at, by), (name.to_owned(), changes, stage, lost), "{by}");
    }
    fs::write(&path, "xx\n").unwrap();
    assert!(read(&path).is_none(), "its boot is unknown");
}

#[test]
fn line_after_a_torn_one_is_intact() {
    let (_folder, CellJournal { path, .. }) = written();
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 4);
    fs::write(&path, bytes).unwrap();
    let mut journal = read(&path).unwrap();
    assert_eq!(journal.stage, CellStage::Building);
    journal.append(&[JournalEntry::Undo]).unwrap();
    assert_eq!(read(&path).unwrap().stage, CellStage::Leaving);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn truncated_journal_keeps_earlier_changes(cut in 0usize..1000) {
        let (_folder, whole) = written();
        let mut bytes = fs::read(&whole.path).unwrap();
        bytes.truncate(cut);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        fs::write(&whole.path, &bytes).unwrap();
        if let Some(found) = read(&whole.path) {
            prop_assert!(whole.changes.starts_with(&found.changes));
            prop_assert!(found.changes.len() + 1 >= lines.min(3));
        } else {
            prop_assert!(lines == 0);
        }
    }

    #[test]
    fn reader_survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        fs::write(&path, bytes).unwrap();
        prop_assert!(read(&path).is_none());
    }

    #[test]
    fn reader_survives_any_lines(lines in prop::collection::vec("\\{\"boot_id\":\"boot\",\"entry\":\"(begin|change|undo|done|x)\".{0,20}\\}", 0..9)) {
        let (_folder, CellJournal { path, .. }) = written();
        let text = fs::read_to_string(&path).unwrap() + &lines.join("\n");
        fs::write(&path, text).unwrap();
        prop_assert_eq!(read(&path).unwrap().changes.len(), 2);
    }
}

#[test]
#[should_panic(expected = "broke an invariant: journal: cell quiet is made, and was Standing")]
fn second_completion_entry_panics() {
    let (_folder, mut journal) = written();
    let _ = journal.append(&[JournalEntry::Done]);
}

#[test]
#[should_panic(expected = "cell quiet has recorded no change of /c before its rebase")]
fn rebase_of_an_unrecorded_change_panics() {
    let (_folder, mut journal) = written();
    let rebase = JournalEntry::Rebase { path: "/c".into(), old: "0".into(), new: "1".into() };
    let _ = journal.append(&[rebase]);
}
