//! Average-linkage clustering (Sokal and Michener 1958). One wrong cell would chain groups in
//! single linkage, or split them in complete linkage; the average tolerates both, and ignores
//! unknown cells.

use seatmap_data::machine::Matrix;
use seatmap_data::statistics::Ordered;
use std::collections::HashMap;
use std::hash::Hash;

/// The order of joins, nearest first.
pub struct Merges {
    n: usize,
    pairs: Vec<(usize, usize)>,
    /// Distance or cost at each join, never falling.
    pub heights: Vec<f64>,
}

/// Joins the nearest two clusters until one is left.
///
/// Chains of nearest neighbours give the order (Benzecri 1982; Murtagh 1983): two clusters that are
/// each other's nearest can join at once, because a mean of distances is never below their minimum.
/// Each step looks at one row, so the time grows with the matrix.
pub fn average(distance: &Matrix) -> Merges {
    let mut clusters = Clusters::of(distance);
    let mut joins: Vec<Join> = Vec::new();
    let mut chain: Vec<usize> = Vec::new();
    while clusters.alive.len() > 1 {
        let Some(&last) = chain.last() else {
            chain.push(clusters.alive[0]);
            continue;
        };
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        let (distance, next) = clusters.nearest_of(last, before);
        if before != Some(next) {
            chain.push(next);
            continue;
        }
        chain.truncate(chain.len() - 2);
        joins.push(clusters.join(last.min(next), last.max(next), distance));
    }
    joins.sort_by_key(|it| Ordered(it.height));
    let mut merges = Merges::new(distance.n());
    joins.iter().for_each(|join| merges.push(join.keep, join.drop, join.height));
    merges
}

fn is_known(distance: &Matrix, i: usize, j: usize) -> bool {
    i != j && distance[(i, j)].is_finite()
}

struct Join {
    keep: usize,
    drop: usize,
    height: f64,
}

struct Clusters {
    alive: Vec<usize>,
    /// Means as sums and counts, so a join adds two rows.
    sum: Matrix,
    count: Matrix,
    height: Vec<f64>,
}

impl Clusters {
    fn of(distance: &Matrix) -> Self {
        let n = distance.n();
        Clusters {
            alive: (0..n).collect(),
            sum: Matrix::from_fn(
                n,
                |i, j| {
                    if is_known(distance, i, j) { distance[(i, j)] } else { 0.0 }
                },
            ),
            count: Matrix::from_fn(n, |i, j| f64::from(u8::from(is_known(distance, i, j)))),
            height: vec![f64::NEG_INFINITY; n],
        }
    }

    /// The nearest other cluster; among equals `first`, so chains end, then the lowest.
    fn nearest_of(&self, cluster: usize, first: Option<usize>) -> (f64, usize) {
        let sum = self.sum.row(cluster);
        let count = self.count.row(cluster);
        let mut nearest = (f64::INFINITY, cluster);
        for other in first.into_iter().chain(self.alive.iter().copied()) {
            let distance =
                if count[other] > 0.0 { sum[other] / count[other] } else { f64::INFINITY };
            if other != cluster && (distance < nearest.0 || nearest.1 == cluster) {
                nearest = (distance, other);
            }
        }
        nearest
    }

    fn join(&mut self, keep: usize, drop: usize, distance: f64) -> Join {
        self.alive.retain(|cluster| *cluster != drop);
        for &other in self.alive.iter().filter(|other| **other != keep) {
            let both = self.sum[(keep, other)] + self.sum[(drop, other)];
            let pairs = self.count[(keep, other)] + self.count[(drop, other)];
            self.sum.set_both(keep, other, both);
            self.count.set_both(keep, other, pairs);
        }
        let height = distance.max(self.height[keep]).max(self.height[drop]);
        self.height[keep] = height;
        Join { keep, drop, height }
    }
}

impl Merges {
    pub(crate) fn new(n: usize) -> Self {
        Merges { n, pairs: Vec::new(), heights: Vec::new() }
    }

    pub(crate) fn push(&mut self, keep: usize, drop: usize, height: f64) {
        let floor = self.heights.last().copied().unwrap_or(f64::NEG_INFINITY);
        self.pairs.push((keep, drop));
        // Rounding can make a join cheaper, but heights must not fall.
        self.heights.push(height.max(floor));
    }

    /// The cluster of each member after `joins` joins, numbered by first member.
    pub fn labels(&self, joins: usize) -> Vec<usize> {
        let mut root: Vec<usize> = (0..self.n).collect();
        for (keep, drop) in self.pairs.iter().take(joins) {
            let keep = root[*keep];
            let drop = root[*drop];
            root.iter_mut().filter(|label| **label == drop).for_each(|label| *label = keep);
        }
        renumbered(&root)
    }
}

/// Numbers the labels 0, 1, 2... by first appearance.
pub fn renumbered<T: Eq + Hash>(labels: &[T]) -> Vec<usize> {
    let mut number = HashMap::new();
    labels
        .iter()
        .map(|label| {
            let next = number.len();
            *number.entry(label).or_insert(next)
        })
        .collect()
}

/// Counts labels 0, 1, 2...
pub fn count(labels: &[usize]) -> usize {
    labels.iter().max().map_or(0, |last| last + 1)
}

/// Counts members of each label.
pub fn sizes(labels: &[usize]) -> Vec<usize> {
    let mut sizes = vec![0; count(labels)];
    labels.iter().for_each(|label| sizes[*label] += 1);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_by_two() -> Matrix {
        Matrix::from_fn(4, |i, j| if i / 2 == j / 2 { 10.0 } else { 50.0 + (i + j) as f64 })
    }

    #[test]
    fn nearest_clusters_join_first() {
        let merges = average(&two_by_two());
        assert_eq!(merges.heights, [10.0, 10.0, 53.0]);
        assert_eq!(merges.labels(2), [0, 0, 1, 1]);
        assert_eq!(merges.labels(3), [0, 0, 0, 0]);
    }

    #[test]
    fn unknown_cells_do_not_count() {
        let mut distance = two_by_two();
        distance.set_both(0, 2, f64::NAN);
        assert_eq!(average(&distance).labels(2), [0, 0, 1, 1]);
        let nothing = Matrix::filled(3, f64::NAN);
        assert_eq!(average(&nothing).heights, [f64::INFINITY; 2]);
        assert!(average(&Matrix::filled(0, 0.0)).labels(0).is_empty());
    }
}
