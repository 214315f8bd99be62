//! Everybody who came: the living by number, and the record of each.

use crate::mask::Tid;
use crate::record::Record;
use crate::seats::Seat;
use std::collections::HashMap;

/// Threads of which a record is kept, so that a program that creates threads for days does not fill the memory.
pub const MOST_RECORDS: usize = 10_000;

/// A thread that lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Living {
    /// Its record, where one is kept.
    pub record: Option<usize>,
    /// Its process; `None` until somebody looked.
    pub pid: Option<Tid>,
    /// When it started, to notice that its number went to another thread.
    pub started_ticks: Option<u64>,
    /// Its seat.
    pub seat: Option<Seat>,
}

/// Everybody who came.
#[derive(Clone, Debug, Default)]
pub struct Roll {
    records: Vec<Record>,
    living: HashMap<Tid, Living>,
    /// How many came.
    created: usize,
    /// How many of them were skipped.
    skipped: usize,
    /// How many never had a seat, the skipped left out.
    unseated: usize,
}

impl Roll {
    /// Enters a thread.
    pub(crate) fn enter(&mut self, tid: Tid, seat: Option<Seat>, skipped: bool, late: bool) {
        let kept = self.records.len() < MOST_RECORDS;
        let record = kept.then_some(self.records.len());
        if kept {
            self.records.push(Record::new(self.created, tid, seat, late));
        }
        self.living.insert(tid, Living { record, pid: None, started_ticks: None, seat });
        self.created += 1;
        self.skipped += usize::from(skipped);
        self.unseated += usize::from(!skipped && seat.is_none());
    }

    /// A thread that lives.
    pub(crate) fn living(&mut self, tid: Tid) -> Option<&mut Living> {
        self.living.get_mut(&tid)
    }

    /// The numbers of those who live, ascending.
    pub(crate) fn tids(&self) -> Vec<Tid> {
        let mut tids: Vec<Tid> = self.living.keys().copied().collect();
        tids.sort_unstable();
        tids
    }

    /// The record of a thread that lives, where one is kept.
    pub(crate) fn record(&mut self, tid: Tid) -> Option<&mut Record> {
        let record = self.living.get(&tid)?.record?;
        self.records.get_mut(record)
    }

    /// A thread sits elsewhere from now on.
    pub(crate) fn sits(&mut self, tid: Tid, seat: Option<Seat>) {
        let Some(living) = self.living.get_mut(&tid) else { return };
        let before = std::mem::replace(&mut living.seat, seat);
        if before.is_none() && seat.is_some() {
            self.unseated = self.unseated.saturating_sub(1);
        }
        if let Some(record) = self.record(tid) {
            record.sits(seat);
        }
    }

    /// The thread goes by another number.
    pub(crate) fn renumber(&mut self, former: Tid, tid: Tid) {
        if let Some(living) = self.living.remove(&former) {
            self.living.insert(tid, living);
        }
        if let Some(record) = self.record(tid) {
            (record.tid, record.pid) = (tid, Some(tid));
        }
    }

    /// The thread is gone.
    pub(crate) fn strike(&mut self, tid: Tid) {
        self.living.remove(&tid);
    }

    /// The records, in order of creation.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// How many threads came.
    #[must_use]
    pub fn created(&self) -> usize {
        self.created
    }

    /// How many were skipped.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// How many had no seat, the skipped left out.
    #[must_use]
    pub fn unseated(&self) -> usize {
        self.unseated
    }
}
