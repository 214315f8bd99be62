//! Finished pairs on file, so that no interruption loses them.

mod error;
mod lines;

pub use error::JournalError;
pub(crate) use lines::Lines;

use crate::probe::{Batches, Discards};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The format's name.
const FORMAT: &str = "seatmap-journal/1";

/// What a journal belongs to. A run may only go on where all of it is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The machine.
    pub machine: String,
    /// OS indices, in matrix order.
    pub pus: Vec<u32>,
    /// Timed batches a visit.
    pub batches: u32,
    /// Round trips a batch.
    pub round_trips: u32,
}

/// One visit, as it stands on its line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The pass, from 0.
    pub pass: usize,
    /// One row of the matrix.
    pub i: usize,
    /// The other.
    pub j: usize,
    /// Round-trip nanoseconds, a value a batch.
    pub ns: Vec<f64>,
    /// Batches thrown away: gap, switched, moved.
    pub discarded: [u64; 3],
}

/// A journal open for appending: one JSON line a visit, so that a SIGKILL loses at most the visit under way.
#[derive(Debug)]
pub struct Journal(Lines);

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    #[serde(flatten)]
    header: Header,
}

impl Journal {
    /// A new journal; an old one at this place is overwritten.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        Ok(Journal(Lines::create(path, &Head { format: FORMAT.to_owned(), header: header.clone() })?))
    }

    /// Opens a journal to go on where it ends, and returns what it holds. A last line cut short is dropped. Where there
    /// is no journal a new one is begun.
    ///
    /// # Errors
    /// A journal of another run, or none at all.
    pub fn resume(path: &Path, header: &Header) -> Result<(Self, Vec<Record>), JournalError> {
        if !path.exists() {
            return Ok((Self::create(path, header)?, Vec::new()));
        }
        let (mut lines, text) = Lines::resume(path)?;
        let records = read_lines(path, &text, header)?;
        lines.cut(&text)?;
        Ok((Journal(lines), records))
    }

    /// Appends one visit.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn record(&mut self, pass: usize, (i, j): (usize, usize), batches: &Batches) -> Result<(), JournalError> {
        let Discards { gap, switched, moved } = batches.discards;
        let ns = batches.round_trip_ns.iter().map(|ns| (ns * 100.0).round() / 100.0).collect();
        self.0.write(&Record { pass, i, j, ns, discarded: [gap, switched, moved] })
    }

    /// Deletes the journal: what it held is safe elsewhere.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn remove(self) -> Result<(), JournalError> {
        self.0.remove()
    }
}

impl Record {
    /// What the visit brought.
    #[must_use]
    pub fn batches(&self) -> Batches {
        let [gap, switched, moved] = self.discarded;
        Batches { round_trip_ns: self.ns.clone(), discards: Discards { gap, switched, moved } }
    }
}

fn read_lines(path: &Path, text: &str, header: &Header) -> Result<Vec<Record>, JournalError> {
    let damaged = |line: usize, problem: String| JournalError::Damaged { path: path.to_owned(), line, problem };
    let mut lines = text.lines();
    let head: Head = serde_json::from_str(lines.next().unwrap_or_default())
        .map_err(|error| damaged(1, format!("no {FORMAT} header: {error}")))?;
    let other_run = |what| JournalError::OtherRun { path: path.to_owned(), what };
    if head.format != FORMAT {
        return Err(other_run("another format"));
    }
    if let Some(what) = difference(&head.header, header) {
        return Err(other_run(what));
    }
    let records: Result<Vec<Record>, _> = lines
        .enumerate()
        .map(|(at, line)| {
            let record: Record = serde_json::from_str(line).map_err(|error| damaged(at + 2, error.to_string()))?;
            if possible(&record, header) { Ok(record) } else { Err(damaged(at + 2, "no visit of this run".to_owned())) }
        })
        .collect();
    records
}

