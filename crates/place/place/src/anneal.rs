//! Simulated annealing for many tasks, from a start by graph cuts.
//!
//! Cuts of a coarsened graph find the large parts of stencils, meshes and trees; annealing does the
//! rest. Short walks choose the first temperature.

mod metric;
mod swaps;

use crate::portfolio::{StartSolution, portfolio, refine};
use crate::search::{SearchLimit, Solution};
use crate::seed::{CutCare, greedy, multisection, put_fixed, recursive};
use crate::slot_groups::SlotGroups;
use crate::{Problem, Traffic};
use metric::{MeasuredSlots, SlotMetric};
use seatmap_data::statistics::Xoshiro;
use std::time::Instant;
use swaps::{SwapWalk, Temperatures, Uphill};

/// First temperatures of the short walks, in units of the mean cost of a worsening swap.
const HEATS: [f64; 4] = [0.015, 0.05, 0.12, 0.3];

/// A hotter walk may be worse by this factor: it gains more from length.
const HOTTER: f64 = 1.003;

/// The last temperature, in units of the cost of the cheapest tenth of worsening swaps.
const COLD: f64 = 0.05;

const START_PART: u32 = 4;

const QUICK: CutCare = CutCare { tries: 1, cycles: 0 };

const CAREFUL: CutCare = CutCare { tries: 3, cycles: 4 };

/// The time of a careful start, in quick ones.
const CAREFUL_TIMES: u32 = 12;

const MOST_STARTS: u64 = 4;

/// Kicks for each careful start without a clock.
const KICKS_A_START: u64 = 5000;

/// Kicks per slot and round: a new start is then better than a longer walk.
const ROUND_KICKS: u64 = 80;

/// Parts of the time after the start: one per short walk, the rest for the long one.
const WALKS: u32 = 12;

/// Equal parts of the time: annealing by groups, portfolio, annealing by distances, kicks.
const NEAR_PARTS: u32 = 4;

/// From this many slots on, annealing beats kicks even without groups.
const DISTANCES_FROM: usize = 1500;

/// With more slots, kicks are not worth their table of tasks x PUs.
const MOST_IN_TABLE: usize = 2048;

/// From this many slots on, nested groups suffice.
const GROUPS_FROM: usize = 64;

/// From this many slots on, approximate groups give a start.
const NEAR_FROM: usize = 160;

/// From this many slots on, the portfolio does not improve approximate groups.
const MANY: usize = 400;

pub(crate) enum AnnealWay {
    Groups(SlotGroups),
    /// On approximate groups, and then by the true distances.
    Near(SlotGroups),
    Distances,
}

/// The annealing method; `None` if the portfolio suits the problem better.
pub(crate) fn way(problem: &Problem) -> Option<AnnealWay> {
    let slots = problem.slots();
    // A swap with a hole may violate a zone's limits.
    if !problem.zones.are_free() || slots < GROUPS_FROM {
        return None;
    }
    if let Some(groups) = SlotGroups::of(problem) {
        return Some(AnnealWay::Groups(groups));
    }
    if slots >= NEAR_FROM
        && let Some(groups) = SlotGroups::near(problem)
    {
        return Some(AnnealWay::Near(groups));
    }
    (slots >= DISTANCES_FROM).then_some(AnnealWay::Distances)
}

impl AnnealWay {
    pub fn search(&self, problem: &Problem, limit: &SearchLimit, seed: u64) -> StartSolution {
        match self {
            AnnealWay::Groups(groups) => {
                in_groups(&problem.traffic, &problem.fixed, groups, limit, seed)
            }
            AnnealWay::Near(groups) => near_groups(problem, groups, limit, seed),
            AnnealWay::Distances => {
                by_distance(problem, quick_start(problem, &limit.part(2), seed), limit, seed)
            }
        }
    }
}

/// Returns the cheapest placement on nested groups found until the limit. Fixed tasks keep their
/// slots. There must not be more tasks than slots.
///
/// Restarts: with few tasks, a new start finds a better placement sooner than a longer walk.
pub fn in_groups(
    traffic: &Traffic,
    fixed: &[Option<u32>],
    groups: &SlotGroups,
    limit: &SearchLimit,
    seed: u64,
) -> StartSolution {
    let mut rng = Xoshiro::new(seed);
    let most = ROUND_KICKS * groups.slots() as u64;
    let mut left = limit.kicks;
    let mut best = Solution { cost: f64::INFINITY, slot_of: Vec::new() };
    loop {
        let round = SearchLimit { kicks: left.min(most), ..limit.clone() };
        left -= round.kicks;
        let slot_of = cut_start(traffic, fixed, groups, &round, &mut rng);
        let mut walk = SwapWalk::new(traffic, fixed, groups, slot_of);
        let found = cooled(&mut walk, &round, &mut rng);
        if found.cost < best.cost {
            best = found;
        }
        if left == 0 || limit.ends_at(best.cost) {
            return StartSolution { name: "multisection", solution: best };
        }
    }
}

