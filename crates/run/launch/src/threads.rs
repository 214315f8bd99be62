//! Living threads by number, and records.

use crate::record::ThreadRecord;
use crate::seats::Seat;
use seatmap_data::invariant;
use seatmap_os::task::ThreadStat;
use seatmap_os::{Tid, boot};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

/// The most recorded threads, to limit the memory.
pub const MOST_RECORDS: usize = 10_000;

const TABLE: &str = "thread table";

#[derive(Clone, Copy)]
pub(crate) struct Waited {
    pub at: Instant,
    pub waited_ns: u64,
}

#[derive(Default)]
pub(crate) struct Living {
    /// Whether it has its place in the order.
    pub is_entered: bool,
    pub record: Option<usize>,
    pub pid: Tid,
    /// Its start, once known, or else when it was found: it started before.
    pub started_ticks: Option<u64>,
    pub found_ticks: u64,
    pub seat: Option<Seat>,
    /// Whether it counts as never seated.
    pub is_unseated: bool,
    /// A later seat, and when.
    pub later: Option<(Seat, Instant)>,
    /// The latest start of its wait.
    pub waits_since: Option<Instant>,
    /// Its waiting time at a look, if it shares its seat.
    pub shares: Option<Waited>,
    /// Whether it precedes the program where seating starts.
    pub is_outside: bool,
    /// Whether it ran before it was found.
    pub is_late: bool,
}

impl Living {
    /// Whether this task is a later thread with its number.
    pub fn is_replaced(&mut self, task: &ThreadStat) -> bool {
        let is_later = self.started_ticks.is_none() && task.started_ticks > self.found_ticks;
        is_later || *self.started_ticks.get_or_insert(task.started_ticks) != task.started_ticks
    }
}

/// Living threads, records, and counts.
#[derive(Default)]
pub struct ThreadTable {
    /// In order of seating.
    pub records: Vec<ThreadRecord>,
    living: HashMap<Tid, Living>,
    /// Threads to seat.
    pub created: usize,
    /// Skipped threads.
    pub skipped: usize,
    /// Threads without a seat, except skipped ones.
    pub unseated: usize,
    /// Processes that ended before they could take a seat.
    pub helpers: usize,
}

impl ThreadTable {
    pub(crate) fn begin(&mut self, tid: Tid, pid: Tid, is_outside: bool, is_late: bool) {
        let found_ticks = boot::ticks();
        let living = Living { pid, found_ticks, is_outside, is_late, ..Living::default() };
        self.living.insert(tid, living);
    }

    fn enter(&mut self, tid: Tid, seat: Option<Seat>, is_skipped: bool) {
        let Some(living) = self.living.get_mut(&tid) else { return };
        invariant!(!living.is_entered, TABLE, "thread {tid} enters the order twice");
        living.seat.clone_from(&seat);
        living.is_entered = true;
        living.is_unseated = !is_skipped && seat.is_none();
        self.unseated += usize::from(living.is_unseated);
        if self.records.len() < MOST_RECORDS {
            living.record = Some(self.records.len());
            self.records.push(ThreadRecord {
                order: self.created,
                pid: Some(living.pid),
                tid,
                seat,
                late: living.is_late,
                ..ThreadRecord::default()
            });
        }
        self.created += 1;
        self.skipped += usize::from(is_skipped);
        self.check();
    }

    /// Gives a thread its place in the order, or another seat.
    pub(crate) fn place(&mut self, tid: Tid, seat: Option<Seat>, is_skipped: bool) {
        if self.living.get(&tid).is_some_and(|living| living.is_entered) {
            self.sits(tid, seat);
            self.skipped += usize::from(is_skipped);
            self.check();
        } else {
            self.enter(tid, seat, is_skipped);
        }
    }

    pub(crate) fn living(&mut self, tid: Tid) -> Option<&mut Living> {
        self.living.get_mut(&tid)
    }

