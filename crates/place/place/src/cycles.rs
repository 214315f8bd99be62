//! Improves placements with many slots per PU by moving groups of tasks together.
//!
//! Swaps of two tasks cannot improve a good spread over nodes: a stencil's tile must move as a
//! whole. Each cycle joins communicating tasks of one PU into pairs, pairs into fours and so on,
//! and searches every level. Pairs keep their tasks' seats, so gains are never lost (iterated
//! V-cycles: Walshaw 2004; Sanders & Schulz 2011).

use crate::portfolio::StartSolution;
use crate::search::{SearchLimit, Solution, Sparse, iterate};
use crate::{Problem, Traffic, Zones};
use seatmap_data::machine::Square;
use seatmap_data::statistics::Xoshiro;

type MatchedPairs = Vec<(u32, u32)>;

/// The most kicks on a level: whole PUs are few.
const MOST_KICKS: u64 = 200;

/// If every PU has an even number of slots.
pub fn can_join(problem: &Problem) -> bool {
    let mut slots = vec![0_usize; problem.distance.n()];
    problem.pu_of_slot.iter().for_each(|pu| slots[*pu as usize] += 1);
    problem.zones.are_free()
        && problem.slots() > 0
        && slots.iter().all(|slots| slots.is_multiple_of(2))
}

/// The result is never worse than the start.
pub fn cycles(
    problem: &Problem,
    start: &StartSolution,
    limit: &SearchLimit,
    seed: u64,
) -> StartSolution {
    let mut rng = Xoshiro::new(seed);
    let mut best = start.clone();
    let mut left = limit.kicks;
    while left > 0 && !limit.ends_at(best.solution.cost) {
        left -= 1;
        let slot_of =
            cycle(problem, best.solution.slot_of.clone(), problem.slots(), &mut rng, limit);
        let cost = problem.cost(&slot_of);
        if cost <= best.solution.cost {
            best.solution = Solution { cost, slot_of };
        }
    }
    best
}

/// Coarser levels first.
fn cycle(
    problem: &Problem,
    slot_of: Vec<u32>,
    finest: usize,
    rng: &mut Xoshiro,
    limit: &SearchLimit,
) -> Vec<u32> {
    let mut slot_of = slot_of;
    if can_join(problem) && !limit.is_late() {
        let (items, slots) = pairs(problem, &slot_of, rng);
        let mut coarse = joined(problem, &items, &slots);
        for (pair, fixed) in coarse.fixed.iter_mut().enumerate() {
            let (a, b) = items[pair];
            let is_fixed = [a, b]
                .iter()
                .any(|item| problem.fixed.get(*item as usize).is_some_and(Option::is_some));
            // Pair k of the items is on pair k of the slots: a fixed task keeps both.
            *fixed = is_fixed.then_some(pair as u32);
        }
        let above = cycle(&coarse, (0..items.len() as u32).collect(), finest, rng, limit);
        for (pair, slot) in above.iter().enumerate() {
            let item = items[pair];
            let seat = slots[*slot as usize];
            (slot_of[item.0 as usize], slot_of[item.1 as usize]) = seat;
        }
    }
    // A pair's size squared: coarse levels are cheap, and whole tiles move there.
    let larger = (finest / problem.slots().max(1)) as u64;
    let kicks = (larger * larger).clamp(1, MOST_KICKS);
    let level = SearchLimit { kicks, ..limit.clone() };
    match Sparse::new(problem, slot_of.clone(), limit) {
        Some(mut engine) => iterate(&mut engine, rng, &level).slot_of,
        None => slot_of,
    }
}

/// Pairs on one PU, the heaviest communication first, holes last; and their slots.
fn pairs(problem: &Problem, slot_of: &[u32], rng: &mut Xoshiro) -> (MatchedPairs, MatchedPairs) {
    let pu_of: Vec<usize> = slot_of.iter().map(|slot| problem.pu(*slot)).collect();
    let tasks = problem.tasks() as u32;
    let mut free = vec![true; slot_of.len()];
    let mut order: Vec<u32> = (0..tasks).collect();
    rng.shuffle(&mut order);
    let mut pairs = MatchedPairs::new();
    for task in order {
        if free[task as usize]
            && let Some(with) = heaviest(
                &problem.traffic,
                task,
                |with| free[with as usize] && pu_of[with as usize] == pu_of[task as usize],
                rng,
            )
        {
            (free[task as usize], free[with as usize]) = (false, false);
            pairs.push((task, with));
        }
    }
    let mut left: Vec<u32> =
        (0..slot_of.len() as u32).filter(|item| free[*item as usize]).collect();
    left.sort_by_key(|item| (pu_of[*item as usize], *item >= tasks));
    pairs.extend(left.chunks_exact(2).map(|two| (two[0], two[1])));
    pairs.sort_by_key(|(a, b)| *a.min(b) >= tasks);
    let slots = pairs.iter().map(|(a, b)| (slot_of[*a as usize], slot_of[*b as usize])).collect();
    (pairs, slots)
}

