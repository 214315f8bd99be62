//! Notes for the reader of an imported pattern.

use crate::statistics::words::counted;
use std::fmt;

/// A remark on an imported file for users of the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternNote {
    /// Tasks that send to themselves, which costs the same on any CPU.
    ToItself {
        /// The number of omitted entries.
        entries: usize,
    },
    /// A list of edges in which no edge has the task 0.
    FromOne,
    /// A list of edges in which most numbers do not occur: only the others are tasks.
    Sparse {
        /// The number of numbers that occur.
        used: usize,
        /// The largest number.
        last: usize,
    },
    /// A QAPLIB instance from which the first matrix was taken, because the user did not choose
    /// one.
    FirstOfTwo,
    /// The sizes of vertices, which are the costs of moving them, were omitted.
    SizesLeftOut,
    /// All but the first weight of each vertex were omitted: a task has one load.
    WeightsLeftOut {
        /// The number of weights beyond the first.
        more: usize,
    },
}

impl fmt::Display for PatternNote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternNote::ToItself { entries } => {
                write!(
                    out,
                    "left out {entries} from a task to itself, which costs the same on any CPU",
                    entries = counted(entries, "entry")
                )
            }
            PatternNote::FromOne => write!(
                out,
                "no edge has task 0, but tasks are counted from 0; if the file counts from 1, \
                 subtract 1 or name the tasks with letters"
            ),
            PatternNote::Sparse { used, last } => write!(
                out,
                "only {used} of the numbers up to {last} occur; these are the tasks, each named by \
                 its number"
            ),
            PatternNote::FirstOfTwo => write!(
                out,
                "the file has two matrices and does not say which one is the flow: the first was \
                 taken; 'seatmap pattern convert --matrix second' takes the other"
            ),
            PatternNote::SizesLeftOut => {
                write!(out, "the vertex sizes were left out: they matter only if a task moves")
            }
            PatternNote::WeightsLeftOut { more } => {
                let others = if *more == 1 { "other was" } else { "others were" };
                write!(
                    out,
                    "the first weight of each vertex is the task's load; the {others} left out"
                )
            }
        }
    }
}
