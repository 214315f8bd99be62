//! The state of the screen: what is selected, sorted and typed.

use super::row::{RowId, TopRow};
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeSet;
use std::time::Duration;

/// The usual time between two looks.
pub const USUAL_INTERVAL: Duration = Duration::from_millis(1500);

/// A column by which the table is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The process.
    Pid,
    /// The thread.
    Tid,
    /// Its name.
    Name,
    /// The CPU of the last look.
    Cpu,
    /// The CPUs that it may run on.
    Mask,
    /// The CPUs of the seat that it should have.
    Seat,
    /// The share of one CPU.
    #[default]
    Load,
    /// The time that it waited for a CPU.
    Wait,
    /// Switches.
    Switches,
    /// Changes of CPU.
    Migrations,
    /// Wake-ups.
    Wakeups,
}

impl Sort {
    /// All, from left to right.
    pub const ALL: [Sort; 11] = [
        Sort::Pid,
        Sort::Tid,
        Sort::Name,
        Sort::Cpu,
        Sort::Mask,
        Sort::Seat,
        Sort::Load,
        Sort::Wait,
        Sort::Switches,
        Sort::Migrations,
        Sort::Wakeups,
    ];

    /// The column so many places to the right; behind the last comes the first.
    pub(crate) fn moved(self, places: usize) -> Self {
        let at = Sort::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        Sort::ALL[(at + places) % Sort::ALL.len()]
    }
}

/// A question at the bottom of the screen, with the answer so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// Text to look for.
    Search(String),
    /// Text that a line must contain.
    Filter(String),
    /// The time between two looks, in seconds.
    Interval(String),
    /// The CPUs for the chosen threads.
    Pin(String),
    /// Whether these threads are to be bound to these CPUs.
    Confirm {
        /// The threads.
        tids: Vec<Tid>,
        /// The CPUs.
        cpus: CpuSet,
    },
}

/// The state of the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct TopView {
    /// The column that decides on the order.
    pub sort: Sort,
    /// Whether that order is the other way round.
    pub is_reversed: bool,
    /// Whether threads stand below their processes.
    pub is_tree: bool,
    /// Text that a line must contain.
    pub filter: String,
    /// The text last looked for.
    pub search: String,
    /// The threads that were tagged.
    pub tagged: BTreeSet<Tid>,
    /// Whether the selection stays with its thread when the order changes.
    pub follows: bool,
    /// The selected line.
    pub selected: Option<RowId>,
    /// The place of the selected line.
    pub at: usize,
    /// The place of the first line on the screen.
    pub first: usize,
    /// The lines that the table has on the screen.
    pub lines: usize,
    /// Whether looks are suspended.
    pub is_frozen: bool,
    /// Whether the table shows who wakes whom.
    pub shows_wakes: bool,
    /// Whether the help covers the table.
    pub shows_help: bool,
    /// The question that waits for an answer.
    pub prompt: Option<Prompt>,
    /// The result of the last action.
    pub message: String,
    /// The time between two looks.
    pub interval: Duration,
    /// The CPUs that threads can be bound to.
    pub cpus: CpuSet,
}

impl Default for TopView {
    fn default() -> Self {
        TopView {
            sort: Sort::Load,
            is_reversed: false,
            is_tree: false,
            filter: String::new(),
            search: String::new(),
            tagged: BTreeSet::new(),
            follows: false,
            selected: None,
            at: 0,
            first: 0,
            lines: 10,
            is_frozen: false,
            shows_wakes: false,
            shows_help: false,
            prompt: None,
            message: String::new(),
            interval: USUAL_INTERVAL,
            cpus: CpuSet::default(),
        }
    }
}

impl TopView {
    /// The state for the lines that are there now: the selection exists and is on the screen.
    #[must_use]
    pub fn settled(mut self, rows: &[TopRow]) -> Self {
        let followed = self.selected.filter(|_| self.follows);
        let found = followed.and_then(|id| rows.iter().position(|row| row.id == id));
        // A thread that has ended cannot be followed, and the selection stays at its place.
        self.follows &= found.is_some();
        let at = found.unwrap_or(self.at);
        self.select(at, rows)
    }

    /// With this line selected, or the last one where there are fewer.
    #[must_use]
    pub(crate) fn select(mut self, at: usize, rows: &[TopRow]) -> Self {
        self.at = at.min(rows.len().saturating_sub(1));
        self.selected = rows.get(self.at).map(|row| row.id);
        let lines = self.lines.max(1);
        // Scrolls no further than the selection needs, in either direction.
        self.first = self.first.min(self.at).max((self.at + 1).saturating_sub(lines));
        // A table that became shorter leaves no empty lines below its last one.
        self.first = self.first.min(rows.len().saturating_sub(lines));
        self
    }

    /// The threads that an action is about: the tagged ones that are shown, else those of the
    /// selected line.
    #[must_use]
    pub(crate) fn chosen(&self, rows: &[TopRow]) -> Vec<Tid> {
        let shown: BTreeSet<Tid> =
            rows.iter().flat_map(|row| row.threads.iter().copied()).collect();
        // A filter may hide tagged threads, and nothing is done to a thread that is not seen.
        let tagged: Vec<Tid> = self.tagged.intersection(&shown).copied().collect();
        if tagged.is_empty() {
            rows.get(self.at).map(|row| row.threads.clone()).unwrap_or_default()
        } else {
            tagged
        }
    }
}
