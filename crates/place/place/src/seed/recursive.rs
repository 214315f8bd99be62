//! Recursive bisection of tasks and slots together.

use super::bisect::bisect;
use super::halves::halves;
use super::lawful;
use crate::Problem;
use crate::search::SearchLimit;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use std::collections::VecDeque;

/// Divides the machine in distant halves and the tasks in sets with little traffic between them,
/// down to single slots.
///
/// Dual recursive bipartitioning (Pellegrini 1994) on measured distances, level by level, so a cut
/// knows the side of each partner outside.
pub fn recursive(problem: &Problem, rng: &mut Xoshiro, limit: &SearchLimit) -> Vec<u32> {
    let n = problem.slots();
    // A slot in the middle of each item's current set.
    let mut middle_of = vec![0_u32; n];
    let all: Vec<u32> = (0..n as u32).collect();
    let mut open = VecDeque::from([(all.clone(), all)]);
    while let Some((items, slots)) = open.pop_front() {
        if slots.len() == 1 {
            middle_of[items[0] as usize] = slots[0];
            continue;
        }
        let (left, right) = halves(problem, &slots, limit);
        let middles = (middle(problem, &left), middle(problem, &right));
        let bias: Vec<f64> = if limit.is_late() {
            vec![0.0; items.len()]
        } else {
            items.iter().map(|item| pull(problem, *item, &slots, &middle_of, middles)).collect()
        };
        let second = bisect(&problem.traffic, &items, left.len(), &bias, rng, limit);
        for (is_second, slots, middle) in [(false, left, middles.0), (true, right, middles.1)] {
            let here = items.iter().zip(&second).filter(|(_, second)| **second == is_second);
            let items: Vec<u32> = here.map(|(item, _)| *item).collect();
            items.iter().for_each(|item| middle_of[*item as usize] = middle);
            open.push_back((items, slots));
        }
    }
    lawful(problem, middle_of)
}

/// Slots in the order of repeated bisection: neighbours are near.
pub fn nested(problem: &Problem, limit: &SearchLimit) -> Vec<u32> {
    let mut order: Vec<u32> = Vec::with_capacity(problem.slots());
    let mut open = vec![(0..problem.slots() as u32).collect::<Vec<_>>()];
    while let Some(slots) = open.pop() {
        if slots.len() <= 1 {
            order.extend(slots);
            continue;
        }
        let (left, right) = halves(problem, &slots, limit);
        // The half nearer to the previous set goes first.
        let near =
            |side: &[u32]| order.last().map_or(0.0, |last| distance_to(problem, *last, side));
        open.extend(if near(&right) < near(&left) { [left, right] } else { [right, left] });
    }
    order
}

fn distance_to(problem: &Problem, slot: u32, side: &[u32]) -> f64 {
    side.iter().map(|other| problem.apart(slot, *other)).sum::<f64>() / side.len() as f64
}

fn middle(problem: &Problem, slots: &[u32]) -> u32 {
    // At most 1,024 distances for sets of any size.
    let step = slots.len().div_ceil(32).max(1);
    let sample: Vec<u32> = slots.iter().copied().step_by(step).collect();
    sample
        .iter()
        .copied()
        .min_by_key(|slot| Ordered(distance_to(problem, *slot, &sample)))
        .unwrap_or(0)
}

/// The cost of the second half over the first, by partners outside.
fn pull(
    problem: &Problem,
    item: u32,
    slots: &[u32],
    middle_of: &[u32],
    middles: (u32, u32),
) -> f64 {
    let item = item as usize;
    if item >= problem.tasks() || slots.len() == problem.slots() {
        return 0.0;
    }
    let apart = problem.apart(middles.0, middles.1).max(f64::MIN_POSITIVE);
    // The cut itself counts traffic with partners in the same set.
    let outside = problem.traffic.of(item).filter(|(with, _)| middle_of[*with] != middle_of[item]);
    outside
        .map(|(with, weight)| {
            let there = middle_of[with];
            weight * (problem.apart(middles.1, there) - problem.apart(middles.0, there)) / apart
        })
        .sum()
}
