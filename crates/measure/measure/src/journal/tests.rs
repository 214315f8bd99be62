//! Journals of this run and of others, and invalid files.

use super::*;
use crate::floor::FLOOR_NS;
use proptest::prelude::*;
use std::path::PathBuf;

const RESOLUTION_NS: f64 = 0.1;

fn header() -> JournalHeader {
    let machine = MachineIdentity {
        name: "here".into(),
        cpu_model: Some("Xeon A".into()),
        ..MachineIdentity::default()
    };
    let options = JournalOptions {
        least_passes: 3,
        most_passes: 9,
        batches: 16,
        round_trips: 50,
        homes: 1,
        ..JournalOptions::default()
    };
    JournalHeader { machine, pus: vec![0, 1, 5], options, seed: 1 }
}

fn batches(ns: f64) -> VisitBatches {
    VisitBatches {
        round_trip_ns: vec![ns, ns + 1.0],
        discards: Discards { gap: 2, switched: 0, moved: 1 },
    }
}

fn open(path: &Path) -> File {
    File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

fn resume(path: &Path, header: &JournalHeader) -> Result<(Journal, Vec<PairVisit>), JournalError> {
    Journal::resume(path, open(path), header, RESOLUTION_NS)
}

fn journal() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut journal = Journal::create(&path, open(&path), &header()).unwrap();
    journal.record(0, (0, 1), &batches(80.0)).unwrap();
    journal.record(1, (1, 2), &batches(90.0)).unwrap();
    (folder, path)
}

fn told<T: AsRef<[u8]>>(change: impl Fn(&str) -> T) -> String {
    let (_folder, path) = journal();
    std::fs::write(&path, change(&std::fs::read_to_string(&path).unwrap())).unwrap();
    resume(&path, &header()).unwrap_err().to_string()
}

