//! A set of slots cut in two that lie far apart.

use crate::Problem;
use crate::search::{Limit, Watch};
use std::collections::BTreeMap;

/// Cuts slots in two compact halves. Where the machine shows a clear gap near the middle it is cut
/// there.
///
/// The two slots farthest apart pull the others to their side; then pairs change sides while that
/// makes the sides more compact and the deadline has not come. The slots of a PU stay together as
/// long as there are others.
#[must_use]
pub fn halves(problem: &Problem, slots: &[u32], limit: &Limit) -> (Vec<u32>, Vec<u32>) {
    let mut of_pu = BTreeMap::<u32, Vec<u32>>::new();
    slots
        .iter()
        .for_each(|slot| of_pu.entry(problem.pu_of_slot[*slot as usize]).or_default().push(*slot));
    if of_pu.len() == slots.len() || of_pu.len() == 1 {
        return cut(problem, slots, limit);
    }
    let one_each: Vec<u32> = of_pu.values().map(|slots| slots[0]).collect();
    let (left, right) = cut(problem, &one_each, limit);
    let whole = |side: Vec<u32>| -> Vec<u32> {
        side.into_iter()
            .flat_map(|slot| of_pu[&problem.pu_of_slot[slot as usize]].iter().copied())
            .collect()
    };
    (whole(left), whole(right))
}

fn cut(problem: &Problem, slots: &[u32], limit: &Limit) -> (Vec<u32>, Vec<u32>) {
    let at = |a: u32, b: u32| problem.between(a as usize, b as usize);
    let far = |from: u32| {
        slots.iter().copied().max_by(|a, b| at(from, *a).total_cmp(&at(from, *b))).unwrap_or(from)
    };
    let one = far(slots[0]);
    let other = far(one);
    let key = |slot: u32| at(one, slot) - at(other, slot);
    let mut sorted = slots.to_vec();
    sorted.sort_by(|a, b| key(*a).total_cmp(&key(*b)).then(a.cmp(b)));
    let middle = sorted.len() / 2;
    let keys: Vec<f64> = sorted.iter().map(|slot| key(*slot)).collect();
    // Between neighbours another cut near the middle may be better; between strangers it is not.
    let parts_neighbours = at(sorted[middle - 1], sorted[middle]) < 0.5 * at(one, other);
    let at_middle = settled(problem, &sorted, middle, limit);
    let elsewhere = if parts_neighbours { gap(&keys) } else { middle };
    if elsewhere == middle {
        return at_middle;
    }
    // Two groups of four are as clear a cut as one of three: the more compact sides decide.
    let at_gap = settled(problem, &sorted, elsewhere, limit);
    if inside(problem, &at_gap) < inside(problem, &at_middle) { at_gap } else { at_middle }
}

/// The two sides of a cut in a list.
type Sides = (Vec<u32>, Vec<u32>);

fn settled(problem: &Problem, sorted: &[u32], cut: usize, limit: &Limit) -> Sides {
    let mut left = sorted[..cut].to_vec();
    let mut right = sorted[cut..].to_vec();
    if sorted.len() <= LARGEST_SETTLED {
        settle(problem, &mut left, &mut right, limit);
    }
    (left, right)
}

/// The mean distance inside the sides. Of large sides some slots stand for all.
fn inside(problem: &Problem, sides: &Sides) -> f64 {
    let of = |side: &[u32]| -> f64 {
        let step = side.len().div_ceil(MOST_SAMPLED).max(1);
        let sample: Vec<u32> = side.iter().copied().step_by(step).collect();
        let to = |slot: u32| {
            sample.iter().map(|other| problem.between(slot as usize, *other as usize)).sum::<f64>()
        };
        let mean =
            sample.iter().map(|slot| to(*slot)).sum::<f64>() / (sample.len() * sample.len()) as f64;
        mean * (side.len() * side.len()) as f64
    };
    let pairs = sides.0.len().pow(2) + sides.1.len().pow(2);
    (of(&sides.0) + of(&sides.1)) / pairs as f64
}

/// Slots of a side whose distances are averaged.
const MOST_SAMPLED: usize = 128;

/// The middle, or a gap of a third of the whole range in the middle half.
fn gap(keys: &[f64]) -> usize {
    let n = keys.len();
    let range = keys[n - 1] - keys[0];
    let width = |cut: usize| keys[cut] - keys[cut - 1];
    let candidates = (n / 4).max(1)..=(n - (n / 4).max(1));
    let widest = candidates.max_by(|a, b| {
        let near = |cut: usize| (2 * cut).abs_diff(n);
        width(*a).total_cmp(&width(*b)).then(near(*b).cmp(&near(*a)))
    });
    widest.filter(|cut| width(*cut) > range / 3.0).unwrap_or(n / 2)
}

/// Exchanges pairs while the sum of distances inside both sides falls.
fn settle(problem: &Problem, left: &mut [u32], right: &mut [u32], limit: &Limit) {
    let mut watch = Watch::new(limit, (left.len() + right.len()).pow(2));
    let at = |a: u32, b: u32| problem.between(a as usize, b as usize);
    let total =
        |slot: u32, side: &[u32]| -> f64 { side.iter().map(|other| at(slot, *other)).sum() };
    for _ in 0..left.len() + right.len() {
        if watch.is_late() {
            return;
        }
        let gains = |side: &[u32], other: &[u32]| -> Vec<f64> {
            side.iter().map(|slot| total(*slot, side) - total(*slot, other)).collect()
        };
        // The two best by themselves may be neighbours, whose exchange changes nothing: of some,
        // the best two together.
        let best = |gains: &[f64]| -> Vec<usize> {
            let mut order: Vec<usize> = (0..gains.len()).collect();
            order.sort_by(|a, b| gains[*b].total_cmp(&gains[*a]));
            order.truncate(MOST_TRIED);
            order
        };
        let from_left = gains(left, right);
        let from_right = gains(right, left);
        let lefts = best(&from_left);
        let rights = best(&from_right);
        let pairs = lefts.iter().flat_map(|a| rights.iter().map(move |b| (*a, *b)));
        let together =
            |a: usize, b: usize| from_left[a] + from_right[b] + 2.0 * at(left[a], right[b]);
        let gained = pairs.map(|(a, b)| (together(a, b), a, b)).max_by(|x, y| x.0.total_cmp(&y.0));
        let Some((gain, a, b)) = gained else { return };
        if gain <= 1e-6 * total(left[a], right).abs() {
            return;
        }
        std::mem::swap(&mut left[a], &mut right[b]);
    }
}

/// Each exchange looks at all pairs of slots; beyond this the first cut has to do.
const LARGEST_SETTLED: usize = 1024;

/// Slots of each side that are tried for an exchange.
const MOST_TRIED: usize = 32;
