//! Searches: engines with kicks and descents to local optima, and methods that use them.
//!
//! Two engines store the change of the cost by each swap next to a permutation, so that a step
//! costs memory bandwidth but no recomputation. [`Sparse`] has a table of task x PU (for tasks with
//! few partners, zones, thousands of tasks). [`Dense`] has the changes of all pairs (for matrices
//! without zeros). [`Tour`] has better steps for rings and pipelines.

mod dense;
mod iterate;
mod limit;
mod qap;
mod sparse;
mod tabu;
mod tour;

pub use dense::Dense;
pub use iterate::{Solution, iterate};
pub use limit::{DeadlineWatch, SearchLimit, SearchStop, SearchTime};
pub use qap::{MatrixPair, Qap};
pub use sparse::Sparse;
pub use tabu::tabu;
pub use tour::Tour;

use seatmap_data::statistics::Xoshiro;
use std::ops::Range;

/// After this many swaps per item, a descent recomputes its sums. Sums of changes have rounding
/// errors, and with wildly different magnitudes swaps may seem to help that do not. A descent
/// without progress since the last recomputation has gone in a circle and ends.
const SWAPS_BETWEEN_CHECKS: usize = 8;

const WEAKEST: usize = 3;

/// A permutation of items over slots that changes swap by swap.
pub trait SearchEngine {
    /// The number of items.
    fn items(&self) -> usize;
    /// The cost of the permutation.
    fn cost(&self) -> f64;
    /// The slot of each item.
    fn assignment(&self) -> &[u32];
    /// The range of kicks at once, from the first failure on.
    fn strengths(&self) -> Range<usize> {
        WEAKEST..(self.items() / 3).max(WEAKEST + 1)
    }
    /// Swaps two random items, if allowed, or makes a change of that size.
    fn kick(&mut self, rng: &mut Xoshiro);
    /// Swaps until no swap helps, or until the limit's deadline.
    fn descend(&mut self, limit: &SearchLimit);
    /// Saves the current state.
    fn save(&mut self);
    /// Restores the saved state.
    fn restore(&mut self);
}
