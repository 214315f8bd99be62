//! Recursive bisection of tasks and slots together.

use super::bisect::bisect;
use super::halves::halves;
use super::lawful;
use crate::Problem;
use crate::search::SearchLimit;
use seatmap_data::statistics::Xoshiro;
use std::collections::VecDeque;

/// Cuts the machine in two far halves and the tasks in two that talk little, and so on down to
/// single slots.
///
/// This is dual recursive bipartitioning (Pellegrini 1994, "Static mapping by dual recursive
/// bipartitioning of process and architecture graphs") on measured distances. Level by level, so
/// that a cut knows on which side of the machine the partners outside lie. From the deadline on
/// cuts are no longer searched for but made as items and slots come.
#[must_use]
pub fn recursive(problem: &Problem, rng: &mut Xoshiro, limit: &SearchLimit) -> Vec<u32> {
    let n = problem.slots();
    // Where each item is so far: a slot in the middle of the set that it will be put on.
    let mut middle_of = vec![0_u32; n];
    let mut open =
        VecDeque::from([((0..n as u32).collect::<Vec<_>>(), (0..n as u32).collect::<Vec<_>>())]);
    while let Some((items, slots)) = open.pop_front() {
        if slots.len() == 1 {
            middle_of[items[0] as usize] = slots[0];
            continue;
        }
        let (left, right) = halves(problem, &slots, limit);
        let middles = (middle(problem, &left), middle(problem, &right));
        // The pull costs a look at every edge, and without time the cut does not look at it.
        let bias: Vec<f64> = if limit.is_late() {
            vec![0.0; items.len()]
        } else {
            items.iter().map(|item| pull(problem, *item, &slots, &middle_of, middles)).collect()
        };
        let second = bisect(&problem.traffic, &items, left.len(), &bias, rng, limit);
        for (is_second, slots, middle) in [(false, left, middles.0), (true, right, middles.1)] {
            let items: Vec<u32> = items
                .iter()
                .zip(&second)
                .filter(|(_, second)| **second == is_second)
                .map(|(item, _)| *item)
                .collect();
            items.iter().for_each(|item| middle_of[*item as usize] = middle);
            open.push_back((items, slots));
        }
    }
    lawful(problem, middle_of)
}

/// Slots in the order in which the machine falls apart: neighbours in it are near each other, as
/// far as the time until the deadline goes.
#[must_use]
pub fn nested(problem: &Problem, limit: &SearchLimit) -> Vec<u32> {
    let mut order = Vec::with_capacity(problem.slots());
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
        let (first, then) = if near(&right) < near(&left) { (right, left) } else { (left, right) };
        // Last in, first out: the nearer half is taken apart completely before the other one.
        open.extend([then, first]);
    }
    order
}

fn distance_to(problem: &Problem, slot: u32, side: &[u32]) -> f64 {
    side.iter().map(|other| problem.between(slot as usize, *other as usize)).sum::<f64>()
        / side.len() as f64
}

/// The slot nearest to all others of a set; of a large set, of those sampled.
fn middle(problem: &Problem, slots: &[u32]) -> u32 {
    // At most 32 samples, so at most 1,024 distances, whatever the size of the set.
    let step = slots.len().div_ceil(32).max(1);
    let sample: Vec<u32> = slots.iter().copied().step_by(step).collect();
    sample
        .iter()
        .map(|slot| (distance_to(problem, *slot, &sample), *slot))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(0, |(_, slot)| slot)
}

/// The extra cost of an item on the second half over the first for its partners elsewhere, in units
/// of traffic.
fn pull(
    problem: &Problem,
    item: u32,
    slots: &[u32],
    middle_of: &[u32],
    middles: (u32, u32),
) -> f64 {
    let item = item as usize;
    // Holes talk to nobody, and at the first cut there is nobody outside.
    if item >= problem.tasks() || slots.len() == problem.slots() {
        return 0.0;
    }
    let apart = problem.between(middles.0 as usize, middles.1 as usize).max(f64::MIN_POSITIVE);
    // Partners in the same set have the same middle; the cut itself counts the traffic with them.
    let outside = problem.traffic.of(item).filter(|(with, _)| middle_of[*with] != middle_of[item]);
    outside
        .map(|(with, weight)| {
            let there = middle_of[with];
            weight * (problem.apart(middles.1, there) - problem.apart(middles.0, there)) / apart
        })
        .sum()
}