#[test]
fn journal_round_trip_keeps_records() {
    let (_folder, path) = journal();
    let (mut again, records) = resume(&path, &header()).unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!((records[1].pass, records[1].batches()), (1, batches(90.0)));
    again.record(2, (0, 2), &batches(80.0)).unwrap();
    drop(again);
    let (again, records) = resume(&path, &header()).unwrap();
    assert_eq!(records.len(), 3);
    again.remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn two_runs_cannot_share_a_journal() {
    let (_folder, path) = journal();
    let first = resume(&path, &header()).unwrap();
    assert!(matches!(resume(&path, &header()), Err(JournalError::Busy { .. })));
    assert!(matches!(
        Journal::create(&path, open(&path), &header()),
        Err(JournalError::Busy { .. })
    ));
    assert_eq!(first.1.len(), 2);
    drop(first);
    assert_eq!(resume(&path, &header()).unwrap().1.len(), 2);
}

#[test]
fn truncated_line_is_dropped_and_overwritten() {
    let (_folder, path) = journal();
    let text = std::fs::read_to_string(&path).unwrap();
    for cut in 1..40 {
        std::fs::write(&path, &text[..text.len() - cut]).unwrap();
        let (mut again, records) = resume(&path, &header()).unwrap();
        assert_eq!(records.len(), 1, "cut {cut}");
        again.record(1, (1, 2), &batches(90.0)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn run_killed_before_its_header_starts_over() {
    let (_folder, path) = journal();
    let text = std::fs::read_to_string(&path).unwrap();
    for begun in ["", &text[..20]] {
        std::fs::write(&path, begun).unwrap();
        assert_eq!(resume(&path, &header()).unwrap().1, []);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().next(), text.lines().next());
    }
}

type Change = fn(&mut JournalHeader);

#[test]
fn journal_of_another_run_is_refused_with_a_reason() {
    let (_folder, path) = journal();
    let others: [(Change, &str); 13] = [
        (|header| header.pus = vec![0, 1, 2], "CPUs: 0,1,5 in the journal, 0-2 now"),
        (|header| header.seed = 7, "--seed: 1 in the journal, 7 now"),
        (|header| header.machine.name = "other".into(), "machine: here in the journal, other now"),
        (
            |header| header.machine.cpu_model = Some("Xeon B".into()),
            "processor: Xeon A in the journal, Xeon B now",
        ),
        (|header| header.machine.cpu_model = None, "processor: Xeon A in the journal, unknown now"),
        (|header| header.machine.boot_id = Some("b".into()), "boot: unknown in the journal, b now"),
        (
            |header| header.machine.figures = Some("f".into()),
            "hash of the machine's figures: unknown in the journal, f now",
        ),
        (
            |header| header.options.most_passes = 3,
            "--quick, --thorough or --passes: 3 to 9 passes of 16 batches in the journal, 3 passes of 16 batches now",
        ),
        (
            |header| header.options.round_trips = 99,
            "round trips per batch: 50 in the journal, 99 now",
        ),
        (|header| header.options.parallel = true, "--parallel: false in the journal, true now"),
        (|header| header.options.homes = 64, "--homes: 1 in the journal, 64 now"),
        (
            |header| header.options.utilisation_percent = 50,
            "--utilisation: 0 in the journal, 50 now",
        ),
        (|header| header.options.loaded = true, "--loaded: false in the journal, true now"),
    ];
    let before = std::fs::read(&path).unwrap();
    for (change, what) in others {
        let mut other = header();
        change(&mut other);
        let error = resume(&path, &other).unwrap_err().to_string();
        let wanted = format!(
            "{}: it belongs to another run ({what}); repeat that run's options, or run without --resume to start over",
            path.display()
        );
        assert_eq!(error, wanted);
        assert_eq!(std::fs::read(&path).unwrap(), before, "it is left as it was");
    }
}

#[test]
fn journal_of_another_version_is_refused() {
    let error = told(|text| text.replace("journal/2", "journal/1"));
    let wanted = "journal: its format is 'seatmap-journal/1', but this program reads seatmap-journal/2; \
                  run without --resume to start over";
    assert!(error.ends_with(wanted), "{error}");
    assert!(told(|_| "hello\n".to_owned()).contains("journal:1: no seatmap-journal/2 header"));
    assert!(
        told(|text| text.replace("\"seed\":1,", "").replace(",\"seed\":1", ""))
            .contains("journal:1: missing field `seed`")
    );
}

#[test]
fn impossible_record_is_damage() {
    let changes = [
        ("\"j\":2", "\"j\":7", "a pair outside this run"),
        ("\"i\":1,\"j\":2", "\"i\":2,\"j\":1", "a pair outside this run"),
        ("\"pass\":1", "\"pass\":9", "a pass outside this run"),
        ("\"90 91\"", "\"\"", "too many or too few batches for a visit"),
        (
            "\"90 91\"",
            "\"9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\"",
            "too many or too few batches for a visit",
        ),
        ("[2,", "[4294967296,", "too many or too few batches for a visit"),
        ("[2,0,1]}\n", "[18446744073709551615,1,1]}\n", "too many or too few batches for a visit"),
        ("\"90 91\"", "\"-90 91\"", "a round trip outside 0 to 2 s"),
        ("\"90 91\"", "\"1e300 91\"", "a round trip outside 0 to 2 s"),
        ("\"90 91\"", "\"NaN 91\"", "a round trip outside 0 to 2 s"),
        ("\"90 91\"", "\"inf 91\"", "a round trip outside 0 to 2 s"),
        ("\"90 91\"", "\"0.5 0.5\"", "a round trip faster than two L1 cache hits"),
        ("\"90 91\"", "\"90 0.5\"", "a round trip faster than two L1 cache hits"),
        ("\"90 91\"", "\"90 ninety\"", "'ninety' is not a number"),
        ("\"90 91\"", "[90,91]", "invalid type: sequence"),
    ];
    for (right, wrong, problem) in changes {
        let error = told(|text| text.replace(right, wrong));
        assert!(error.contains("journal:3: ") || error.contains("journal:2: "), "{error}");
        assert!(error.contains(problem) && error.contains("; delete the file"), "{wrong}: {error}");
    }
}

#[test]
fn duplicate_visit_and_other_text_are_damage_of_their_line() {
    let again = |text: &str| text.lines().last().unwrap().as_bytes().to_vec();
    let duplicate = told(|text| [text.as_bytes(), &again(text), b"\n"].concat());
    assert!(duplicate.contains("journal:4: duplicate visit"), "{duplicate}");
    let other = told(|text| [text.as_bytes(), b"{\"pass\":\xff}\n"].concat());
    assert!(other.contains("journal:4: not UTF-8 text"), "{other}");
}

fn line() -> impl Strategy<Value = String> {
    let figure = prop_oneof![
        4 => (0.0f64..500.0).prop_map(|ns| ns.to_string()),
        1 => any::<f64>().prop_map(|ns| ns.to_string()),
        1 => "[0-9eE.+-]{1,8}|NaN|inf| ",
    ];
    let figures = prop::collection::vec(figure, 0..20).prop_map(|figures| figures.join(" "));
    let count = prop_oneof![4 => (0u64..30).boxed(), 1 => any::<u64>().boxed()];
    let record = (0usize..12, 0usize..4, 0usize..4, figures, prop::array::uniform3(count)).prop_map(
        |(pass, i, j, ns, discarded)| {
            format!("{{\"pass\":{pass},\"i\":{i},\"j\":{j},\"ns\":\"{ns}\",\"discarded\":{discarded:?}}}")
        },
    );
    prop_oneof![8 => record, 1 => ".{0,60}"]
}

proptest! {
    #[test]
    fn figures_round_trip_to_the_last_bit(ticks in prop::collection::vec(1u64..1 << 40, 1..17), ns_per_tick in 0.1f64..100.0) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let round_trip_ns: Vec<f64> = ticks.iter().map(|ticks| FLOOR_NS + *ticks as f64 * ns_per_tick / 5e6).collect();
        let visit = VisitBatches { round_trip_ns, ..VisitBatches::default() };
        Journal::create(&path, open(&path), &header()).unwrap().record(0, (0, 1), &visit).unwrap();
        let (_, records) = resume(&path, &header()).unwrap();
        let bits = |batches: &VisitBatches| batches.round_trip_ns.iter().map(|ns| ns.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&records[0].batches()), bits(&visit));
    }

    #[test]
    fn reader_survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), has_head: bool) {
        let (_folder, path) = journal();
        let head = std::fs::read(&path).unwrap();
        let head = head.split_inclusive(|byte| *byte == b'\n').next().filter(|_| has_head).unwrap_or_default();
        std::fs::write(&path, [head, &bytes, b"\n"].concat()).unwrap();
        let _ = resume(&path, &header());
    }

    #[test]
    fn accepted_records_are_plausible(lines in prop::collection::vec(line(), 0..4)) {
        let (_folder, path) = journal();
        let head = std::fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
        std::fs::write(&path, head + "\n" + &lines.join("\n") + "\n").unwrap();
        let Ok((_, records)) = resume(&path, &header()) else { return Ok(()) };
        for (at, record) in records.iter().enumerate() {
            prop_assert!(record.i < record.j && record.j < 3 && record.pass < 9);
            prop_assert!((1..=16).contains(&record.ns.len()));
            prop_assert!(record.ns.iter().all(|ns| (FLOOR_NS - RESOLUTION_NS..=2e9).contains(ns)), "{:?}", record);
            prop_assert!(record.discarded.iter().sum::<u64>() <= 20 * 16);
            prop_assert!(!records[..at].iter().any(|other| (other.pass, other.i, other.j) == (record.pass, record.i, record.j)));
        }
    }
}
