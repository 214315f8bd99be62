//! Finished pairs on file, so that no interruption loses them.
//!
//! A journal is believed only as far as a run can have written it: its header says of which
//! computer, boot, processor and options it is, its format's version is this one's, no figure lies
//! below what a cache can deliver, and no visit counts twice. Figures come back as they were to the
//! last bit, so that a run that goes on ends with the figures of one that was never interrupted.

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

/// The format's name.
const FORMAT: &str = "seatmap-journal/2";

/// One visit, as it stands on its line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairVisit {
    /// The pass, from 0.
    pub pass: usize,
    /// One row of the matrix.
    pub i: usize,
    /// A later row.
    pub j: usize,
    /// Round-trip nanoseconds, a value a batch.
    #[serde(with = "exact")]
    pub ns: Vec<f64>,
    /// Batches thrown away: gap, switched, moved.
    pub discarded: [u64; 3],
}

/// A journal open for appending: one JSON line a visit, so that a SIGKILL loses at most the visit
/// under way.
#[derive(Debug)]
pub struct Journal(JsonLines);

#[derive(Serialize)]
struct Head<'a> {
    format: &'static str,
    #[serde(flatten)]
    header: &'a JournalHeader,
}

impl Journal {
    /// Begins a journal in a file open for reading and writing; its former contents are lost.
    ///
    /// # Errors
    /// [`JournalError::Io`], [`JournalError::Busy`].
    pub fn create(path: &Path, file: File, header: &JournalHeader) -> Result<Self, JournalError> {
        Ok(Journal(JsonLines::create(path, file, &Head { format: FORMAT, header })?))
    }

    /// Goes on with the journal in a file open for reading and writing, and returns what it holds,
    /// from a clock with this resolution. A last line cut short is dropped; an empty file becomes a
    /// new journal.
    ///
    /// # Errors
    /// A journal of another run or another version, or with contents that no run can have written.
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

    /// Deletes the journal, once its contents are safe elsewhere.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn remove(self) -> Result<(), JournalError> {
        self.0.remove()
    }
}

impl PairVisit {
    /// The batches of the visit.
    #[must_use]
    pub fn batches(&self) -> VisitBatches {
        let [gap, switched, moved] = self.discarded;
        VisitBatches { round_trip_ns: self.ns.clone(), discards: Discards { gap, switched, moved } }
    }
}

#[cfg(test)]
mod tests;
