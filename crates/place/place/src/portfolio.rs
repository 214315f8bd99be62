//! Several starts, each refined, the best kept.

use crate::search::{SearchEngine, SearchLimit, Solution, Sparse, Tour, iterate};
use crate::{Problem, seed};
use seatmap_data::statistics::Xoshiro;
use std::cell::OnceCell;

/// Where a placement came from.
#[derive(Clone, Debug, PartialEq)]
pub struct StartSolution {
    /// The start's name.
    pub name: &'static str,
    /// The result of the search.
    pub solution: Solution,
}

/// The starts of the portfolio, the promising ones first.
const STARTS: [&str; 5] =
    ["recursive bisection", "greedy growth", "spectral order", "RCM order", "natural order"];

/// The part of the time in which starts must be ready.
const STARTS_PART: u32 = 2;

/// Starts from all the known methods and searches on from the best, until the limit.
///
/// Half of the time goes to all starts alike, a quarter to the better half, the rest to the best.
/// `seed` decides random choices, so that a limit by count gives the same answer everywhere. Starts
/// that are not ready by half of the time are left out, but for the first, which always is.
#[must_use]
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
    alive.sort_by(|a, b| a.solution.cost.total_cmp(&b.solution.cost));
    // Successive halving: all starts, then the better two, then the best.
    for keep in [alive.len(), 2] {
        alive.truncate(keep);
        let mut part = if keep > 2 { limit.part(2) } else { limit.clone() };
        if keep == 2 {
            part = part.part(2);
        }
        for at in 0..alive.len() {
            if has_enough(&alive, limit) {
                break;
            }
            // By the clock the first of k takes a k-th of the time, the next a (k-1)-th of what is
            // left: equal parts, and time that one does not use goes to the others.
            let by_clock = part.part((alive.len() - at) as u32);
            // A count is not used up by those before, and so has equal parts of the whole.
            let slice = SearchLimit { kicks: part.part(alive.len() as u32).kicks, ..by_clock };
            refine(problem, &mut alive[at], &mut rng, &slice);
        }
        alive.sort_by(|a, b| a.solution.cost.total_cmp(&b.solution.cost));
    }
    let mut best = alive.swap_remove(0);
    refine(problem, &mut best, &mut rng, limit);
    best
}

fn has_enough(found: &[StartSolution], limit: &SearchLimit) -> bool {
    found.iter().any(|one| one.solution.cost <= limit.enough)
}

/// A start, ready by the first limit, rolled downhill until the second; `None` where it was not
/// ready. `nested` keeps the order of the slots, which several starts share.
fn started(
    problem: &Problem,
    name: &'static str,
    rng: &mut Xoshiro,
    nested: &OnceCell<Vec<u32>>,
    [until, limit]: [&SearchLimit; 2],
) -> Option<StartSolution> {
    let order: Vec<u32> = match name {
        "recursive bisection" => {
            let slot_of = seed::recursive(problem, rng, until);
            return Some(StartSolution { name, solution: downhill(problem, slot_of, limit) });
        }
        "greedy growth" => {
            let slot_of = seed::greedy(problem, until)?;
            return Some(StartSolution { name, solution: downhill(problem, slot_of, limit) });
        }
        "spectral order" => seed::spectral(problem, rng, until)?,
        "RCM order" => seed::rcm(problem, until)?,
        _ => (0..problem.slots() as u32).collect(),
    };
    let nested = nested.get_or_init(|| seed::nested(problem, until));
    let slot_of = seed::lawful(problem, seed::in_order(&order, nested));
    Some(StartSolution { name, solution: downhill(problem, slot_of, limit) })
}

/// The next local optimum, or the nearest state to it that the deadline allows.
pub(crate) fn downhill(problem: &Problem, slot_of: Vec<u32>, limit: &SearchLimit) -> Solution {
    let Some(mut engine) = Sparse::new(problem, slot_of.clone(), limit) else {
        return Solution { cost: problem.cost(&slot_of), slot_of };
    };
    engine.descend(limit);
    Solution { cost: engine.cost(), slot_of: engine.assignment().to_vec() }
}

/// Kicks until the limit, of a tour where the traffic is one.
pub(crate) fn refine(
    problem: &Problem,
    started: &mut StartSolution,
    rng: &mut Xoshiro,
    limit: &SearchLimit,
) {
    let slot_of = started.solution.slot_of.clone();
    let found = match Tour::new(problem, slot_of.clone(), limit) {
        Some(mut tour) => iterate(&mut tour, rng, limit),
        None => match Sparse::new(problem, slot_of, limit) {
            Some(mut sparse) => iterate(&mut sparse, rng, limit),
            None => return,
        },
    };
    // An engine that was out of time may come back with no more than it was given.
    if found.cost < started.solution.cost {
        started.solution = found;
    }
}
