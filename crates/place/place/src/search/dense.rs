//! Local search for dense matrices.

use super::{DeadlineWatch, MatrixPair, Qap, SWAPS_BETWEEN_CHECKS, SearchEngine, SearchLimit};
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use seatmap_data::statistics::least;

/// A permutation with the change of the cost by each swap.
///
/// After a swap of r and s all other changes move by 2 (u_i - u_j)(v_i - v_j), with u and v the
/// differences of two rows (Taillard 1991). One streaming pass also finds the best swap of each
/// row. One matrix is stored permuted, to be read in order.
#[derive(Clone)]
pub struct Dense {
    n: usize,
    parts: Vec<MatrixPair>,
    place_of: Vec<u32>,
    cost: f64,
    /// n x n, used above the diagonal.
    change: Vec<f64>,
    row_least: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    least: f64,
    saved: Option<Box<Dense>>,
}

impl Dense {
    /// `None` if the deadline comes before the table is complete.
    pub fn new(qap: &Qap, place_of: Vec<u32>, limit: &SearchLimit) -> Option<Self> {
        let n = qap.n();
        let mut engine = Dense {
            n,
            parts: qap.parts.iter().map(|part| part.permuted(&place_of)).collect(),
            cost: qap.cost(&place_of),
            place_of,
            // The last row has no cells above the diagonal.
            change: vec![f64::INFINITY; n * n],
            row_least: vec![f64::INFINITY; n],
            u: vec![0.0; n],
            v: vec![0.0; n],
            least: 0.0,
            saved: None,
        };
        // Smaller changes are rounding errors.
        engine.least = engine.cost.abs() * 1e-12;
        let mut watch = DeadlineWatch::new(limit, n * n);
        for item in 0..n {
            if watch.is_late() {
                return None;
            }
            engine.renew(item);
        }
        Some(engine)
    }

    fn renew_all(&mut self) {
        self.cost = self.parts.iter().map(MatrixPair::cost).sum();
        (0..self.n).for_each(|item| self.renew(item));
    }

    /// The change by a swap, with i below j.
    pub(super) fn change(&self, i: usize, j: usize) -> f64 {
        self.change[i * self.n + j]
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.change[i * self.n + i + 1..(i + 1) * self.n]
    }

    pub(super) fn places(&self) -> &[u32] {
        &self.place_of
    }

    fn best(&self) -> Option<(usize, usize)> {
        let i = (0..self.n)
            .min_by_key(|i| Ordered(self.row_least[*i]))
            .filter(|i| self.row_least[*i] < -self.least)?;
        let row = &self.change[i * self.n..(i + 1) * self.n];
        (i + 1..self.n).find(|j| row[*j] <= self.row_least[i]).map(|j| (i, j))
    }

    /// Swaps two places, with r below s.
    pub(super) fn swap(&mut self, r: usize, s: usize) {
        self.cost += self.change(r, s);
        // Recomputed below; until then not the least.
        for item in [r, s] {
            (0..item).for_each(|other| self.change[other * self.n + item] = f64::INFINITY);
        }
        for at in 0..self.parts.len() {
            self.parts[at].differences(r, s, &mut self.u, &mut self.v);
            for item in [r, s] {
                (self.u[item], self.v[item]) = (0.0, 0.0);
            }
            update(self.n, &mut self.change, &self.u, &self.v, &mut self.row_least);
            self.parts[at].swap(r, s);
        }
        self.place_of.swap(r, s);
        self.renew(r);
        self.renew(s);
    }

    fn renew(&mut self, item: usize) {
        // `u` is unused outside of a swap, and saves an allocation.
        let mut changes = std::mem::take(&mut self.u);
        computed_with_all(&self.parts, item, &mut changes);
        for (other, change) in changes.iter().enumerate().take(item) {
            self.change[other * self.n + item] = *change;
            self.row_least[other] = self.row_least[other].min(*change);
        }
        self.change[item * self.n + item + 1..(item + 1) * self.n]
            .copy_from_slice(&changes[item + 1..]);
        self.row_least[item] = least(&changes[item + 1..]);
        self.u = changes;
    }
}

impl SearchEngine for Dense {
    fn items(&self) -> usize {
        self.n
    }

    fn cost(&self) -> f64 {
        self.cost
    }

    fn assignment(&self) -> &[u32] {
        &self.place_of
    }

    fn kick(&mut self, rng: &mut Xoshiro) {
        let a = rng.below(self.n);
        let b = rng.below(self.n);
        if a != b {
            self.swap(a.min(b), a.max(b));
        }
    }

    fn descend(&mut self, limit: &SearchLimit) {
        let mut watch = DeadlineWatch::new(limit, self.n * self.n);
        let mut swaps = 0;
        let mut last = f64::INFINITY;
        while let Some((i, j)) = self.best().filter(|_| !watch.is_late()) {
            self.swap(i, j);
            swaps += 1;
            if swaps > SWAPS_BETWEEN_CHECKS * self.n {
                self.renew_all();
                if self.cost >= last {
                    return;
                }
                (swaps, last) = (0, self.cost);
            }
        }
    }

