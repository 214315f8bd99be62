//! A file of finished runs, so that no interruption loses them.

use super::times::MappingTrial;
use super::{MappingTimes, Setup, Shard};
use seatmap_data::document::json_problem;
use seatmap_measure::journal::{JournalError, JsonLines};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

const FORMAT: &str = "seatmap-ranking-journal/1";

/// A journal's study. A study only continues if all of it is the same.
#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    shard: Option<Shard>,
    #[serde(flatten)]
    setup: Setup,
}

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    job: MappingTrial,
    ns: f64,
}

/// A journal open for appending: one JSON line per run.
#[derive(Debug)]
pub struct RankJournal(JsonLines);

impl RankJournal {
    /// Continues the journal in a file open for reading and writing, and fills in its times; an
    /// empty file becomes a new journal.
    ///
    /// # Errors
    /// The file is a journal of another study, is not a journal, or is in use by another process.
    pub fn open(
        path: &Path,
        file: File,
        setup: &Setup,
        shard: Option<Shard>,
        times: &mut MappingTimes,
    ) -> Result<Self, JournalError> {
        let (mut lines, text) = JsonLines::resume(path, file)?;
        if text.is_empty() {
            // Text without a line break is an interrupted start's header.
            lines.cut("")?;
            lines.write(&Head { format: FORMAT.to_owned(), shard, setup: setup.clone() })?;
        } else {
            fill(path, &text, (setup, shard), times)?;
            // Only after the check, so that a journal of another study stays as it is.
            lines.cut(&text)?;
        }
        Ok(RankJournal(lines))
    }

    /// Appends one run.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn record(&mut self, job: MappingTrial, ns: f64) -> Result<(), JournalError> {
        self.0.write(&Record { job, ns })
    }

    /// Deletes the journal, after its times are stored elsewhere.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn remove(self) -> Result<(), JournalError> {
        self.0.remove()
    }
}

fn fill(
    path: &Path,
    text: &str,
    (setup, shard): (&Setup, Option<Shard>),
    times: &mut MappingTimes,
) -> Result<(), JournalError> {
    let mut lines = text.lines();
    let head: Head = serde_json::from_str(lines.next().unwrap_or_default()).map_err(|error| {
        damaged(path, 1, format!("no {FORMAT} header: {}", json_problem(error)))
    })?;
    let other_part = (head.shard != shard).then_some("another --shard");
    let other_format = (head.format != FORMAT).then_some("another format");
    // The format first: nothing else of another one can be trusted.
    if let Some(what) = other_format.or(head.setup.difference(setup)).or(other_part) {
        return Err(JournalError::OtherRun { path: path.to_owned(), what: what.to_owned() });
    }
    for (at, line) in lines.enumerate() {
        let record: Record = serde_json::from_str(line)
            // Line 1 is the header, and editors count from 1.
            .map_err(|error| damaged(path, at + 2, json_problem(error)))?;
        if !times.set(record.job, record.ns) {
            return Err(damaged(
                path,
                at + 2,
                "not a run of this study, or a duplicate".to_owned(),
            ));
        }
    }
    Ok(())
}

fn damaged(path: &Path, line: usize, problem: String) -> JournalError {
    JournalError::Damaged { path: path.to_owned(), line, problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::setup::tests::setup;
    use std::path::PathBuf;

    fn times(setup: &Setup) -> MappingTimes {
        MappingTimes::new(setup.indices(None).unwrap(), setup.runs)
    }

    fn file(path: &Path) -> File {
        File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap()
    }

    fn journal() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal =
            RankJournal::open(&path, file(&path), &setup(4), None, &mut times(&setup(4))).unwrap();
        journal.record(MappingTrial { index: 3, run: 1 }, 20.5).unwrap();
        journal.record(MappingTrial { index: 0, run: 0 }, 10.25).unwrap();
        (folder, path)
    }

    fn opened(path: &Path, setup: &Setup, shard: Option<Shard>) -> Result<MappingTimes, String> {
        let mut times = times(setup);
        RankJournal::open(path, file(path), setup, shard, &mut times)
            .map_err(|error| error.to_string())?;
        Ok(times)
    }

    #[test]
    fn recorded_times_are_restored_without_truncated_line() {
        let (_folder, path) = journal();
        let times = opened(&path, &setup(4), None).unwrap();
        assert_eq!((times.known(), times.of_run(1)[3], times.of_run(0)[0]), (2, 20.5, 10.25));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 3]).unwrap();
        assert_eq!(opened(&path, &setup(4), None).unwrap().known(), 1);
    }

    #[test]
    fn journal_of_other_study_is_refused() {
        let (_folder, path) = journal();
        let told = |setup: Setup, shard| opened(&path, &setup, shard).unwrap_err();
        assert!(told(Setup { rounds: 11, ..setup(4) }, None).contains("other --rounds"));
        assert!(told(setup(5), None).contains("another pattern"));
        assert!(told(setup(4), Some(Shard { number: 1, of: 2 })).contains("another --shard"));
        std::fs::write(&path, "hello\n").unwrap();
        assert!(told(setup(4), None).contains("journal:1: no seatmap-ranking-journal/1 header"));
    }

    #[test]
    fn damaged_line_is_reported_with_its_number() {
        let (_folder, path) = journal();
        let text = std::fs::read_to_string(&path).unwrap();
        for (right, wrong) in [
            ("\"index\":0", "\"index\":6"),
            ("10.25", "-1"),
            ("\"index\":0,\"run\":0", "\"index\":3,\"run\":1"),
        ] {
            std::fs::write(&path, text.replace(right, wrong)).unwrap();
            let told = opened(&path, &setup(4), None).unwrap_err();
            assert!(told.contains("journal:3: not a run of this study"), "{told}");
        }
    }
}
