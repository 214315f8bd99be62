//! Notes for the reader of an imported pattern.

use crate::statistics::words::{agreeing, counted};

/// A remark on an imported file for users of the pattern.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PatternNote {
    /// Tasks that send to themselves, which costs the same on any CPU.
    #[error(
        "left out {} from a task to itself, which costs the same on any CPU",
        counted(.entries, "entry")
    )]
    ToItself {
        /// Omitted entries.
        entries: usize,
    },
    /// A list of edges in which no edge has the task 0.
    #[error(
        "no edge has task 0, but tasks are counted from 0; if the file counts from 1, subtract 1 \
         or name the tasks with letters"
    )]
    FromOne,
    /// A list of edges in which most numbers do not occur: only the others are tasks.
    #[error(
        "only {used} of the numbers up to {last} occur; these are the tasks, each named by its \
         number"
    )]
    Sparse {
        /// The number of numbers that occur.
        used: usize,
        /// Largest number.
        last: usize,
    },
    /// A QAPLIB instance from which the first matrix was taken, because the user did not choose
    /// one.
    #[error(
        "the file has two matrices and does not say which one is the flow: the first was taken; \
         'seatmap pattern convert --matrix second' takes the other"
    )]
    FirstOfTwo,
    /// The sizes of vertices, which are the costs of moving them, were omitted.
    #[error("the vertex sizes were left out: they matter only if a task moves")]
    SizesLeftOut,
    /// All but the first weight of each vertex were omitted: a task has one load.
    #[error(
        "the first weight of each vertex is the task's load; the {} left out",
        agreeing(*.more, "other was", "others were")
    )]
    WeightsLeftOut {
        /// Weights beyond the first.
        more: usize,
    },
}