fn cut_start(
    traffic: &Traffic,
    fixed: &[Option<u32>],
    groups: &SlotGroups,
    limit: &SearchLimit,
    rng: &mut Xoshiro,
) -> Vec<u32> {
    let began = Instant::now();
    let part = limit.part(START_PART);
    let mut best = cut_placement(traffic, fixed, groups, QUICK, limit, rng);
    let careful = began.elapsed() * CAREFUL_TIMES;
    let mut left = MOST_STARTS.min(limit.kicks / KICKS_A_START);
    while left > 0 && part.deadline.is_none_or(|end| Instant::now() + careful <= end) {
        left -= 1;
        let start = cut_placement(traffic, fixed, groups, CAREFUL, limit, rng);
        if start.cost < best.cost {
            best = start;
        }
    }
    best.slot_of
}

fn cut_placement(
    traffic: &Traffic,
    fixed: &[Option<u32>],
    groups: &SlotGroups,
    care: CutCare,
    limit: &SearchLimit,
    rng: &mut Xoshiro,
) -> Solution {
    let mut slot_of = multisection(traffic, groups, care, limit, rng);
    put_fixed(fixed, &mut slot_of);
    SwapWalk::new(traffic, fixed, groups, slot_of).solution()
}

/// By approximate groups, for few slots with the portfolio, then by the true distances.
fn near_groups(
    problem: &Problem,
    groups: &SlotGroups,
    limit: &SearchLimit,
    seed: u64,
) -> StartSolution {
    let mut rng = Xoshiro::new(seed);
    // A cost by the approximate distances says nothing about `enough`.
    let by_groups = nth_part(limit, 0, NEAR_PARTS).until(f64::NEG_INFINITY);
    let mut best = in_groups(&problem.traffic, &problem.fixed, groups, &by_groups, seed);
    best.solution.cost = problem.cost(&best.solution.slot_of);
    if problem.slots() < MANY {
        let other = portfolio(problem, &nth_part(limit, 1, NEAR_PARTS), seed);
        if other.solution.cost < best.solution.cost {
            best = other;
        }
    }
    best = by_distance(problem, best, &nth_part(limit, 2, NEAR_PARTS), seed);
    if problem.slots() <= MOST_IN_TABLE {
        refine(problem, &mut best, &mut rng, &nth_part(limit, 3, NEAR_PARTS));
    }
    best
}

/// The cheaper of two starts; kicks would take too long.
fn quick_start(problem: &Problem, limit: &SearchLimit, seed: u64) -> StartSolution {
    let halved = recursive(problem, &mut Xoshiro::new(seed), limit);
    let halved = StartSolution::new("recursive bisection", problem, halved);
    let grown = greedy(problem, limit);
    let grown = grown.map(|slot_of| StartSolution::new("greedy growth", problem, slot_of));
    grown.filter(|grown| grown.solution.cost < halved.solution.cost).unwrap_or(halved)
}

/// By the clock, later parts get the time that earlier ones saved.
fn nth_part(limit: &SearchLimit, nth: u32, parts: u32) -> SearchLimit {
    SearchLimit { kicks: limit.part(parts).kicks, ..limit.part(parts - nth) }
}

fn by_distance(
    problem: &Problem,
    start: StartSolution,
    limit: &SearchLimit,
    seed: u64,
) -> StartSolution {
    let mut rng = Xoshiro::new(seed);
    let metric = MeasuredSlots::new(problem, limit);
    let slot_of = start.solution.slot_of;
    let mut walk = SwapWalk::new(&problem.traffic, &problem.fixed, &metric, slot_of);
    let solution = cooled(&mut walk, limit, &mut rng);
    StartSolution { solution, ..start }
}

fn cooled<M: SlotMetric>(
    walk: &mut SwapWalk<M>,
    limit: &SearchLimit,
    rng: &mut Xoshiro,
) -> Solution {
    let start = walk.solution();
    let Some(uphill) = walk.uphill(rng) else { return start };
    let mut best = start.clone();
    let mut least = f64::INFINITY;
    let mut chosen = HEATS[0];
    for (at, heat) in (0..).zip(HEATS) {
        walk.put(&start);
        let found = walk.walk(uphill.from(heat), &nth_part(limit, at, WALKS), rng);
        if found.cost < least * HOTTER {
            (least, chosen) = (found.cost.min(least), heat);
        }
        if found.cost < best.cost {
            best = found;
        }
        if limit.ends_at(best.cost) {
            return best;
        }
    }
    walk.put(&best);
    let short = limit.part(WALKS).kicks;
    let long = SearchLimit {
        kicks: short.saturating_mul(u64::from(WALKS) - HEATS.len() as u64),
        ..limit.clone()
    };
    let found = walk.walk(uphill.from(chosen), &long, rng);
    if found.cost < best.cost { found } else { best }
}

