//! A set of slots cut in two that lie far apart.

use crate::Problem;
use crate::search::{Limit, Watch};

/// Cuts slots in two compact halves. Where the machine shows a clear gap near the middle it is cut there.
///
/// The two slots farthest apart pull the others to their side; then pairs change sides while that makes the sides more
/// compact and the deadline has not come.
#[must_use]
pub fn halves(problem: &Problem, slots: &[u32], limit: &Limit) -> (Vec<u32>, Vec<u32>) {
    let at = |a: u32, b: u32| problem.between(a as usize, b as usize);
    let far = |from: u32| slots.iter().copied().max_by(|a, b| at(from, *a).total_cmp(&at(from, *b))).unwrap_or(from);
    let one = far(slots[0]);
    let other = far(one);
    let key = |slot: u32| at(one, slot) - at(other, slot);
    let mut sorted = slots.to_vec();
    sorted.sort_by(|a, b| key(*a).total_cmp(&key(*b)).then(a.cmp(b)));
    let middle = sorted.len() / 2;
    let keys: Vec<f64> = sorted.iter().map(|slot| key(*slot)).collect();
    // Between neighbours another cut near the middle may be better; between strangers it is not.
    let parts_neighbours = at(sorted[middle - 1], sorted[middle]) < 0.5 * at(one, other);
    let right = sorted.split_off(if parts_neighbours { gap(&keys) } else { middle });
    let (mut left, mut right) = (sorted, right);
    if slots.len() <= LARGEST_SETTLED {
        settle(problem, &mut left, &mut right, limit);
    }
    (left, right)
}

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
    let total = |slot: u32, side: &[u32]| -> f64 { side.iter().map(|other| at(slot, *other)).sum() };
    for _ in 0..left.len() + right.len() {
        if watch.is_late() {
            return;
        }
        let gains = |side: &[u32], other: &[u32]| -> Vec<f64> {
            side.iter().map(|slot| total(*slot, side) - total(*slot, other)).collect()
        };
        let best = |gains: &[f64]| (0..gains.len()).max_by(|a, b| gains[*a].total_cmp(&gains[*b]));
        let (from_left, from_right) = (gains(left, right), gains(right, left));
        let (Some(a), Some(b)) = (best(&from_left), best(&from_right)) else { return };
        let gain = from_left[a] + from_right[b] + 2.0 * at(left[a], right[b]);
        if gain <= 1e-6 * total(left[a], right).abs() {
            return;
        }
        std::mem::swap(&mut left[a], &mut right[b]);
    }
}

/// Each exchange looks at all pairs of slots; beyond this the first cut has to do.
const LARGEST_SETTLED: usize = 1024;
