//! The whole portfolio, for tasks on slots or for two matrices.

use crate::Problem;
use crate::anneal;
use crate::as_problem::AsProblem;
use crate::beside::side_by_side;
use crate::bound::{self, BOUND_PART, gilmore_lawler_dense};
use crate::cycles::{can_join, cycles};
use crate::exact::{MOST_TASKS, exact};
use crate::portfolio::{StartSolution, portfolio, refine};
use crate::search::{Dense, Qap, SearchEngine, SearchLimit, Solution, iterate, tabu};
use seatmap_data::statistics::Xoshiro;

/// A bound in single precision may miss an equal cost by this factor.
pub(crate) const ROUNDED: f64 = 1.0 + f32::EPSILON as f64;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Cheapest {
    /// The cheapest assignment found.
    pub solution: Solution,
    /// Whether this assignment is proven cheapest.
    pub is_optimal: bool,
    /// The name of the winning method.
    pub method: String,
}

/// A solved problem of two matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The best permutation found.
    pub solution: Solution,
    /// Every permutation costs at least this.
    pub lower_bound: f64,
    /// Whether this permutation is proven cheapest.
    pub optimal: bool,
    /// The name of the winning method.
    pub method: String,
}

/// The cheapest placement by weight x distance: by V-cycles if PUs have several slots, by annealing
/// if many slots form groups or there are thousands, otherwise by the portfolio, with a proof for
/// few tasks.
pub fn cheapest(
    problem: &Problem,
    lower_bound: f64,
    limit: &SearchLimit,
    threads: usize,
    seed: u64,
) -> Cheapest {
    let until = limit.until(lower_bound * ROUNDED);
    if can_join(problem) {
        let best = cheapest_of(threads, seed, |seed| cycled(problem, &until, seed));
        return compared(problem, best, lower_bound, "cycles");
    }
    if let Some(way) = anneal::way(problem) {
        let best = cheapest_of(threads, seed, |seed| way.search(problem, &until, seed));
        return compared(problem, best, lower_bound, "annealing");
    }
    let is_small = problem.tasks() <= MOST_TASKS;
    let mut best = if is_small {
        portfolio(problem, &until.part(SMALL_PART), seed)
    } else {
        cheapest_of(threads, seed, |seed| portfolio(problem, &until, seed))
    };
    best.solution.cost = problem.cost(&best.solution.slot_of);
    if best.solution.cost <= lower_bound * ROUNDED {
        return cheapest_by(best.solution, true, best.name);
    }
    match is_small.then(|| exact(problem, &best.solution, limit)).flatten() {
        Some(found) => cheapest_by(found, true, "branch and bound"),
        None => cheapest_by(best.solution, false, best.name),
    }
}

fn cycled(problem: &Problem, limit: &SearchLimit, seed: u64) -> StartSolution {
    let start = portfolio(problem, &limit.part(START_PART), seed);
    cycles(problem, &start, limit, seed)
}

/// With the cost in double precision, which may reach the bound.
fn compared(problem: &Problem, best: StartSolution, lower_bound: f64, method: &str) -> Cheapest {
    let cost = problem.cost(&best.solution.slot_of);
    cheapest_by(
        Solution { cost, ..best.solution },
        cost <= lower_bound * ROUNDED,
        &format!("{method} from {}", best.name),
    )
}

const START_PART: u32 = 4;

/// The search before a proof takes 1/`SMALL_PART` of the time.
const SMALL_PART: u32 = 9;

pub(crate) fn cheapest_by(solution: Solution, is_optimal: bool, method: &str) -> Cheapest {
    Cheapest { solution, is_optimal, method: method.to_owned() }
}

pub(crate) fn cheapest_of(
    threads: usize,
    seed: u64,
    search: impl Fn(u64) -> StartSolution + Sync,
) -> StartSolution {
    side_by_side(threads, seed, search, |a, b| a.solution.cost < b.solution.cost)
}

/// Turns for matrices after the portfolio.
const TURNS: u32 = 8;

