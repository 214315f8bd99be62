//! Searches: states that can be kicked and that descend to a local optimum, and methods that use
//! them.
//!
//! Two engines keep, beside a permutation, the change that each swap would bring, so that a step
//! costs memory bandwidth and no recomputation: [`Sparse`] a table of task x PU (traffic of few
//! partners, zones, thousands of tasks), [`Dense`] the deltas of all pairs (matrices without
//! zeros). [`Tour`] knows better steps for rings and pipelines.

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

/// Swaps of one descent after which what they add up to is computed anew, as a multiple of the
/// items. Sums of changes carry rounding, and where magnitudes differ wildly it makes swaps help on
/// paper that do not: a descent that has not come down since the last time has gone in a circle,
/// and ends.
const SWAPS_BETWEEN_CHECKS: usize = 8;

/// Swaps in the weakest kick.
const WEAKEST: usize = 3;

/// A permutation of items over slots that can be changed swap by swap.
pub trait SearchEngine {
    /// The number of items.
    fn items(&self) -> usize;
    /// The cost of the permutation.
    fn cost(&self) -> f64;
    /// The slot of each item.
    fn assignment(&self) -> &[u32];
    /// The number of kicks to give at once, from the first failure on to many.
    fn strengths(&self) -> Range<usize> {
        WEAKEST..(self.items() / 3).max(WEAKEST + 1)
    }
    /// Swaps two random items that may be swapped, or makes a change of that size.
    fn kick(&mut self, rng: &mut Xoshiro);
    /// Swaps until no swap helps, or until the limit's deadline.
    fn descend(&mut self, limit: &SearchLimit);
    /// Makes the present state the one to come back to.
    fn save(&mut self);
    /// Comes back to the saved state.
    fn restore(&mut self);
}
