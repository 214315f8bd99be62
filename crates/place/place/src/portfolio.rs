//! Refines several starts and keeps the best.

use crate::search::{SearchEngine, SearchLimit, Solution, Sparse, Tour, iterate};
use crate::{Problem, seed};
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use std::cell::OnceCell;

/// A placement and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct StartSolution {
    /// The start's name.
    pub name: &'static str,
    /// The result of the search.
    pub solution: Solution,
}

impl StartSolution {
    pub(crate) fn new(name: &'static str, problem: &Problem, slot_of: Vec<u32>) -> Self {
        StartSolution { name, solution: Solution { cost: problem.cost(&slot_of), slot_of } }
    }
}

/// The starts, the promising ones first.
const STARTS: [&str; 5] =
    ["recursive bisection", "greedy growth", "spectral order", "RCM order", "natural order"];

/// Starts must be ready within 1/`STARTS_PART` of the time.
const STARTS_PART: u32 = 2;

/// Refines a start of each known method until the limit.
///
/// Half of the time goes to all starts equally, a quarter to the better two, the rest to the best.
/// Starts not ready at half time are dropped, except for the first.
pub fn portfolio(problem: &Problem, limit: &SearchLimit, seed: u64) -> StartSolution {
    let mut rng = Xoshiro::new(seed);
    let nested = OnceCell::new();
    let until = limit.part(STARTS_PART);
    let mut alive = Vec::with_capacity(STARTS.len());
    for name in STARTS {
        alive.extend(started(problem, name, &mut rng, &nested, [&until, limit]));
        if has_enough(&alive, limit) || limit.is_late() {
            break;
        }
    }
    alive.sort_by_key(|one| Ordered(one.solution.cost));
    for keep in [alive.len(), 2] {
        alive.truncate(keep);
        let part = if keep < 2 { limit.clone() } else { limit.part(2) };
        for at in 0..alive.len() {
            if has_enough(&alive, limit) {
                break;
            }
            // The first of k takes a k-th, the next a (k-1)-th of the rest, so later ones get saved
            // time.
            let by_clock = part.part((alive.len() - at) as u32);
            // Counts are not used up, so each gets an equal part.
            let slice = SearchLimit { kicks: part.part(alive.len() as u32).kicks, ..by_clock };
            refine(problem, &mut alive[at], &mut rng, &slice);
        }
        alive.sort_by_key(|one| Ordered(one.solution.cost));
    }
    let mut best = alive.swap_remove(0);
    refine(problem, &mut best, &mut rng, limit);
    best
}

fn has_enough(found: &[StartSolution], limit: &SearchLimit) -> bool {
    found.iter().any(|one| one.solution.cost <= limit.enough)
}

/// Made by the first limit (else `None`), improved until the second. `nested` caches the order of
/// the slots.
fn started(
    problem: &Problem,
    name: &'static str,
    rng: &mut Xoshiro,
    nested: &OnceCell<Vec<u32>>,
    [until, limit]: [&SearchLimit; 2],
) -> Option<StartSolution> {
    let in_order = |order: Vec<u32>| {
        let nested = nested.get_or_init(|| seed::nested(problem, until));
        seed::lawful(problem, seed::in_order(&order, nested))
    };
    let slot_of = match name {
        "recursive bisection" => seed::recursive(problem, rng, until),
        "greedy growth" => seed::greedy(problem, until)?,
        "spectral order" => in_order(seed::spectral(problem, rng, until)?),
        "RCM order" => in_order(seed::rcm(problem, until)?),
        _ => in_order((0..problem.slots() as u32).collect()),
    };
    Some(StartSolution { name, solution: downhill(problem, slot_of, limit) })
}

pub(crate) fn downhill(problem: &Problem, slot_of: Vec<u32>, limit: &SearchLimit) -> Solution {
    let Some(mut engine) = Sparse::new(problem, slot_of.clone(), limit) else {
        return Solution { cost: problem.cost(&slot_of), slot_of };
    };
    engine.descend(limit);
    engine.solution()
}

pub(crate) fn refine(
    problem: &Problem,
    started: &mut StartSolution,
    rng: &mut Xoshiro,
    limit: &SearchLimit,
) {
    let start = || started.solution.slot_of.clone();
    let found = if let Some(mut tour) = Tour::new(problem, start(), limit) {
        iterate(&mut tour, rng, limit)
    } else if let Some(mut sparse) = Sparse::new(problem, start(), limit) {
        iterate(&mut sparse, rng, limit)
    } else {
        return;
    };
    if found.cost < started.solution.cost {
        started.solution = found;
    }
}
