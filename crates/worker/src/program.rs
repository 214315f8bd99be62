//! What workers run.

use crate::Inside;

/// A program for a worker: code, and nothing of its own that changes. What it works on is in its local store and in
/// memory that its argument leads to.
pub trait Program: Send + Sync + 'static {
    /// Runs on a worker, and ends with a stop code.
    fn run(&self, inside: &mut Inside, argument: u64) -> u32;
}

impl<F: Fn(&mut Inside, u64) -> u32 + Send + Sync + 'static> Program for F {
    fn run(&self, inside: &mut Inside, argument: u64) -> u32 {
        self(inside, argument)
    }
}
