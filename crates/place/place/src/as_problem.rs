//! Converts a quadratic assignment problem into a placement problem.

use crate::search::Qap;
use crate::seed::inverse;
use crate::{Problem, Traffic};
use seatmap_data::machine::Square;

/// The matrix with more zeros becomes the traffic; items without traffic become holes. A placement
/// costs as much as its permutation.
pub struct AsProblem {
    pub problem: Problem,
    row_of: Vec<u32>,
    /// Whether the traffic is the second matrix, whose items are places.
    is_turned: bool,
}

fn is_amount(m: &Square<f64>) -> bool {
    (0..m.n()).all(|i| m.row(i).iter().all(|cell| *cell >= 0.0))
}

fn is_hollow(m: &Square<f64>) -> bool {
    (0..m.n()).all(|i| m[(i, i)] == 0.0)
}

impl AsProblem {
    /// `None` if directions matter, a number is negative, both diagonals are nonzero, or there is
    /// no traffic.
    pub fn new(qap: &Qap) -> Option<Self> {
        let (a, b) = qap.symmetric()?;
        // Swapping inverts the permutation; sparse traffic makes searches fast.
        let is_turned = filled(b) < filled(a);
        let (flows, distances) = if is_turned { (b, a) } else { (a, b) };
        // Both diagonals may be dropped only if one is zero. Bounds need nonnegative numbers.
        if !(is_amount(a) && is_amount(b) && (is_hollow(a) || is_hollow(b))) {
            return None;
        }
        let (mut row_of, without): (Vec<u32>, Vec<u32>) = (0..flows.n() as u32).partition(|row| {
            let row = *row as usize;
            (0..flows.n()).any(|to| to != row && flows[(row, to)] != 0.0)
        });
        let tasks = row_of.len();
        let cells = (0..tasks).flat_map(|from| (0..tasks).map(move |to| (from, to)));
        let traffic = Traffic::new(
            tasks,
            cells.map(|(from, to)| (from, to, flows[(row_of[from] as usize, row_of[to] as usize)])),
        );
        row_of.extend(without);
        let distance =
            Square::from_fn(flows.n(), |i, j| if i == j { 0.0 } else { distances[(i, j)] as f32 });
        let problem = Problem::new(traffic, distance);
        (tasks > 0).then_some(AsProblem { problem, row_of, is_turned })
    }

    pub fn is_sparse(&self) -> bool {
        let n = self.problem.slots();
        // Fewer than half of the pairs communicate.
        4 * self.problem.traffic.pairs() < n * (n - 1)
    }

    pub fn permutation(&self, slot_of: &[u32]) -> Vec<u32> {
        let mut place_of = vec![0; slot_of.len()];
        for (row, slot) in self.row_of.iter().zip(slot_of) {
            let (item, place) = if self.is_turned { (slot, row) } else { (row, slot) };
            place_of[*item as usize] = *place;
        }
        place_of
    }

    pub fn assignment(&self, place_of: &[u32]) -> Vec<u32> {
        // If the traffic's rows are places, the result is the inverse array.
        let slot_of_row = if self.is_turned { inverse(place_of) } else { place_of.to_vec() };
        self.row_of.iter().map(|row| slot_of_row[*row as usize]).collect()
    }
}

fn filled(m: &Square<f64>) -> usize {
    (0..m.n()).map(|i| m.row(i).iter().filter(|cell| **cell != 0.0).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatmap_data::statistics::Xoshiro;

    fn matrix(n: usize, share: usize, is_symmetric: bool, rng: &mut Xoshiro) -> Square<f64> {
        let mut cell = || if rng.below(9) < share { 1.0 + rng.below(20) as f64 } else { 0.0 };
        let mut m = Square::from_fn(n, |i, j| if i == j { 0.0 } else { cell() });
        if is_symmetric {
            (0..n).for_each(|i| (0..i).for_each(|j| m.set_both(i, j, m[(i, j)])));
        }
        m
    }

    proptest! {
        #[test]
        fn conversion_preserves_cost_and_permutation(n in 2..12_usize, shares in (0..10_usize, 0..10_usize), which in 0..2_usize, seed: u64) {
            let mut rng = Xoshiro::new(seed);
            let mut both = [matrix(n, shares.0, which == 0, &mut rng), matrix(n, shares.1, which == 1, &mut rng)];
            both[which].set_both(0, 0, 7.0);
            let [a, b] = both;
            let qap = Qap::new(a, b);
            if let Some(form) = AsProblem::new(&qap) {
                let mut place_of: Vec<u32> = (0..n as u32).collect();
                rng.shuffle(&mut place_of);
                let slot_of = form.assignment(&place_of);
                prop_assert!((form.problem.cost(&slot_of) - qap.cost(&place_of)).abs() < 1e-6);
                prop_assert_eq!(form.permutation(&slot_of), place_of);
            } else {
                prop_assert!(shares.0.min(shares.1) < 9, "a matrix holds nothing");
            }
        }
    }

    #[test]
    fn items_without_traffic_become_empty_slots() {
        let ring = Square::from_fn(9, |i, j| f64::from(i < 8 && j < 8 && (i + 1) % 8 == j));
        let line = Square::from_fn(9, |i, j| i.abs_diff(j) as f64);
        for qap in [Qap::new(ring.clone(), line.clone()), Qap::new(line.clone(), ring)] {
            let form = AsProblem::new(&qap).unwrap();
            assert_eq!(
                (form.problem.tasks(), form.problem.slots(), form.is_sparse()),
                (8, 9, true)
            );
        }
    }

    fn is_one(a: Square<f64>, b: Square<f64>) -> bool {
        AsProblem::new(&Qap::new(a, b)).is_some()
    }

    #[test]
    fn conversion_rejects_two_directed_or_negative_matrices() {
        let full = Square::from_fn(3, |i, j| f64::from(i != j));
        let with = |at: (usize, usize), cell: f64| {
            let mut changed = full.clone();
            changed[at] = cell;
            changed
        };
        assert!(is_one(full.clone(), full.clone()) && is_one(with((0, 1), 5.0), full.clone()));
        assert!(!is_one(with((0, 1), 5.0), with((0, 1), 5.0)), "both have directions");
        assert!(!is_one(with((0, 1), -5.0), full.clone()), "negative");
        assert!(
            is_one(with((0, 0), 5.0), full.clone())
                && !is_one(with((0, 0), 5.0), with((1, 1), 5.0))
        );
        assert!(!is_one(Square::filled(3, 0.0), full), "nothing flows");
    }
}
