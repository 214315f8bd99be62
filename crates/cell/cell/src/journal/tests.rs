//! Journals that are complete, truncated or foreign.

use super::*;
use proptest::prelude::*;

fn header() -> CellJournalHeader {
    CellJournalHeader::new(&"quiet".parse().unwrap(), "2-3", 7, None)
}

fn change(path: &str) -> SettingChange {
    SettingChange { path: path.into(), ..SettingChange::folder("") }
}

fn written(folder: &Path) -> CellJournal {
    let mut journal = CellJournal::begin(&folder.join("j"), "boot", header()).unwrap();
    journal.note(&[change("/a"), change("/b")]).unwrap();
    journal.append(&[JournalEntry::Done]).unwrap();
    journal
}

fn read(folder: &Path) -> Option<CellJournal> {
    CellJournal::read(&folder.join("j"), "boot").unwrap()
}

#[test]
fn round_trip_keeps_journal() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = written(folder.path());
    let found = read(folder.path()).unwrap();
    assert_eq!(
        (&found.header, &found.changes, found.stage),
        (&header(), &journal.changes, CellStage::Standing)
    );
    let rebase = JournalEntry::Rebase { path: "/b".into(), old: "0".into(), new: "1".into() };
    journal.append(&[JournalEntry::Undo, rebase]).unwrap();
    let found = read(folder.path()).unwrap();
    assert_eq!((found.stage, found.changes[1].old.as_str()), (CellStage::Leaving, "0"));
    assert_eq!(found.changes, journal.changes, "writer and reader agree");
}

#[test]
fn journal_of_another_boot_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    assert!(CellJournal::read(&folder.path().join("j"), "another").unwrap().is_none());
    assert!(
        CellJournal::begin(&folder.path().join("j"), "boot", header()).is_err(),
        "nobody else's is written over"
    );
}

#[test]
fn damaged_lines_are_counted_and_others_kept() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let path = folder.path().join("j");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let of = |damaged: usize, by: &str| {
        let text: Vec<&str> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| if at == damaged { by } else { line })
            .collect();
        fs::write(&path, text.join("\n")).unwrap();
        let found = read(folder.path()).unwrap();
        (found.header.cell.to_string(), found.changes.len(), found.stage, found.lost)
    };
    assert_eq!(
        of(0, "xx"),
        ("j".to_owned(), 2, CellStage::Standing, 1),
        "the file's name is the cell's"
    );
    assert_eq!(of(1, "\u{0}\u{0}"), ("quiet".to_owned(), 1, CellStage::Standing, 1));
    assert_eq!(of(3, "{\"entry\":\"done\"}"), ("quiet".to_owned(), 2, CellStage::Building, 1));
    assert_eq!(
        of(3, &lines[3][..9]),
        ("quiet".to_owned(), 2, CellStage::Building, 0),
        "torn, and so never done"
    );
    fs::write(&path, "xx\n").unwrap();
    assert!(read(folder.path()).is_none(), "of which boot it was nobody knows");
}

#[test]
fn line_after_a_torn_one_is_intact() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let path = folder.path().join("j");
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 4);
    fs::write(&path, bytes).unwrap();
    let mut journal = read(folder.path()).unwrap();
    assert_eq!(journal.stage, CellStage::Building);
    journal.append(&[JournalEntry::Undo]).unwrap();
    assert_eq!(read(folder.path()).unwrap().stage, CellStage::Leaving);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn truncated_journal_keeps_earlier_changes(cut in 0usize..1000) {
        let folder = tempfile::tempdir().unwrap();
        let whole = written(folder.path());
        let path = folder.path().join("j");
        let mut bytes = fs::read(&path).unwrap();
        bytes.truncate(cut);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        fs::write(&path, &bytes).unwrap();
        if let Some(found) = read(folder.path()) {
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
        prop_assert!(CellJournal::read(&path, "boot").unwrap().is_none());
    }

    #[test]
    fn reader_survives_any_lines(lines in prop::collection::vec("\\{\"boot_id\":\"boot\",\"entry\":\"(begin|change|undo|done|x)\".{0,20}\\}", 0..9)) {
        let folder = tempfile::tempdir().unwrap();
        written(folder.path());
        let path = folder.path().join("j");
        let text = fs::read_to_string(&path).unwrap() + &lines.join("\n");
        fs::write(&path, text).unwrap();
        prop_assert_eq!(read(folder.path()).unwrap().changes.len(), 2);
    }
}

#[test]
#[should_panic(expected = "broke an invariant: journal: cell quiet is made, and was Standing")]
fn second_completion_entry_panics() {
    let folder = tempfile::tempdir().unwrap();
    let _ = written(folder.path()).append(&[JournalEntry::Done]);
}

#[test]
#[should_panic(expected = "cell quiet has recorded no change of /c before its rebase")]
fn rebase_of_an_unrecorded_change_panics() {
    let folder = tempfile::tempdir().unwrap();
    let rebase = JournalEntry::Rebase { path: "/c".into(), old: "0".into(), new: "1".into() };
    let _ = written(folder.path()).append(&[rebase]);
}
