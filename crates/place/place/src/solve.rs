//! A quadratic assignment problem, solved for its own sake.

use crate::bound::{BOUND_PART, gilmore_lawler_dense};
use crate::search::{Dense, Engine, Found, Limit, Qap, iterate, tabu};
use seatmap_statistics::Xoshiro;

/// A permutation with what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The best permutation found.
    pub found: Found,
    /// No permutation costs less.
    pub lower_bound: f64,
    /// Whether the two meet.
    pub optimal: bool,
}

/// Rounds in which the time is spent; each gives half to kicks and half to tabu search.
const ROUNDS: u32 = 4;

/// Searches until the limit: kicks win where matrices have structure, tabu search where they have none, so both get their
/// turn, each going on from the best so far.
#[must_use]
pub fn solve(qap: &Qap, limit: &Limit, seed: u64) -> Solved {
    let lower_bound = gilmore_lawler_dense(qap, &limit.part(BOUND_PART));
    let mut rng = Xoshiro::new(seed);
    let mut start: Vec<u32> = (0..qap.n() as u32).collect();
    rng.shuffle(&mut start);
    let mut best = Found { cost: qap.cost(&start), slot_of: start };
    for round in 0..ROUNDS {
        let Some(mut engine) = Dense::new(qap, best.slot_of.clone(), limit) else { break };
        engine.descend(limit);
        let found = iterate(&mut engine, &mut rng, &limit.part(2 * (ROUNDS - round)));
        best = better(best, found);
        let Some(mut engine) = Dense::new(qap, best.slot_of.clone(), limit) else { break };
        let rest = if round + 1 == ROUNDS { *limit } else { limit.part(2 * (ROUNDS - round) - 1) };
        best = better(best, tabu(&mut engine, &mut rng, &rest));
        if best.cost <= lower_bound {
            break;
        }
    }
    // The sum over swaps has rounding in it.
    best.cost = qap.cost(&best.slot_of);
    Solved { optimal: best.cost <= lower_bound + 1e-9 * lower_bound.abs(), found: best, lower_bound }
}

fn better(a: Found, b: Found) -> Found {
    if b.cost < a.cost { b } else { a }
}
