//! Watches whether a cell lasts while a program runs in it.

use seatmap_cell::{CellError, CellHost, CellRecord, Name};
use seatmap_os::boot;
use serde::Serialize;
use std::time::{Duration, Instant};

/// The time between two looks, as for a quiet program.
const PACE: Duration = Duration::from_millis(100);

/// The end of a program's cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellEnd {
    /// The cell's name.
    pub cell: String,
    /// When its absence was noticed, in seconds after the program's start.
    pub after_s: f64,
    /// Whether its lease ended; otherwise it was destroyed.
    pub by_lease: bool,
}

impl CellEnd {
    /// The end and its meaning, in a sentence.
    pub fn sentence(&self) -> String {
        let CellEnd { cell, after_s, by_lease } = self;
        let ended = if *by_lease { "ended with its lease" } else { "was destroyed" };
        format!(
            "the cell '{cell}' {ended} {after_s:.1} s after the program started: from then on the \
             program had neither quiet CPUs nor seats"
        )
    }
}

/// Watches a program's cell.
#[derive(Debug)]
pub struct CellWatch {
    host: CellHost,
    name: Name,
    /// In seconds after the boot, at the last look.
    expires_s: Option<u64>,
    began: Instant,
    due: Instant,
    end: Option<CellEnd>,
}

impl CellWatch {
    pub fn begin(host: &CellHost, cell: &CellRecord) -> Self {
        CellWatch {
            host: host.clone(),
            name: cell.name.clone(),
            expires_s: cell.expires_s,
            began: Instant::now(),
            due: Instant::now() + PACE,
            end: None,
        }
    }

    pub fn look(&mut self) {
        if Instant::now() >= self.due {
            self.look_now();
            self.due = Instant::now() + PACE;
        }
    }

    fn look_now(&mut self) {
        match self.host.cell(&self.name) {
            Ok(record) => self.expires_s = record.expires_s,
            Err(CellError::NoSuchCell(_)) if self.end.is_none() => {
                self.end = Some(CellEnd {
                    cell: self.name.to_string(),
                    after_s: self.began.elapsed().as_secs_f64(),
                    by_lease: self.expires_s.is_some_and(|end| end <= boot::seconds()),
                });
            }
            // Another error says nothing about the cell.
            Err(_) => {}
        }
    }

    pub fn end(&mut self) -> Option<CellEnd> {
        self.look_now();
        self.end.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_end_is_reported_with_time() {
        let end = |by_lease| CellEnd { cell: "quiet".to_owned(), after_s: 2.04, by_lease };
        assert!(end(true).sentence().starts_with(
            "the cell 'quiet' ended with its lease 2.0 s after the program started: from then on"
        ));
        assert!(end(false).sentence().starts_with("the cell 'quiet' was destroyed 2.0 s after"));
    }
}