    pub(crate) fn knows(&self, tid: Tid) -> bool {
        self.living.contains_key(&tid)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.living.is_empty()
    }

    /// Ascending.
    pub(crate) fn tids(&self) -> Vec<Tid> {
        let mut tids: Vec<Tid> = self.living.keys().copied().collect();
        tids.sort_unstable();
        tids
    }

    pub(crate) fn of_process(&self, pid: Tid) -> Vec<Tid> {
        self.living.iter().filter(|(_, living)| living.pid == pid).map(|(tid, _)| *tid).collect()
    }

    pub(crate) fn processes(&self) -> BTreeSet<Tid> {
        self.living.values().map(|living| living.pid).collect()
    }

    pub(crate) fn counts(&self) -> BTreeMap<Tid, usize> {
        let mut counts = BTreeMap::new();
        for living in self.living.values() {
            *counts.entry(living.pid).or_default() += 1;
        }
        counts
    }

    pub(crate) fn record(&mut self, tid: Tid) -> Option<&mut ThreadRecord> {
        let record = self.living.get(&tid)?.record?;
        self.records.get_mut(record)
    }

    pub(crate) fn sits(&mut self, tid: Tid, seat: Option<Seat>) {
        let Some(living) = self.living.get_mut(&tid) else { return };
        living.seat.clone_from(&seat);
        if seat.is_some() && std::mem::take(&mut living.is_unseated) {
            self.unseated -= 1;
        }
        if let Some(record) = self.record(tid) {
            record.sits(seat);
        }
    }

    pub(crate) fn renumber(&mut self, former: Tid, tid: Tid) {
        invariant!(
            former == tid || !self.knows(tid),
            TABLE,
            "thread {former} becomes {tid}, and that one lives"
        );
        if let Some(living) = self.living.remove(&former) {
            // After execve(2) a thread has its process's number and start.
            self.living.insert(tid, Living { pid: tid, started_ticks: None, ..living });
        }
        if let Some(record) = self.record(tid) {
            (record.tid, record.pid) = (tid, Some(tid));
        }
    }

    pub(crate) fn remove(&mut self, tid: Tid) {
        if let Some(living) = self.living.remove(&tid) {
            // A short-lived child, such as a shell's `ls`.
            self.helpers += usize::from(living.waits_since.is_some() && !living.is_entered);
        }
    }

    fn check(&self) {
        let records = self.records.len();
        invariant!(
            records == self.created.min(MOST_RECORDS),
            TABLE,
            "{records} records of {} threads",
            self.created
        );
        invariant!(
            self.skipped <= self.created && self.unseated <= self.created,
            TABLE,
            "of {} threads {} were skipped and {} have no seat",
            self.created,
            self.skipped,
            self.unseated
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "broke an invariant: thread table: thread 7 enters the order twice")]
    fn thread_entering_twice_panics() {
        let mut threads = ThreadTable::default();
        threads.begin(7, 7, false, false);
        threads.enter(7, None, false);
        threads.enter(7, None, false);
    }

    #[test]
    fn unseated_count_follows_seat_changes() {
        let mut threads = ThreadTable::default();
        let seat = Some(Seat::shared(seatmap_os::CpuSet::single(0)));
        for (tid, seat) in [(7, None), (8, None), (9, seat.clone())] {
            threads.begin(tid, tid, false, false);
            threads.enter(tid, seat, tid == 7);
        }
        threads.sits(7, seat.clone());
        threads.sits(9, None);
        threads.sits(9, seat.clone());
        assert_eq!(threads.unseated, 1, "thread 8 has none still");
        threads.sits(8, seat);
        assert_eq!(threads.unseated, 0);
    }

    #[test]
    #[should_panic(expected = "thread 8 becomes 7, and that one lives")]
    fn renumbering_to_used_id_panics() {
        let mut threads = ThreadTable::default();
        threads.begin(7, 7, false, false);
        threads.begin(8, 7, false, false);
        threads.renumber(8, 7);
    }
}
