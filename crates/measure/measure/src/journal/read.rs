//! Reads a journal.

use super::{FORMAT, JournalError, JournalHeader, PairVisit};
use crate::floor::impossible_ns;
use crate::matrix::MOST_VISITS;
use seatmap_data::document::json_problem;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::path::Path;

/// A second each way, longer than any memory access.
const MOST_NS: f64 = 2e9;

pub struct JournalReader<'a> {
    pub path: &'a Path,
    pub header: &'a JournalHeader,
    pub resolution_ns: f64,
}

#[derive(Deserialize)]
struct Format {
    format: String,
}

impl JournalReader<'_> {
    pub fn records(&self, text: &str) -> Result<Vec<PairVisit>, JournalError> {
        let mut lines = text.lines();
        self.check_head(lines.next().unwrap_or_default())?;
        let mut visited = HashSet::new();
        let mut records = Vec::new();
        for (at, line) in lines.enumerate() {
            let record: PairVisit = self.parsed(at + 2, line)?;
            let is_new = visited.insert((record.pass, record.i, record.j));
            let doubt = self.doubt(&record).or((!is_new).then_some("duplicate visit"));
            if let Some(doubt) = doubt {
                return Err(self.damaged(at + 2, doubt.to_owned()));
            }
            records.push(record);
        }
        Ok(records)
    }

    fn check_head(&self, line: &str) -> Result<(), JournalError> {
        let Format { format } = seatmap_data::document::from_json(line).map_err(|error| {
            self.damaged(1, format!("no {FORMAT} header: {}", json_problem(error)))
        })?;
        if format != FORMAT {
            return Err(JournalError::Version {
                path: self.path.to_owned(),
                found: format,
                known: FORMAT,
            });
        }
        // The format first, because another version may have other keys.
        let theirs: JournalHeader = self.parsed(1, line)?;
        match self.header.difference(&theirs) {
            Some(what) => Err(JournalError::OtherRun { path: self.path.to_owned(), what }),
            None => Ok(()),
        }
    }

    fn parsed<T: DeserializeOwned>(&self, line: usize, text: &str) -> Result<T, JournalError> {
        seatmap_data::document::from_json(text)
            .map_err(|error| self.damaged(line, json_problem(error)))
    }

    fn damaged(&self, line: usize, problem: String) -> JournalError {
        JournalError::Damaged { path: self.path.to_owned(), line, problem }
    }

    fn doubt(&self, record: &PairVisit) -> Option<&'static str> {
        let options = &self.header.options;
        let is_pair = record.i < record.j && record.j < self.header.pus.len();
        let is_pass = record.pass < options.most_passes as usize;
        let batches = record
            .discarded
            .iter()
            .fold(record.ns.len() as u64, |sum, count| sum.saturating_add(*count));
        let is_visit = !record.ns.is_empty()
            && record.ns.len() <= options.batches as usize
            && batches <= u64::from(MOST_VISITS) * u64::from(options.batches);
        let is_finite = record.ns.iter().all(|ns| (0.0..=MOST_NS).contains(ns));
        let is_possible = impossible_ns(&record.ns, self.resolution_ns).is_none();
        [
            (is_pair, "a pair outside this run"),
            (is_pass, "a pass outside this run"),
            (is_visit, "too many or too few batches for a visit"),
            (is_finite, "a round trip outside 0 to 2 s"),
            (is_possible, "a round trip faster than two L1 cache hits"),
        ]
        .into_iter()
        .find_map(|(is_right, doubt)| (!is_right).then_some(doubt))
    }
}
