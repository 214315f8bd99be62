//! A thread that watches words of the program's memory: which threads write to them.
//!
//! The first access of a thread to a page is all that its absence shows. A thread that looks at a
//! flag before it sets it would never be seen to set it. So the words at which threads were seen
//! are watched in turn.

use crate::session::own_ns;
use seatmap_os::Tid;
use seatmap_os::watchpoints::Watchpoints;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Writes to a word after which it is watched no longer in this turn: each costs the program some
/// microseconds.
const WRITES: u32 = 4;

/// The time until the first look at the writes of a turn; each further one is twice as long.
const FIRST_LOOK: Duration = Duration::from_micros(100);

/// The CPU time of one write to a watched word: an estimate, of an AMD EPYC under KVM.
const HIT: Duration = Duration::from_micros(5);

/// The pause after a turn, in multiples of the time that it took the program, and the watchpoints
/// to be set.
const PAUSES: u32 = 20;
const SETTING_PAUSES: u32 = 8;

/// The pause where no word waits.
const IDLE: Duration = Duration::from_millis(5);

/// Words that wait for their turn, at most.
const MOST: usize = 256;

/// A word of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) pid: Tid,
    pub(super) address: u64,
    /// How long it is to be watched.
    pub(super) length: Duration,
}

/// A word that was watched, and the threads that wrote to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Watched {
    pub(super) word: Word,
    pub(super) writers: BTreeSet<Tid>,
}

impl Watched {
    fn new(word: Word) -> Self {
        Watched { word, writers: BTreeSet::new() }
    }
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Vec<Word>>,
    watched: Mutex<Vec<Watched>>,
    cost_ns: AtomicU64,
}

/// The thread, until this is dropped.
#[derive(Debug)]
pub(super) struct Watcher {
    shared: Arc<Shared>,
}

impl Watcher {
    /// Begins where the processor and this user's rights allow it.
    pub(super) fn begin() -> io::Result<Self> {
        let watchpoints = Watchpoints::begin()?;
        let shared = Arc::new(Shared::default());
        // The thread owns nothing between two turns, so that it ends when the watcher is dropped.
        let own = Arc::downgrade(&shared);
        std::thread::Builder::new().name("watch words".to_owned()).spawn(move || {
            let mut turn = Turn { watchpoints };
            while let Some(shared) = own.upgrade() {
                turn.take(&shared);
            }
        })?;
        Ok(Watcher { shared })
    }

    /// Watches these words before others.
    pub(super) fn watch_first(&self, words: Vec<Word>) {
        *locked(&self.shared.queue) = words.into_iter().take(MOST).collect();
    }

    /// The words that were watched since the last call.
    pub(super) fn watched(&self) -> Vec<Watched> {
        std::mem::take(&mut *locked(&self.shared.watched))
    }

    /// The CPU time so far: of the thread, and of the program's writes to watched words.
    pub(super) fn cost(&self) -> Duration {
        Duration::from_nanos(self.shared.cost_ns.load(Relaxed))
    }
}

/// Data of a thread that panicked is as good as before.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Turn {
    watchpoints: Watchpoints,
}

impl Turn {
    fn take(&mut self, shared: &Shared) {
        let before_ns = own_ns();
        let mut watched: Vec<Watched> = self.next(shared).into_iter().map(Watched::new).collect();
        if watched.is_empty() {
            return std::thread::sleep(IDLE);
        }
        let addresses: Vec<u64> = watched.iter().map(|one| one.word.address).collect();
        let begun = Instant::now();
        // An address that no program can have is watched in vain.
        let _ = self.watchpoints.watch(&addresses);
        let setting = begun.elapsed();
        let hits = self.wait(&mut watched);
        // They are taken off at once, as each further write would cost the program.
        let _ = self.watchpoints.watch(&[]);
        locked(&shared.watched).extend(watched);
        let of_hits = HIT * u32::try_from(hits).unwrap_or(u32::MAX);
        let cost_ns = own_ns().saturating_sub(before_ns) + of_hits.as_nanos() as u64;
        shared.cost_ns.fetch_add(cost_ns, Relaxed);
        std::thread::sleep(of_hits * PAUSES + setting * SETTING_PAUSES);
    }

    /// Watches for the length of the turn, and leaves each word that was written often enough: how
    /// many writes there were.
    fn wait(&mut self, watched: &mut [Watched]) -> usize {
        let length = watched.first().map_or(Duration::ZERO, |one| one.word.length);
        let mut writes = vec![0; watched.len()];
        let mut hits = 0;
        let mut pause = FIRST_LOOK;
        let begun = Instant::now();
        while begun.elapsed() < length {
            std::thread::sleep(pause.min(length.saturating_sub(begun.elapsed())));
            pause *= 2;
            for hit in self.watchpoints.hits() {
                hits += 1;
                // A hit of the turn before, or of another process at this address, has no place
                // here.
                if let Some(number) = watched
                    .iter()
                    .position(|one| (one.word.pid, one.word.address) == (hit.pid, hit.address))
                {
                    watched[number].writers.insert(hit.tid);
                    writes[number] += 1;
                }
            }
            for (number, _) in writes.iter().enumerate().filter(|(_, writes)| **writes >= WRITES) {
                let _ = self.watchpoints.leave(number);
            }
            if writes.iter().all(|writes| *writes >= WRITES) {
                break;
            }
        }
        hits
    }

    /// The next words, all for the same length. Several of one address, in several processes, would
    /// have the same writers told.
    fn next(&self, shared: &Shared) -> Vec<Word> {
        let mut next: Vec<Word> = Vec::new();
        locked(&shared.queue).retain(|word| {
            let is_next = next.len() < self.watchpoints.room()
                && next
                    .iter()
                    .all(|other| other.address != word.address && other.length == word.length);
            if is_next {
                next.push(*word);
            }
            !is_next
        });
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_found() {
        let watcher = match Watcher::begin() {
            Ok(watcher) => watcher,
            Err(error) => return seatmap_needs::skipped!("no watchpoints here: {error}"),
        };
        let target = AtomicU64::new(0);
        let length = Duration::from_millis(2);
        let word =
            Word { pid: std::process::id() as Tid, address: &raw const target as u64, length };
        let mut found = Vec::new();
        while found.is_empty() {
            watcher.watch_first(vec![word]);
            (0..1000).for_each(|number| target.store(number, Relaxed));
            found = watcher.watched();
            found.retain(|one| !one.writers.is_empty());
        }
        let own = seatmap_os::task::own_tid();
        assert_eq!((found[0].word, found[0].writers.first()), (word, Some(&own)));
    }
}
