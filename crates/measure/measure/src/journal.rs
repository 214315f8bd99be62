//! A file of finished pairs, so that an interruption does not lose them.
//!
//! A journal is accepted only if this run could have written it: the header matches the computer,
//! boot, processor and options, no figure is faster than a cache, and no visit occurs twice.
//! Figures are stored exactly, so a resumed run ends with the figures of an uninterrupted one.

mod error;
mod exact;
mod header;
mod lines;
mod read;

pub use error::JournalError;
pub use header::{JournalHeader, JournalOptions, MachineIdentity};
pub use lines::JsonLines;

use crate::probe::{Discards, VisitBatches};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

const FORMAT: &str = "seatmap-journal/2";

/// One visit, as on its line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct PairVisit {
    /// Pass, from 0.
    pub pass: usize,
    /// A row of the matrix.
    pub i: usize,
    /// A later row.
    pub j: usize,
    /// Nanoseconds per round trip, one value per batch.
    #[serde(with = "exact")]
    pub ns: Vec<f64>,
    /// Discarded batches: gap, switched, moved.
    pub discarded: [u64; 3],
}

/// A journal open for appending, one JSON line per visit: a SIGKILL loses at most the current
/// visit.
#[derive(Debug)]
pub struct Journal(JsonLines);

#[derive(Serialize)]
struct Head<'a> {
    format: &'static str,
    #[serde(flatten)]
    header: &'a JournalHeader,
}

impl Journal {
    /// Starts a journal in a file open for reading and writing, and discards its contents.
    ///
    /// # Errors
    /// [`JournalError::Io`], [`JournalError::Busy`].
    pub fn create(path: &Path, file: File, header: &JournalHeader) -> Result<Self, JournalError> {
        Ok(Journal(JsonLines::create(path, file, &Head { format: FORMAT, header })?))
    }

    /// Resumes the journal in a file open for reading and writing, and returns its visits. An
    /// incomplete last line is dropped; an empty file becomes a new journal.
    ///
    /// # Errors
    ///
    /// The journal belongs to another run or version, or no run could have written its contents.
    pub fn resume(
        path: &Path,
        file: File,
        header: &JournalHeader,
        resolution_ns: f64,
    ) -> Result<(Self, Vec<PairVisit>), JournalError> {
        let (mut lines, text) = JsonLines::resume(path, file)?;
        if text.is_empty() {
            lines.cut(&text)?;
            lines.write(&Head { format: FORMAT, header })?;
            return Ok((Journal(lines), Vec::new()));
        }
        let records = read::JournalReader { path, header, resolution_ns }.records(&text)?;
        lines.cut(&text)?;
        Ok((Journal(lines), records))
    }

    /// Appends one visit.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn record(
        &mut self,
        pass: usize,
        (i, j): (usize, usize),
        batches: &VisitBatches,
    ) -> Result<(), JournalError> {
        let Discards { gap, switched, moved } = batches.discards;
        self.0.write(&PairVisit {
            pass,
            i,
            j,
            ns: batches.round_trip_ns.clone(),
            discarded: [gap, switched, moved],
        })
    }

    /// Deletes the journal, once its contents are saved.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn remove(self) -> Result<(), JournalError> {
        self.0.remove()
    }
}

impl PairVisit {
    /// The batches of the visit.
    pub fn batches(&self) -> VisitBatches {
        let [gap, switched, moved] = self.discarded;
        VisitBatches { round_trip_ns: self.ns.clone(), discards: Discards { gap, switched, moved } }
    }
}

#[cfg(test)]
mod tests;