impl Uphill {
    fn from(&self, heat: f64) -> Temperatures {
        let first = heat * self.mean;
        Temperatures { first, last: first.min(COLD * self.small) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{is_permutation, random_traffic};
    use proptest::prelude::*;
    use seatmap_data::machine::Square;

    fn groups() -> SlotGroups {
        SlotGroups::uniform(&[4, 4, 5], &[1.0, 6.0, 30.0]).unwrap()
    }

    fn measured(groups: &SlotGroups, traffic: Traffic, noise: f64) -> Problem {
        let mut rng = Xoshiro::new(3);
        let mut distance = Square::filled(groups.slots(), 0.0);
        for (a, b) in (0..groups.slots()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let apart = groups.between(a, b) * (1.0 + noise * (rng.unit() - 0.5));
            distance.set_both(a, b, apart as f32);
        }
        Problem::new(traffic, distance)
    }

    /// Mention a change in the release notes, because `--kicks` promises the same answer
    /// everywhere.
    #[test]
    fn annealing_result_per_seed_is_stable() {
        let traffic = random_traffic(80, 160, &mut Xoshiro::new(7));
        let answer = |seed| in_groups(&traffic, &[], &groups(), &SearchLimit::kicks(200), seed);
        let first = answer(1);
        assert_eq!(answer(1), first);
        assert_eq!((first.solution.cost, &first.solution.slot_of[..8]), GOLDEN_GROUPS);
        let problem = measured(&groups(), traffic.clone(), 0.1);
        let way = AnnealWay::Near(SlotGroups::near(&problem).unwrap());
        let near = way.search(&problem, &SearchLimit::kicks(60), 1);
        assert_eq!(way.search(&problem, &SearchLimit::kicks(60), 1), near);
        assert!((problem.cost(&near.solution.slot_of) - near.solution.cost).abs() < 1e-6);
    }

    const GOLDEN_GROUPS: (f64, &[u32]) = (8877.0, &[0, 4, 8, 64, 12, 16, 72, 5]);

    #[test]
    fn anneal_way_is_chosen_by_problem_shape() {
        let traffic = || random_traffic(80, 160, &mut Xoshiro::new(7));
        let exact = measured(&groups(), traffic(), 0.0);
        assert!(matches!(way(&exact), Some(AnnealWay::Groups(_))));
        assert!(way(&measured(&groups(), traffic(), 0.1)).is_none(), "the portfolio is better");
        let many = SlotGroups::uniform(&[4, 8, 6], &[1.0, 6.0, 30.0]).unwrap();
        assert!(matches!(way(&measured(&many, traffic(), 0.1)), Some(AnnealWay::Near(_))));
        let mesh =
            |a: usize, b: usize| ((a / 16).abs_diff(b / 16) + (a % 16).abs_diff(b % 16)) as f32;
        assert!(way(&Problem::new(traffic(), Square::from_fn(256, mesh))).is_none(), "no groups");
    }

    #[test]
    fn annealing_without_time_returns_permutation() {
        let groups = SlotGroups::uniform(&[16, 16, 64], &[1.0, 6.0, 30.0]).unwrap();
        let traffic = random_traffic(16_000, 32_000, &mut Xoshiro::new(1));
        let found = in_groups(&traffic, &[], &groups, &SearchLimit::seconds(0.0), 1);
        assert!(found.solution.slot_of.len() == 16_384 && is_permutation(&found.solution.slot_of));
    }

    #[test]
    fn annealing_beats_portfolio_on_random_graph() {
        let problem = measured(&groups(), random_traffic(80, 160, &mut Xoshiro::new(9)), 0.0);
        let kicked = portfolio(&problem, &SearchLimit::kicks(300), 1).solution.cost;
        let found = in_groups(&problem.traffic, &[], &groups(), &SearchLimit::kicks(3000), 1);
        assert!(found.solution.cost <= kicked, "{} {kicked}", found.solution.cost);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn annealing_keeps_fixed_tasks_and_never_worsens(
            tasks in 1..81_usize, edges in 0..300_usize, at in 0..80_u32, seed: u64
        ) {
            let traffic = random_traffic(tasks, edges, &mut Xoshiro::new(seed));
            let groups = groups();
            let fixed = [Some(at)];
            let found = in_groups(&traffic, &fixed, &groups, &SearchLimit::kicks(30), seed);
            prop_assert!(is_permutation(&found.solution.slot_of));
            prop_assert_eq!(found.solution.slot_of[0], at);
            let mut rng = Xoshiro::new(seed);
            let start = cut_start(&traffic, &fixed, &groups, &SearchLimit::kicks(30), &mut rng);
            let start = SwapWalk::new(&traffic, &fixed, &groups, start).solution().cost;
            prop_assert!(found.solution.cost <= start);
            let problem = measured(&groups, traffic, 0.0);
            prop_assert!((problem.cost(&found.solution.slot_of) - found.solution.cost).abs() < 1e-6);
        }
    }
}
