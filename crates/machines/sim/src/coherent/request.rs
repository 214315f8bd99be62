//! The calls of tasks that take time.

use seatmap_port::Addr;
use std::fmt;

/// A call that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Reads a word.
    Load(Addr),
    /// Writes a word.
    Store(Addr, u64),
    /// Adds to a word.
    Add(Addr, u64),
    /// Writes a word if it holds `current`.
    Exchange { word: Addr, current: u64, new: u64 },
    /// Waits while a word holds this value.
    WaitWhile(Addr, u64),
    /// A load and a store for each word: see `copy`.
    Copy { from: Addr, to: Addr, words: u32 },
    /// Computes for this many ticks.
    Compute(u64),
}

impl Request {
    /// The word that the request accesses.
    #[inline]
    pub fn word(self) -> Option<Addr> {
        match self {
            Request::Load(word)
            | Request::Store(word, _)
            | Request::Add(word, _)
            | Request::Exchange { word, .. }
            | Request::WaitWhile(word, _) => Some(word),
            Request::Copy { .. } | Request::Compute(_) => None,
        }
    }

    /// Whether the cache must be the line's only sharer.
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, Request::Store(..) | Request::Add(..) | Request::Exchange { .. })
    }

    /// Whether the request reads and writes in one step.
    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(self, Request::Add(..) | Request::Exchange { .. })
    }

    /// The word's new value, if the request writes.
    #[inline]
    pub fn written(self, found: u64) -> Option<u64> {
        match self {
            Request::Store(_, value) => Some(value),
            Request::Add(_, value) => Some(found.wrapping_add(value)),
            Request::Exchange { current, new, .. } => (found == current).then_some(new),
            Request::Load(_) | Request::WaitWhile(..) | Request::Copy { .. } | Request::Compute(_) => None,
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let place = |word: Addr| format!("word {} of line {}", word.0 % 8, word.line_index());
        match *self {
            Request::Load(word) => write!(f, "loads {}", place(word)),
            Request::Store(word, _) => write!(f, "stores to {}", place(word)),
            Request::Add(word, _) => write!(f, "adds to {}", place(word)),
            Request::Exchange { word, .. } => write!(f, "exchanges {}", place(word)),
            Request::WaitWhile(word, value) => write!(f, "waits while {} holds {value}", place(word)),
            Request::Copy { from, to, words } => {
                write!(f, "copies {words} words from {} to {}", place(from), place(to))
            }
            Request::Compute(cycles) => write!(f, "computes for {cycles} cycles"),
        }
    }
}
