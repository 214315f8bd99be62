//! The calls of tasks that take time.

use seatmap_data::port::Addr;
use seatmap_data::statistics::words::counted;
use std::fmt;

/// A call that takes time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineCall {
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

impl LineCall {
    #[inline]
    pub fn word(self) -> Option<Addr> {
        match self {
            LineCall::Load(word)
            | LineCall::Store(word, _)
            | LineCall::Add(word, _)
            | LineCall::Exchange { word, .. }
            | LineCall::WaitWhile(word, _) => Some(word),
            LineCall::Copy { .. } | LineCall::Compute(_) => None,
        }
    }

    /// Whether the cache must be the line's only sharer.
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, LineCall::Store(..) | LineCall::Add(..) | LineCall::Exchange { .. })
    }

    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(self, LineCall::Add(..) | LineCall::Exchange { .. })
    }

    #[inline]
    pub fn written(self, found: u64) -> Option<u64> {
        match self {
            LineCall::Store(_, value) => Some(value),
            LineCall::Add(_, value) => Some(found.wrapping_add(value)),
            LineCall::Exchange { current, new, .. } => (found == current).then_some(new),
            LineCall::Load(_)
            | LineCall::WaitWhile(..)
            | LineCall::Copy { .. }
            | LineCall::Compute(_) => None,
        }
    }
}

impl fmt::Display for LineCall {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            LineCall::Load(word) => write!(f, "loads {}", place(word)),
            LineCall::Store(word, _) => write!(f, "stores to {}", place(word)),
            LineCall::Add(word, _) => write!(f, "adds to {}", place(word)),
            LineCall::Exchange { word, .. } => write!(f, "exchanges {}", place(word)),
            LineCall::WaitWhile(word, value) => {
                write!(f, "waits while {} holds {value}", place(word))
            }
            LineCall::Copy { from, to, words } => {
                write!(
                    f,
                    "copies {words} from {} to {}",
                    place(from),
                    place(to),
                    words = counted(words, "word")
                )
            }
            LineCall::Compute(cycles) => {
                write!(f, "computes for {cycles}", cycles = counted(cycles, "cycle"))
            }
        }
    }
}

fn place(word: Addr) -> String {
    format!("word {} of line {}", word.0 % 8, word.line_index())
}
