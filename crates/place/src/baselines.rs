//! What people would have done without a plan.

use crate::orders::{compact, scatter};
use crate::{Problem, Pus, Request, seed};
use seatmap_plan::{Baselines, Random};

/// Random placements drawn.
const DRAWN: usize = 1000;
/// As many where each is a run of the program.
pub(crate) const DRAWN_BY_RUNS: usize = 24;
/// Tasks beyond which fewer random placements do: their costs hardly differ.
const LARGEST_DRAWN: usize = 2000;

/// How many random placements to draw where a cost is a sum.
pub(crate) fn drawn(problem: &Problem) -> usize {
    if problem.tasks() > LARGEST_DRAWN { DRAWN / 50 } else { DRAWN }
}

/// The PU (row) of each task, at random.
pub(crate) fn at_random(problem: &Problem, rng: &mut fastrand::Rng) -> Vec<usize> {
    let slot_of = seed::random(problem, rng);
    slot_of[..problem.tasks()].iter().map(|slot| problem.pu_of_slot[*slot as usize] as usize).collect()
}

/// What the usual placements cost. `cost` judges the PU (row) of each task. Nothing is asked of these placements but that
/// they use the same PUs: they are what a user gets who does not think of siblings or fixed tasks.
pub(crate) fn baselines(
    request: &Request,
    problem: &Problem,
    pus: &Pus,
    drawn: usize,
    cost: impl Fn(&[usize]) -> f64,
) -> Baselines {
    let tasks = problem.tasks();
    let row = |os: &u32| pus.index_of(*os).unwrap_or(0);
    let along = |order: &[u32]| cost(&(0..tasks).map(|task| row(&order[task % order.len()])).collect::<Vec<_>>());
    let mut os = pus.os.clone();
    os.sort_unstable();
    let topology = &request.profile.topology;
    let mut rng = fastrand::Rng::with_seed(request.seed);
    let random: Vec<f64> = (0..drawn).map(|_| cost(&at_random(problem, &mut rng))).collect();
    Baselines {
        os: along(&os),
        compact: along(&compact(topology, &pus.os, &pus.distance_ns)),
        scatter: along(&scatter(topology, &pus.os, &pus.distance_ns)),
        random: Random {
            mean: random.iter().sum::<f64>() / random.len() as f64,
            best: random.iter().copied().fold(f64::INFINITY, f64::min),
        },
    }
}
