//! Placements of thousands of tasks, by merging tasks into pairs, and pairs into larger groups.

use crate::key::FloatKey;
use crate::portfolio::{StartSolution, downhill, portfolio};
use crate::search::{SearchLimit, Sparse, iterate};
use crate::seed::lawful;
use crate::{Problem, Traffic, Zones};
use seatmap_data::machine::Square;
use seatmap_data::statistics::Xoshiro;
use std::cmp::Reverse;

/// From this many slots on, this is faster than a search on all slots at once.
pub const SMALLEST: usize = 1500;
const SMALL: usize = 600;

/// Merges communicating tasks, and near slots, into pairs until few are left. Then it places these
/// and splits the pairs again, with a descent on each level (the V-cycle of Walshaw 2004).
pub fn multilevel(problem: &Problem, limit: &SearchLimit, seed: u64) -> StartSolution {
    let mut rng = Xoshiro::new(seed);
    let mut best = cycle(problem, &limit.part(3), seed);
    if let Some(mut engine) =
        Sparse::new(problem, lawful(problem, best.solution.slot_of.clone()), limit)
    {
        best.solution = iterate(&mut engine, &mut rng, limit);
    }
    best
}

fn cycle(problem: &Problem, limit: &SearchLimit, seed: u64) -> StartSolution {
    // With an odd number, one slot has no partner.
    if problem.slots() < SMALL || !problem.slots().is_multiple_of(2) || limit.is_late() {
        return portfolio(problem, limit, seed);
    }
    let items = pairs_of_items(problem);
    let slots = pairs_of_slots(problem);
    let coarse = joined(problem, &items, &slots);
    let above = cycle(&coarse, limit, seed);
    let mut slot_of = vec![0; problem.slots()];
    for (pair, slot) in above.solution.slot_of.iter().enumerate() {
        let item = items[pair];
        let seat = slots[*slot as usize];
        slot_of[item.0 as usize] = seat.0;
        slot_of[item.1 as usize] = seat.1;
    }
    StartSolution { name: above.name, solution: downhill(problem, lawful(problem, slot_of), limit) }
}

pub(crate) type MatchedPairs = Vec<(u32, u32)>;

/// Heavy-edge matching; the rest in order, tasks with tasks first.
fn pairs_of_items(problem: &Problem) -> MatchedPairs {
    let n = problem.slots();
    let mut partner = vec![u32::MAX; n];
    let mut order: Vec<usize> = (0..problem.tasks()).collect();
    order.sort_by_key(|task| problem.traffic.degree(*task));
    for task in order {
        let free = problem.traffic.of(task).filter(|(with, _)| partner[*with] == u32::MAX);
        let heaviest = free.max_by_key(|(with, weight)| (FloatKey(*weight), Reverse(*with)));
        if let Some((with, _)) = heaviest.filter(|_| partner[task] == u32::MAX) {
            (partner[task], partner[with]) = (with as u32, task as u32);
        }
    }
    let matched = (0..n as u32)
        .filter(|item| partner[*item as usize] != u32::MAX && *item < partner[*item as usize]);
    let mut pairs: MatchedPairs = matched.map(|item| (item, partner[item as usize])).collect();
    let left: Vec<u32> = (0..n as u32).filter(|item| partner[*item as usize] == u32::MAX).collect();
    pairs.extend(left.chunks_exact(2).map(|two| (two[0], two[1])));
    pairs
}

fn pairs_of_slots(problem: &Problem) -> MatchedPairs {
    let n = problem.slots();
    let mut free = vec![true; n];
    let mut pairs = Vec::with_capacity(n / 2);
    for slot in 0..n {
        if !std::mem::take(&mut free[slot]) {
            continue;
        }
        let nearest = (slot + 1..n)
            .filter(|other| free[*other])
            .min_by_key(|other| FloatKey(problem.between(slot, *other)));
        if let Some(other) = nearest {
            free[other] = false;
            pairs.push((slot as u32, other as u32));
        }
    }
    pairs
}

pub(crate) fn joined(problem: &Problem, items: &MatchedPairs, slots: &MatchedPairs) -> Problem {
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
