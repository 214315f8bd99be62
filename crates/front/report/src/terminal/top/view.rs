//! The state of the screen: selection, order and input.

use super::row::{RowId, TopRow};
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeSet;
use std::time::Duration;

/// A column that the table can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sort {
    /// The process ID.
    Pid,
    /// The thread ID.
    Tid,
    /// The thread's name.
    Name,
    /// The CPU in the last sample.
    Cpu,
    /// The allowed CPUs.
    Mask,
    /// The CPUs of its planned seat.
    Seat,
    /// The load as a share of one CPU.
    #[default]
    Load,
    /// The time spent waiting for a CPU.
    Wait,
    /// Context switches.
    Switches,
    /// Changes of CPU.
    Migrations,
    /// Wake-ups.
    Wakeups,
}

/// A question at the bottom of the screen, with the answer so far.
#[derive(Clone, Debug, PartialEq)]
pub enum Prompt {
    /// Text to look for.
    Search(String),
    /// Text that a row must contain.
    Filter(String),
    /// The time between two samples, in seconds.
    Interval(String),
    /// The CPUs for the chosen threads.
    Pin(String),
    /// Whether to pin these threads to these CPUs.
    Confirm {
        /// Threads.
        tids: Vec<Tid>,
        /// CPUs.
        cpus: CpuSet,
    },
}

/// The state of the screen.
#[derive(Clone, Default)]
pub struct TopView {
    /// Column of the order.
    pub sort: Sort,
    /// Whether the order is reversed.
    pub is_reversed: bool,
    /// Whether threads are listed below their processes.
    pub is_tree: bool,
    /// Text that a row must contain.
    pub filter: String,
    /// The last searched text.
    pub search: String,
    /// Tagged threads.
    pub tagged: BTreeSet<Tid>,
    /// Whether the selection stays with its thread when the order changes.
    pub follows: bool,
    /// Selected row.
    pub selected: Option<RowId>,
    /// Index of the selected row.
    pub at: usize,
    /// Index of the first row on the screen.
    pub first: usize,
    /// Rows on the screen.
    pub lines: usize,
    /// Whether sampling is suspended.
    pub is_frozen: bool,
    /// Whether the table shows who wakes whom.
    pub shows_wakes: bool,
    /// Whether the help covers the table.
    pub shows_help: bool,
    /// Open question.
    pub prompt: Option<Prompt>,
    /// Result of the last action.
    pub message: String,
    /// Time between two samples.
    pub interval: Duration,
    /// CPUs that threads can be pinned to.
    pub cpus: CpuSet,
}

impl TopView {
    /// Keeps the selected row within the current rows and on the screen.
    pub fn settle(&mut self, rows: &[TopRow]) {
        let followed = self.selected.filter(|_| self.follows);
        let found = followed.and_then(|id| rows.iter().position(|row| row.id == id));
        // An ended thread cannot be followed; the selection keeps its index.
        self.follows &= found.is_some();
        let at = found.unwrap_or(self.at);
        self.select(at, rows);
    }

    /// Selects a row, at most the last.
    pub fn select(&mut self, at: usize, rows: &[TopRow]) {
        self.at = at.min(rows.len().saturating_sub(1));
        self.selected = rows.get(self.at).map(|row| row.id);
        let lines = self.lines.max(1);
        // Scroll no further than the selection needs, in either direction.
        self.first = self.first.min(self.at).max((self.at + 1).saturating_sub(lines));
        // Leave no empty lines below the last row if the table became shorter.
        self.first = self.first.min(rows.len().saturating_sub(lines));
    }

    /// The visible tagged threads or, without any, those of the selected row.
    pub fn chosen(&self, rows: &[TopRow]) -> Vec<Tid> {
        let shown = BTreeSet::from_iter(rows.iter().flat_map(|row| row.threads.iter().copied()));
        // A filter may hide tagged threads; actions never affect hidden threads.
        let tagged = Vec::from_iter(self.tagged.intersection(&shown).copied());
        let selected = rows.get(self.at).map(|row| row.threads.clone());
        if tagged.is_empty() { selected.unwrap_or_default() } else { tagged }
    }
}
