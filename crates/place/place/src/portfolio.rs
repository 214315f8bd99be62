//! Refines several starts and keeps the best.

use crate::search::{SearchEngine, SearchLimit, Solution, Sparse, Tour, iterate};
use crate::{Problem, seed};
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
    alive.sort_by(|a, b| a.solution.cost.total_cmp(&b.solution.cost));
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
            // The first of k takes a k-th, the next a (k-1)-th of the rest, so saved time goes to
            // later ones.
            let by_clock = part.part((alive.len() - at) as u32);
            // Counts are not used up, so each gets an equal part.
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

/// Made by the first limit (else `None`), improved until the second. `nested` caches the order of
/// the slots.
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
    let slot_of = started.solution.slot_of.clone();
    let found = match Tour::new(problem, slot_of.clone(), limit) {
        Some(mut tour) => iterate(&mut tour, rng, limit),
        None => match Sparse::new(problem, slot_of, limit) {
            Some(mut sparse) => iterate(&mut sparse, rng, limit),
            None => return,
        },
    };
    if found.cost < started.solution.cost {
        started.solution = found;
    }
}