    fn save(&mut self) {
        let mut saved = self.saved.take().unwrap_or_else(|| Box::new(self.clone()));
        saved.take_from(self);
        self.saved = Some(saved);
    }

    fn restore(&mut self) {
        if let Some(saved) = self.saved.take() {
            self.take_from(&saved);
            self.saved = Some(saved);
        }
    }
}

impl Dense {
    fn take_from(&mut self, other: &Dense) {
        self.parts.iter_mut().zip(&other.parts).for_each(|(part, other)| part.take_from(other));
        self.place_of.copy_from_slice(&other.place_of);
        self.change.copy_from_slice(&other.change);
        self.row_least.copy_from_slice(&other.row_least);
        self.cost = other.cost;
    }
}

/// Adds 2 (u_i - u_j)(v_i - v_j), and finds the least cell of each row.
fn update(n: usize, change: &mut [f64], u: &[f64], v: &[f64], row_least: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the two features that the function is compiled for were just found on this
        // processor.
        return unsafe { update_avx2(n, change, u, v, row_least) };
    }
    update_rows(n, change, u, v, row_least);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn update_avx2(n: usize, change: &mut [f64], u: &[f64], v: &[f64], row_least: &mut [f64]) {
    update_rows(n, change, u, v, row_least);
}

fn computed_with_all(parts: &[MatrixPair], item: usize, changes: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the two features that the function is compiled for were just found on this
        // processor.
        return unsafe { computed_avx2(parts, item, changes) };
    }
    computed(parts, item, changes);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn computed_avx2(parts: &[MatrixPair], item: usize, changes: &mut [f64]) {
    computed(parts, item, changes);
}

#[inline(always)]
fn computed(parts: &[MatrixPair], item: usize, changes: &mut [f64]) {
    for (other, change) in changes.iter_mut().enumerate() {
        *change = 0.0;
        for part in parts {
            *change += part.change(item.min(other), item.max(other));
        }
    }
}

/// The number of running minima that fills whole vectors.
const LANES: usize = 16;

#[inline(always)]
fn update_rows(n: usize, change: &mut [f64], u: &[f64], v: &[f64], row_least: &mut [f64]) {
    for i in 0..n {
        let ui = 2.0 * u[i];
        let vi = v[i];
        let row = &mut change[i * n + i + 1..(i + 1) * n];
        let mut least = [f64::INFINITY; LANES];
        let mut cells = row.chunks_exact_mut(LANES);
        let mut us = u[i + 1..n].chunks_exact(LANES);
        let mut vs = v[i + 1..n].chunks_exact(LANES);
        for ((cells, u), v) in cells.by_ref().zip(us.by_ref()).zip(vs.by_ref()) {
            for at in 0..LANES {
                cells[at] += (ui - 2.0 * u[at]) * (vi - v[at]);
                // `f64::min` handles NaN, and is not one instruction.
                least[at] = if cells[at] < least[at] { cells[at] } else { least[at] };
            }
        }
        let rest = cells.into_remainder().iter_mut().zip(us.remainder()).zip(vs.remainder());
        for (at, ((cell, u), v)) in rest.enumerate() {
            *cell += (ui - 2.0 * u) * (vi - v);
            least[at] = if *cell < least[at] { *cell } else { least[at] };
        }
        row_least[i] = least.into_iter().fold(f64::INFINITY, |a, b| if b < a { b } else { a });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatmap_data::machine::Square;

    fn engine(n: usize, seed: u64) -> (Qap, Dense) {
        let mut rng = Xoshiro::new(seed);
        let mut matrix = || Square::from_fn(n, |_, _| rng.below(20) as f64);
        let qap = Qap::new(matrix(), matrix());
        let engine = Dense::new(&qap, (0..n as u32).collect(), &SearchLimit::kicks(0)).unwrap();
        (qap, engine)
    }

    proptest! {
        #[test]
        fn swap_change_matches_dense_cost(n in 2..40_usize, seed: u64, swaps in 0..6) {
            let (qap, mut engine) = engine(n, seed);
            let mut rng = Xoshiro::new(seed);
            (0..swaps).for_each(|_| engine.kick(&mut rng));
            prop_assert!((engine.cost() - qap.cost(engine.places())).abs() < 1e-6);
            let cost = engine.cost();
            let row = engine.row(0).to_vec();
            engine.renew_all();
            prop_assert!((engine.cost() - cost).abs() < 1e-6);
            prop_assert!(engine.row(0).iter().zip(&row).all(|(a, b)| (a - b).abs() < 1e-6));
            for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
                let mut swapped = engine.places().to_vec();
                swapped.swap(i, j);
                prop_assert!((engine.cost() + engine.change(i, j) - qap.cost(&swapped)).abs() < 1e-6);
            }
            for i in 0..n {
                prop_assert_eq!(least(engine.row(i)), engine.row_least[i]);
            }
        }
    }
}
