//! Several starts, each refined, the best kept.

use crate::search::{Engine, Found, Limit, Sparse, Tour, iterate};
use crate::{Problem, seed};

/// Where a placement came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    /// The start's name.
    pub name: &'static str,
    /// What came of it.
    pub found: Found,
}

/// The starts of the portfolio, the promising ones first.
const STARTS: [&str; 5] = ["recursive bisection", "greedy growth", "spectral order", "RCM order", "natural order"];

/// Starts from everything that is known to work and searches on from the best, until the limit.
///
/// Half of the time goes to all starts alike, a quarter to the better half, the rest to the best. `seed` decides random
/// choices, so that a limit by count gives the same answer everywhere.
#[must_use]
pub fn portfolio(problem: &Problem, limit: &Limit, seed: u64) -> Started {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut alive = Vec::with_capacity(STARTS.len());
    for name in STARTS {
        alive.push(started(problem, name, &mut rng));
        if has_enough(&alive, limit) {
            break;
        }
    }
    alive.sort_by(|a, b| a.found.cost.total_cmp(&b.found.cost));
    for keep in [alive.len(), 2] {
        alive.truncate(keep);
        let mut part = if keep > 2 { limit.part(2) } else { *limit };
        if keep == 2 {
            part = part.part(2);
        }
        for at in 0..alive.len() {
            if has_enough(&alive, limit) {
                break;
            }
            let slice = part.part((alive.len() - at) as u32);
            refine(problem, &mut alive[at], &mut rng, &slice);
        }
        alive.sort_by(|a, b| a.found.cost.total_cmp(&b.found.cost));
    }
    let mut best = alive.swap_remove(0);
    refine(problem, &mut best, &mut rng, limit);
    best
}

fn has_enough(found: &[Started], limit: &Limit) -> bool {
    found.iter().any(|one| one.found.cost <= limit.enough)
}

fn started(problem: &Problem, name: &'static str, rng: &mut fastrand::Rng) -> Started {
    let along = |order: Vec<u32>| seed::lawful(problem, seed::in_order(&order, &seed::nested(problem)));
    let slot_of = match name {
        "recursive bisection" => seed::recursive(problem, rng),
        "greedy growth" => seed::greedy(problem),
        "spectral order" => along(seed::spectral(problem, rng)),
        "RCM order" => along(seed::rcm(problem)),
        _ => along((0..problem.slots() as u32).collect()),
    };
    let mut engine = Sparse::new(problem, slot_of);
    engine.descend();
    Started { name, found: Found { cost: engine.cost(), slot_of: engine.assignment().to_vec() } }
}

fn refine(problem: &Problem, started: &mut Started, rng: &mut fastrand::Rng, limit: &Limit) {
    let slot_of = started.found.slot_of.clone();
    let found = match Tour::new(problem, slot_of.clone()) {
        Some(mut tour) => iterate(&mut tour, rng, limit),
        None => iterate(&mut Sparse::new(problem, slot_of), rng, limit),
    };
    if found.cost < started.found.cost {
        started.found = found;
    }
}
