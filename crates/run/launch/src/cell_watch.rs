//! Whether a cell stands for as long as a program runs in it: a lease may end, and somebody may
//! destroy it.

use seatmap_cell::{CellError, CellHost, CellRecord, Name};
use seatmap_os::boot;
use serde::Serialize;
use std::time::{Duration, Instant};

/// The time between two looks, as long as between those at a program that has settled.
const PACE: Duration = Duration::from_millis(100);

/// The end of a cell in which a program ran.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellEnd {
    /// The cell's name.
    pub cell: String,
    /// When it was found gone, in seconds after the program had begun.
    pub after_s: f64,
    /// Whether its lease had ended; it was destroyed otherwise.
    pub by_lease: bool,
}

impl CellEnd {
    /// The end and its meaning for the program, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let CellEnd { cell, after_s, by_lease } = self;
        let ended = if *by_lease { "ended with its lease" } else { "was destroyed" };
        format!(
            "the cell '{cell}' {ended} {after_s:.1} s after the program had begun: from then on \
             the program had neither quiet CPUs nor seats"
        )
    }
}

/// Looks after the cell of a program.
#[derive(Debug)]
pub struct CellWatch {
    host: CellHost,
    name: Name,
    /// When the lease ends, in seconds after the boot, as the last look found it.
    expires_s: Option<u64>,
    began: Instant,
    due: Instant,
    end: Option<CellEnd>,
}

impl CellWatch {
    pub(crate) fn begin(host: &CellHost, cell: &CellRecord) -> Self {
        CellWatch {
            host: host.clone(),
            name: cell.name.clone(),
            expires_s: cell.expires_s,
            began: Instant::now(),
            due: Instant::now() + PACE,
            end: None,
        }
    }

    /// Looks, unless the last look was just now.
    pub(crate) fn look(&mut self) {
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
            // An error of another kind says nothing about the cell.
            Err(_) => {}
        }
    }

    /// The end of the cell, where it has ended by now.
    pub(crate) fn end(&mut self) -> Option<CellEnd> {
        self.look_now();
        self.end.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_told_with_its_time() {
        let end = |by_lease| CellEnd { cell: "quiet".to_owned(), after_s: 2.04, by_lease };
        assert!(end(true).sentence().starts_with(
            "the cell 'quiet' ended with its lease 2.0 s after the program had begun: from then on"
        ));
        assert!(end(false).sentence().starts_with("the cell 'quiet' was destroyed 2.0 s after"));
    }
}
