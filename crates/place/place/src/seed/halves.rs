//! Divides slots in two distant sets.

use crate::Problem;
use crate::search::{DeadlineWatch, SearchLimit};
use seatmap_data::statistics::Ordered;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Divides slots in two compact halves, or at a clear gap near the middle.
///
/// The two slots farthest apart attract the others; then pairs change sides while that helps. A
/// PU's slots stay together if there are several PUs.
pub fn halves(problem: &Problem, slots: &[u32], limit: &SearchLimit) -> (Vec<u32>, Vec<u32>) {
    let mut of_pu = BTreeMap::<u32, Vec<u32>>::new();
    slots
        .iter()
        .for_each(|slot| of_pu.entry(problem.pu_of_slot[*slot as usize]).or_default().push(*slot));
    if of_pu.len() == slots.len() || of_pu.len() == 1 {
        return cut(problem, slots, limit);
    }
    // A cut through a PU would separate the nearest tasks.
    let one_each: Vec<u32> = of_pu.values().map(|slots| slots[0]).collect();
    let (left, right) = cut(problem, &one_each, limit);
    let [left, right] = [left, right].map(|side| {
        side.into_iter()
            .flat_map(|slot| of_pu[&problem.pu_of_slot[slot as usize]].iter().copied())
            .collect()
    });
    (left, right)
}

fn farthest(problem: &Problem, slots: &[u32], from: u32) -> u32 {
    let slots = slots.iter().copied();
    slots.max_by_key(|slot| Ordered(problem.apart(from, *slot))).unwrap_or(from)
}

fn cut(problem: &Problem, slots: &[u32], limit: &SearchLimit) -> (Vec<u32>, Vec<u32>) {
    // Linear time; exact on a line or tree, almost elsewhere.
    let one = farthest(problem, slots, slots[0]);
    let other = farthest(problem, slots, one);
    let key = |slot: u32| problem.apart(one, slot) - problem.apart(other, slot);
    let mut sorted = slots.to_vec();
    sorted.sort_by_cached_key(|slot| (Ordered(key(*slot)), *slot));
    let keys: Vec<f64> = sorted.iter().map(|slot| key(*slot)).collect();
    let middle = sorted.len() / 2;
    // A cut between distant slots is fine; otherwise another may be better.
    let parts_neighbours =
        problem.apart(sorted[middle - 1], sorted[middle]) < 0.5 * problem.apart(one, other);
    let at_middle = settled(problem, &sorted, middle, limit);
    let elsewhere = if parts_neighbours { gap(&keys) } else { middle };
    if elsewhere == middle {
        return at_middle;
    }
    // Two groups of four show as clear a gap as one of three.
    let at_gap = settled(problem, &sorted, elsewhere, limit);
    if inside(problem, &at_gap) < inside(problem, &at_middle) { at_gap } else { at_middle }
}

type Sides = (Vec<u32>, Vec<u32>);

fn settled(problem: &Problem, sorted: &[u32], cut: usize, limit: &SearchLimit) -> Sides {
    let mut left = sorted[..cut].to_vec();
    let mut right = sorted[cut..].to_vec();
    if sorted.len() <= LARGEST_SETTLED {
        settle(problem, &mut left, &mut right, limit);
    }
    (left, right)
}

/// By samples.
fn inside(problem: &Problem, sides: &Sides) -> f64 {
    let pairs = sides.0.len().pow(2) + sides.1.len().pow(2);
    (inside_side(problem, &sides.0) + inside_side(problem, &sides.1)) / pairs as f64
}

fn inside_side(problem: &Problem, side: &[u32]) -> f64 {
    let step = side.len().div_ceil(MOST_SAMPLED).max(1);
    let sample: Vec<u32> = side.iter().copied().step_by(step).collect();
    let sum: f64 = sample.iter().map(|slot| to_side(problem, *slot, &sample)).sum();
    let mean = sum / (sample.len() * sample.len()) as f64;
    mean * (side.len() * side.len()) as f64
}

fn to_side(problem: &Problem, slot: u32, side: &[u32]) -> f64 {
    side.iter().map(|other| problem.apart(slot, *other)).sum()
}

const MOST_SAMPLED: usize = 128;

/// The widest gap in the middle half, if above a third of the range, or else the middle.
fn gap(keys: &[f64]) -> usize {
    let n = keys.len();
    let range = keys[n - 1] - keys[0];
    let cuts = ((n / 4).max(1)..=(n - (n / 4).max(1))).map(|cut| (keys[cut] - keys[cut - 1], cut));
    let widest = cuts.max_by_key(|(width, cut)| (Ordered(*width), Reverse((2 * cut).abs_diff(n))));
    widest.filter(|(width, _)| *width > range / 3.0).map_or(n / 2, |(_, cut)| cut)
}

fn settle(problem: &Problem, left: &mut [u32], right: &mut [u32], limit: &SearchLimit) {
    let mut watch = DeadlineWatch::new(limit, (left.len() + right.len()).pow(2));
    for _ in 0..left.len() + right.len() {
        if watch.is_late() {
            return;
        }
        let from_left = gains(problem, left, right);
        let from_right = gains(problem, right, left);
        // Exchanging the two best may change nothing.
        let lefts = best(&from_left);
        let rights = best(&from_right);
        let pairs = lefts.iter().flat_map(|a| rights.iter().map(move |b| (*a, *b)));
        let gained = pairs
            .map(|(a, b)| {
                let apart = problem.apart(left[a], right[b]);
                // Each gain counts the distance between the two, which remain on different sides.
                (from_left[a] + from_right[b] + 2.0 * apart, a, b)
            })
            .max_by_key(|(gain, ..)| Ordered(*gain));
        let Some((gain, a, b)) = gained else { return };
        // Gains from rounding errors would go in circles.
        if gain <= 1e-6 * to_side(problem, left[a], right).abs() {
            return;
        }
        std::mem::swap(&mut left[a], &mut right[b]);
    }
}

fn gains(problem: &Problem, side: &[u32], other: &[u32]) -> Vec<f64> {
    side.iter().map(|slot| to_side(problem, *slot, side) - to_side(problem, *slot, other)).collect()
}

fn best(gains: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..gains.len()).collect();
    order.sort_by_key(|at| Reverse(Ordered(gains[*at])));
    order.truncate(MOST_TRIED);
    order
}

/// With more slots, all pairs take too long.
const LARGEST_SETTLED: usize = 1024;

const MOST_TRIED: usize = 32;