/// Whether a run with this header can have written it.
fn possible(record: &Record, header: &Header) -> bool {
    let pair = record.i != record.j && record.i.max(record.j) < header.pus.len();
    let figures = record.ns.iter().all(|ns| (0.0..=MAX_ROUND_TRIP_NS).contains(ns));
    pair && figures && record.pass < MAX_PASSES && record.discarded.iter().all(|count| *count <= MAX_DISCARDED)
}

/// A second each way, beyond any memory.
const MAX_ROUND_TRIP_NS: f64 = 2e9;

/// Batches thrown away in one visit: sums over all visits fit their type.
const MAX_DISCARDED: u64 = u32::MAX as u64;

/// No run makes more passes; a journal that claims to would only fill the memory.
const MAX_PASSES: usize = 1_000_000;

fn difference(theirs: &Header, ours: &Header) -> Option<&'static str> {
    [
        ("another machine", theirs.machine != ours.machine),
        ("other CPUs", theirs.pus != ours.pus),
        ("other batches", (theirs.batches, theirs.round_trips) != (ours.batches, ours.round_trips)),
    ]
    .into_iter()
    .find_map(|(what, differs)| differs.then_some(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn header() -> Header {
        Header { machine: "here".into(), pus: vec![0, 1, 5], batches: 16, round_trips: 50 }
    }

    fn batches(ns: f64) -> Batches {
        Batches { round_trip_ns: vec![ns, ns + 1.0], discards: Discards { gap: 2, switched: 0, moved: 1 } }
    }

    fn journal() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::create(&path, &header()).unwrap();
        journal.record(0, (0, 1), &batches(80.0)).unwrap();
        journal.record(1, (1, 2), &batches(90.0)).unwrap();
        (folder, path)
    }

    #[test]
    fn what_was_recorded_comes_back() {
        let (_folder, path) = journal();
        let (mut again, records) = Journal::resume(&path, &header()).unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!((records[1].pass, records[1].batches()), (1, batches(90.0)));
        again.record(2, (0, 2), &batches(1.0)).unwrap();
        drop(again);
        let (again, records) = Journal::resume(&path, &header()).unwrap();
        assert_eq!(records.len(), 3);
        again.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn two_runs_do_not_share_a_journal() {
        let (_folder, path) = journal();
        let first = Journal::resume(&path, &header()).unwrap();
        assert!(matches!(Journal::resume(&path, &header()), Err(JournalError::Busy { .. })));
        assert!(matches!(Journal::create(&path, &header()), Err(JournalError::Busy { .. })));
        assert_eq!(first.1.len(), 2);
        drop(first);
        assert_eq!(Journal::resume(&path, &header()).unwrap().1.len(), 2);
    }

    #[test]
    fn a_line_cut_short_is_dropped_and_written_over() {
        let (_folder, path) = journal();
        let text = std::fs::read_to_string(&path).unwrap();
        for cut in 1..40 {
            std::fs::write(&path, &text[..text.len() - cut]).unwrap();
            let (mut again, records) = Journal::resume(&path, &header()).unwrap();
            assert_eq!(records.len(), 1, "cut {cut}");
            again.record(1, (1, 2), &batches(90.0)).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn another_run_is_not_continued() {
        let (_folder, path) = journal();
        let other = Header { pus: vec![0, 1, 2], ..header() };
        let error = Journal::resume(&path, &other).unwrap_err().to_string();
        assert!(error.contains("other CPUs"), "{error}");
        std::fs::write(&path, "hello\n").unwrap();
        assert!(matches!(Journal::resume(&path, &header()), Err(JournalError::Damaged { line: 1, .. })));
    }

    #[test]
    fn a_record_that_no_run_can_have_written_is_damage() {
        let (_folder, path) = journal();
        let text = std::fs::read_to_string(&path).unwrap();
        for (true_one, bad) in
            [("\"j\":2", "\"j\":7"), ("[90.0", "[-90.0"), ("[90.0", "[1e300"), ("[2,", "[4294967296,")]
        {
            std::fs::write(&path, text.replace(true_one, bad)).unwrap();
            let refused = Journal::resume(&path, &header());
            assert!(matches!(refused, Err(JournalError::Damaged { .. })), "{bad}");
        }
    }
}