/// Equal partners are chosen at random.
fn heaviest(
    traffic: &Traffic,
    task: u32,
    will_do: impl Fn(u32) -> bool,
    rng: &mut Xoshiro,
) -> Option<u32> {
    let mut best = 0.0;
    let mut found = None;
    let mut alike = 0;
    for (with, weight) in traffic.of(task as usize).filter(|(with, _)| will_do(*with as u32)) {
        alike = if weight == best { alike + 1 } else { 1 };
        // Reservoir sampling: each of k equal edges has probability 1/k.
        if weight > best || (weight == best && rng.below(alike) == 0) {
            (best, found) = (weight, Some(with as u32));
        }
    }
    found
}

fn joined(problem: &Problem, items: &MatchedPairs, slots: &MatchedPairs) -> Problem {
    let tasks = problem.tasks();
    // Pairs of holes come last, like holes.
    let coarse_tasks = items.iter().filter(|(a, b)| (*a.min(b) as usize) < tasks).count();
    let mut pair_of = vec![0_usize; problem.slots()];
    for (at, (a, b)) in items.iter().enumerate() {
        (pair_of[*a as usize], pair_of[*b as usize]) = (at, at);
    }
    let edges = problem.traffic.edges();
    let traffic =
        Traffic::new(coarse_tasks, edges.map(|(a, b, weight)| (pair_of[a], pair_of[b], weight)));
    // If pairs stay on one PU, the much smaller table of PUs remains valid.
    let (distance, pu_of_slot) = if slots.iter().all(|(a, b)| problem.pu(*a) == problem.pu(*b)) {
        (problem.distance.clone(), slots.iter().map(|(a, _)| problem.pu(*a) as u32).collect())
    } else {
        (of_pairs(problem, slots), (0..slots.len() as u32).collect())
    };
    Problem {
        fixed: vec![None; coarse_tasks],
        zones: Zones::free(slots.len()),
        pu_of_slot,
        distance,
        traffic,
    }
}

fn of_pairs(problem: &Problem, slots: &MatchedPairs) -> Square<f32> {
    Square::from_fn(slots.len(), |i, j| {
        let (a, b) = slots[i];
        let (c, d) = slots[j];
        if i == j {
            return problem.apart(a, b) as f32;
        }
        let of_a = problem.apart(a, c) + problem.apart(a, d);
        (0.25 * (of_a + problem.apart(b, c) + problem.apart(b, d))) as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{is_permutation, with_slots};
    use proptest::prelude::*;

    fn nodes(nodes: usize, traffic: Traffic) -> Problem {
        let apart = |a: usize, b: usize| match (a == b, a / 2 == b / 2) {
            (true, _) => 1.0,
            (_, true) => 10.0,
            (_, false) => 40.0,
        };
        with_slots(traffic, Square::from_fn(nodes, apart), 4)
    }

    fn start(problem: &Problem, slot_of: Vec<u32>) -> StartSolution {
        let solution = Solution { cost: problem.cost(&slot_of), slot_of };
        StartSolution { name: "", solution }
    }

    #[test]
    fn cycles_improve_placement_beyond_swaps() {
        // Two pairs of grids, each spread over nodes of two switches: whole grids must move.
        let links = [(0, 4, 1.0), (8, 12, 1.0)];
        let edges = [0, 4, 8, 12]
            .into_iter()
            .flat_map(|first| {
                [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(a, b)| (first + a, first + b, 9.0))
            })
            .chain(links);
        let problem = nodes(4, Traffic::new(16, edges));
        // Squares 0 and 2 share a switch, as do 1 and 3.
        let node_of_square = [0, 2, 1, 3];
        let slots = (0..16).map(|task| node_of_square[task / 4] * 4 + task as u32 % 4);
        let start = start(&problem, slots.collect());
        let found = cycles(&problem, &start, &SearchLimit::kicks(1), 1);
        assert_eq!(
            (start.solution.cost, found.solution.cost),
            (16.0 * 9.0 + 80.0, 16.0 * 9.0 + 20.0)
        );
    }

    proptest! {
        #[test]
        fn cycles_keep_fixed_tasks_and_never_worsen(
            count in 1..5_usize, tasks in 1..16_usize, edges in prop::collection::vec((0..16_usize, 0..16_usize, 1..9_u32), 0..30), seed: u64
        ) {
            let tasks = tasks.min(4 * count);
            let edges = edges.iter().map(|(a, b, weight)| (a % tasks, b % tasks, f64::from(*weight)));
            let mut problem = nodes(count, Traffic::new(tasks, edges));
            problem.fixed[0] = Some(1);
            let slot_of = crate::seed::random(&problem, &mut Xoshiro::new(seed));
            let start = start(&problem, slot_of);
            let found = cycles(&problem, &start, &SearchLimit::kicks(3), seed);
            prop_assert!(found.solution.cost <= start.solution.cost);
            prop_assert_eq!(found.solution.slot_of[0], 1);
            prop_assert!(is_permutation(&found.solution.slot_of));
        }
    }
}
