//! The open, running and finished parts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(50);

/// An overdue part takes this many times as long as the longest finished one.
const TOO_LONG: u32 = 3;

#[derive(Debug)]
struct Running {
    ranks: BTreeSet<usize>,
    since: Instant,
}

#[derive(Debug)]
struct State {
    open: VecDeque<usize>,
    running: BTreeMap<usize, Running>,
    left: BTreeSet<usize>,
    longest: Option<Duration>,
}

#[derive(Debug)]
pub struct Board {
    state: Mutex<State>,
    changed: Condvar,
    pub is_over: AtomicBool,
}

impl Board {
    pub fn new(parts: usize) -> Self {
        let state = State {
            open: (0..parts).collect(),
            running: BTreeMap::new(),
            left: (0..parts).collect(),
            longest: None,
        };
        Board {
            state: Mutex::new(state),
            changed: Condvar::new(),
            is_over: AtomicBool::new(parts == 0),
        }
    }

    /// Waits if none is open; `None` once nothing is left.
    pub fn take(&self, rank: usize) -> Option<usize> {
        let mut state = self.state();
        loop {
            if self.is_over() {
                return None;
            }
            if let Some(part) = state.next(rank) {
                return Some(part);
            }
            (state, _) =
                self.changed.wait_timeout(state, PAUSE).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether it is the first result.
    pub fn done(&self, part: usize) -> bool {
        let mut state = self.state();
        if let Some(running) = state.running.remove(&part) {
            state.longest = state.longest.max(Some(running.since.elapsed()));
        }
        let is_first = state.left.remove(&part);
        if state.left.is_empty() {
            self.stop();
        }
        self.changed.notify_all();
        is_first
    }

    /// Reopens parts that only this rank had.
    pub fn lost(&self, rank: usize) {
        let mut state = self.state();
        for part in state.of(rank) {
            let is_alone = state.running.get_mut(&part).is_some_and(|running| {
                running.ranks.remove(&rank);
                running.ranks.is_empty()
            });
            if is_alone {
                state.running.remove(&part);
                state.open.push_front(part);
            }
        }
        self.changed.notify_all();
    }

    pub fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A waiter may miss this call between its check and its wait; it checks again after
        // `PAUSE`.
        self.changed.notify_all();
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self, rank: usize) -> Option<usize> {
        if let Some(part) = self.open.pop_front() {
            self.running
                .insert(part, Running { ranks: BTreeSet::from([rank]), since: Instant::now() });
            return Some(part);
        }
        let limit = self.longest? * TOO_LONG;
        let late = self.running.iter_mut().filter(|(_, running)| {
            running.since.elapsed() > limit && !running.ranks.contains(&rank)
        });
        let (part, running) = late.min_by_key(|(_, running)| running.ranks.len())?;
        running.ranks.insert(rank);
        // The time restarts, so idle ranks do not all take over the same part.
        running.since = Instant::now();
        Some(*part)
    }

    fn of(&self, rank: usize) -> Vec<usize> {
        self.running
            .iter()
            .filter(|(_, running)| running.ranks.contains(&rank))
            .map(|(part, _)| *part)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_of_a_lost_rank_is_next() {
        let board = Board::new(3);
        assert_eq!([board.take(1), board.take(2)], [Some(0), Some(1)]);
        board.lost(1);
        assert_eq!([board.take(2), board.take(0)], [Some(0), Some(2)]);
        assert!(board.done(1) && board.done(0) && !board.is_over());
        assert!(board.done(2) && board.is_over());
        assert_eq!(board.take(0), None);
    }

    #[test]
    fn slow_part_is_taken_over_and_counts_once() {
        let board = Board::new(2);
        assert_eq!([board.take(1), board.take(0)], [Some(0), Some(1)]);
        assert!(board.done(1));
        assert_eq!(board.take(0), Some(0));
        assert!(board.done(0) && !board.done(0));
        assert_eq!(board.take(1), None);
    }

    #[test]
    fn board_gives_no_part_after_a_stop() {
        let board = Board::new(9);
        board.stop();
        assert_eq!(board.take(0), None);
        assert!(Board::new(0).is_over());
    }
}
