//! Quadratic assignment with dense matrices.

use crate::bound::dot;
use seatmap_data::machine::Square;

/// A quadratic assignment problem: minimise the sum over i and j of a\[i\]\[j\] x
/// b\[p\[i\]\]\[p\[j\]\] (Koopmans & Beckmann 1957).
#[derive(Clone, Debug, PartialEq)]
pub struct Qap {
    /// The flows.
    pub(crate) a: Square<f64>,
    /// The distances.
    pub(crate) b: Square<f64>,
    pub(super) parts: Vec<MatrixPair>,
}

/// One symmetric or one antisymmetric pair of matrices.
///
/// Products of different kinds cancel, so an asymmetric problem is two problems with one formula
/// for changes.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixPair {
    a: Square<f64>,
    b: Square<f64>,
    is_symmetric: bool,
}

impl Qap {
    /// A problem of two matrices of one size.
    pub fn new(a: Square<f64>, b: Square<f64>) -> Self {
        let mut parts = vec![MatrixPair::of(&a, &b, 1.0)];
        // If either matrix is symmetric, this product is zero.
        let skew = MatrixPair::of(&a, &b, -1.0);
        if is_something(&skew.a) && is_something(&skew.b) {
            parts.push(skew);
        }
        Qap { a, b, parts }
    }

    /// The number of items, and of places.
    pub fn n(&self) -> usize {
        self.a.n()
    }

    /// The cost of a permutation.
    pub fn cost(&self, place_of: &[u32]) -> f64 {
        (0..self.n())
            .map(|i| {
                let distances = self.b.row(place_of[i] as usize);
                let flows = self.a.row(i).iter().zip(place_of);
                flows.map(|(flow, place)| flow * distances[*place as usize]).sum::<f64>()
            })
            .sum()
    }

    /// `None` if both matrices are asymmetric.
    pub(crate) fn symmetric(&self) -> Option<(&Square<f64>, &Square<f64>)> {
        match &self.parts[..] {
            [part] => Some((&part.a, &part.b)),
            _ => None,
        }
    }
}

fn is_something(m: &Square<f64>) -> bool {
    (0..m.n()).any(|i| m.row(i).iter().any(|cell| *cell != 0.0))
}

impl MatrixPair {
    pub fn permuted(&self, place_of: &[u32]) -> MatrixPair {
        let b = Square::from_fn(self.b.n(), |i, j| {
            self.b[(place_of[i] as usize, place_of[j] as usize)]
        });
        MatrixPair { b, ..self.clone() }
    }

    /// The symmetric parts for `sign` 1, antisymmetric for -1.
    fn of(a: &Square<f64>, b: &Square<f64>, sign: f64) -> Self {
        let [a, b] =
            [a, b].map(|m| Square::from_fn(m.n(), |i, j| 0.5 * (m[(i, j)] + sign * m[(j, i)])));
        MatrixPair { a, b, is_symmetric: sign > 0.0 }
    }

    pub fn cost(&self) -> f64 {
        (0..self.a.n()).map(|i| dot(self.a.row(i), self.b.row(i))).sum()
    }

    #[inline(always)]
    pub fn change(&self, i: usize, j: usize) -> f64 {
        let a = &self.a;
        let b = &self.b;
        // The sum over all rows includes the swapped ones.
        let [own_i, own_j] = [i, j].map(|k| (a[(i, k)] - a[(j, k)]) * (b[(j, k)] - b[(i, k)]));
        let others = 2.0 * (crossed(a.row(i), a.row(j), b.row(i), b.row(j)) - own_i - own_j);
        if self.is_symmetric {
            // Taillard's formula (1991) counts each other item twice and the diagonals once.
            return others + (a[(i, i)] - a[(j, j)]) * (b[(j, j)] - b[(i, i)]);
        }
        // The two cells between the items, together 2 a b, change sign.
        others - 4.0 * a[(i, j)] * b[(i, j)]
    }

    /// The vectors by which other changes move. Call before the swap.
    pub fn differences(&self, r: usize, s: usize, u: &mut [f64], v: &mut [f64]) {
        let flows = self.a.row(r).iter().zip(self.a.row(s));
        u.iter_mut().zip(flows).for_each(|(u, (r, s))| *u = r - s);
        let distances = self.b.row(r).iter().zip(self.b.row(s));
        v.iter_mut().zip(distances).for_each(|(v, (r, s))| *v = r - s);
    }

    pub fn swap(&mut self, r: usize, s: usize) {
        for k in 0..self.b.n() {
            (self.b[(r, k)], self.b[(s, k)]) = (self.b[(s, k)], self.b[(r, k)]);
        }
        for k in 0..self.b.n() {
            self.b.row_mut(k).swap(r, s);
        }
    }

    pub fn take_from(&mut self, other: &MatrixPair) {
        (0..self.b.n()).for_each(|i| self.b.row_mut(i).copy_from_slice(other.b.row(i)));
    }
}

/// The sum of (a_i - a_j)(b_j - b_i).
#[inline(always)]
fn crossed(a_i: &[f64], a_j: &[f64], b_i: &[f64], b_j: &[f64]) -> f64 {
    // Two vectors of four doubles or one of eight; a single sum would wait for each addition.
    const LANES: usize = 8;
    let n = a_i.len();
    let a_j = &a_j[..n];
    let b_i = &b_i[..n];
    let b_j = &b_j[..n];
    let mut sums = [0.0; LANES];
    let whole = n - n % LANES;
    for at in (0..whole).step_by(LANES) {
        let [a_i, a_j, b_i, b_j] = [a_i, a_j, b_i, b_j]
            .map(|row| -> [f64; LANES] { std::array::from_fn(|lane| row[at + lane]) });
        for lane in 0..LANES {
            sums[lane] += (a_i[lane] - a_j[lane]) * (b_j[lane] - b_i[lane]);
        }
    }
    let rest: f64 = (whole..n).map(|k| (a_i[k] - a_j[k]) * (b_j[k] - b_i[k])).sum();
    sums.iter().sum::<f64>() + rest
}
