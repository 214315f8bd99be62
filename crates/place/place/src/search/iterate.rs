//! Iterated local search.

use super::{DeadlineWatch, SearchEngine, SearchLimit};
use seatmap_data::statistics::Xoshiro;

/// Failures per item before the state is shaken.
const PATIENCE: usize = 40;

/// The best state of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The cost of the permutation.
    pub cost: f64,
    /// The slot of each item.
    pub slot_of: Vec<u32>,
}

/// Kicks and descends until the limit, and returns the best state.
///
/// Kicks grow from 3 swaps to a third of the items while nothing improves, and shrink to 3 on
/// success (Stuetzle 2006, with the growing strength of Benlic & Hao 2013). After 40 failures per
/// item, it shakes the state.
pub fn iterate(engine: &mut impl SearchEngine, rng: &mut Xoshiro, limit: &SearchLimit) -> Solution {
    engine.descend(limit);
    engine.save();
    let mut best = engine.solution();
    let mut here = best.cost;
    let mut failures = 0;
    let mut left = limit.kicks;
    let strengths = engine.strengths();
    let mut watch = DeadlineWatch::new(limit, engine.items() * engine.items());
    while left > 0 && !limit.ends_at(best.cost) {
        left -= 1;
        let strength = if failures < PATIENCE * engine.items() {
            strengths.start + failures % strengths.len()
        } else {
            engine.items()
        };
        for _ in 0..strength {
            engine.kick(rng);
            if watch.is_late() {
                break;
            }
        }
        engine.descend(limit);
        // Rounding is not success. A shaken state is accepted at any cost.
        if engine.cost() < here - 1e-9 * here.abs() || strength == engine.items() {
            here = engine.cost();
            engine.save();
            failures = 0;
        } else if limit.is_late() {
            // Restoring may take as long as the descent.
            break;
        } else {
            engine.restore();
            failures += 1;
        }
        if here < best.cost {
            best = engine.solution();
        }
    }
    best
}