/// Searches until the limit, or until the answer is proven. Matrices that form a placement problem
/// first go through all methods for a pattern on a machine ([`crate::portfolio`],
/// [`crate::exact`]). Then kicks, for matrices with structure, and tabu
/// search take turns from the best permutation.
pub fn solve(qap: &Qap, limit: &SearchLimit, threads: usize, seed: u64) -> Solved {
    let form = AsProblem::new(qap);
    let part = limit.part(BOUND_PART);
    let mut lower_bound = gilmore_lawler_dense(qap, &part);
    if let Some(form) = &form {
        lower_bound = lower_bound.max(form.lower_bound(&part));
    }
    let mut best = match &form {
        Some(form) => form.cheapest(lower_bound, limit, threads, seed),
        None => cheapest_by(at_random(qap, seed), false, "a random start"),
    };
    let limit = limit.until(lower_bound + 1e-9 * lower_bound.abs());
    if !best.is_optimal && !limit.ends_at(best.solution.cost) {
        let better = cheapest_of(threads, seed, |seed| {
            in_turns(qap, form.as_ref(), &best.solution, &limit, seed)
        });
        if better.solution.cost < best.solution.cost {
            best = cheapest_by(better.solution, false, better.name);
        }
    }
    let cost = qap.cost(&best.solution.slot_of);
    let optimal = best.is_optimal || cost <= limit.enough;
    let solution = Solution { cost, slot_of: best.solution.slot_of };
    Solved {
        lower_bound: if optimal { cost } else { lower_bound },
        solution,
        optimal,
        method: best.method,
    }
}

fn at_random(qap: &Qap, seed: u64) -> Solution {
    let mut start: Vec<u32> = (0..qap.n() as u32).collect();
    Xoshiro::new(seed).shuffle(&mut start);
    Solution { cost: qap.cost(&start), slot_of: start }
}

/// A method that has just improved the best state keeps the turn.
fn in_turns(
    qap: &Qap,
    form: Option<&AsProblem>,
    start: &Solution,
    limit: &SearchLimit,
    seed: u64,
) -> StartSolution {
    let mut rng = Xoshiro::new(seed);
    let mut best = StartSolution { solution: start.clone(), name: "" };
    let mut is_tabu = false;
    let mut has_helped = false;
    for turn in 0..TURNS {
        is_tabu = is_tabu == has_helped;
        // An eighth, then a seventh of the rest, and so on.
        let part = limit.part(TURNS - turn);
        let name = if is_tabu { "tabu search" } else { "iterated local search" };
        let solution = match form.filter(|form| form.is_sparse() && !is_tabu) {
            Some(form) => form.kicked(&best.solution, &part, &mut rng),
            None => on_matrices(qap, &best.solution, is_tabu, &part, &mut rng),
        };
        has_helped = solution.as_ref().is_some_and(|solution| solution.cost < best.solution.cost);
        if let Some(solution) = solution.filter(|_| has_helped) {
            best = StartSolution { solution, name };
        }
        if limit.ends_at(best.solution.cost) {
            break;
        }
    }
    best
}

/// By tabu search from the next local optimum, or by kicks; `None` without time for a table.
fn on_matrices(
    qap: &Qap,
    from: &Solution,
    is_tabu: bool,
    limit: &SearchLimit,
    rng: &mut Xoshiro,
) -> Option<Solution> {
    let mut engine = Dense::new(qap, from.slot_of.clone(), limit)?;
    if !is_tabu {
        return Some(iterate(&mut engine, rng, limit));
    }
    engine.descend(limit);
    Some(tabu(&mut engine, rng, limit))
}

impl AsProblem {
    fn lower_bound(&self, limit: &SearchLimit) -> f64 {
        // Single precision may round distances up.
        bound::lower_bound(&self.problem, limit) * (1.0 - f64::from(f32::EPSILON))
    }

    /// Little time for matrices with few zeros: searching them directly is better.
    fn cheapest(
        &self,
        lower_bound: f64,
        limit: &SearchLimit,
        threads: usize,
        seed: u64,
    ) -> Cheapest {
        let part = match (self.problem.tasks() <= MOST_TASKS, self.is_sparse()) {
            // Only a failed proof uses all of the time.
            (true, _) => limit.clone(),
            (_, true) => limit.part(2),
            (_, false) => limit.part(TURNS),
        };
        let mut best = cheapest(&self.problem, lower_bound, &part, threads, seed);
        best.solution.slot_of = self.permutation(&best.solution.slot_of);
        best
    }

    fn kicked(&self, from: &Solution, limit: &SearchLimit, rng: &mut Xoshiro) -> Option<Solution> {
        let slot_of = self.assignment(&from.slot_of);
        let mut started =
            StartSolution { name: "", solution: Solution { cost: from.cost, slot_of } };
        refine(&self.problem, &mut started, rng, limit);
        let Solution { cost, slot_of } = started.solution;
        Some(Solution { cost, slot_of: self.permutation(&slot_of) })
    }
}

#[cfg(test)]
mod tests;
