//! Engines with kicks and descents to local optima, and methods that use them.
//!
//! Two engines store each swap's change of the cost: [`Sparse`] in a table of task x PU (for few
//! partners, zones, thousands of tasks), [`Dense`] for all pairs (for matrices without zeros).
//! [`Tour`] has better steps for rings and pipelines.

mod dense;
mod iterate;
mod limit;
mod qap;
mod sparse;
mod tabu;
mod tour;

pub use dense::Dense;
pub use iterate::{Solution, iterate};
pub use limit::{DeadlineWatch, LimitClock, SearchLimit, SearchStop, SearchTime};
pub use qap::Qap;
pub use sparse::Sparse;
pub use tabu::tabu;
pub use tour::Tour;

use qap::MatrixPair;
use seatmap_data::statistics::Xoshiro;
use std::ops::Range;

/// Swaps per item after which a descent recomputes its sums, because rounding errors make useless
/// swaps look helpful. A descent without progress since then ends.
const SWAPS_BETWEEN_CHECKS: usize = 8;

const WEAKEST: usize = 3;

/// A permutation of items over slots that changes by swaps.
pub trait SearchEngine {
    /// The number of items.
    fn items(&self) -> usize;
    /// The cost of the permutation.
    fn cost(&self) -> f64;
    /// The slot of each item.
    fn assignment(&self) -> &[u32];
    /// The current state.
    fn solution(&self) -> Solution {
        Solution { cost: self.cost(), slot_of: self.assignment().to_vec() }
    }
    /// The range of kicks at once.
    fn strengths(&self) -> Range<usize> {
        WEAKEST..(self.items() / 3).max(WEAKEST + 1)
    }
    /// Swaps two random items, if allowed, or the like.
    fn kick(&mut self, rng: &mut Xoshiro);
    /// Swaps until no swap helps, or until the deadline.
    fn descend(&mut self, limit: &SearchLimit);
    /// Saves the current state.
    fn save(&mut self);
    /// Restores the saved state.
    fn restore(&mut self);
}
