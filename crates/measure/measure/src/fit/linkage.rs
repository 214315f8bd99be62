//! Average-linkage clustering.
//!
//! Single linkage would chain groups together over one wrong cell, complete linkage tears them
//! apart over one; the average over all pairs between two clusters (Sokal and Michener 1958)
//! forgives both, and cells that are not known simply do not count.

use seatmap_machine::Matrix;

/// The order in which clusters were joined, nearest first.
#[derive(Clone, Debug)]
pub struct Merges {
    n: usize,
    pairs: Vec<(usize, usize)>,
    /// The distance, or the cost, at each join, never falling.
    pub heights: Vec<f64>,
}

/// Joins the nearest two clusters until one is left.
#[must_use]
pub fn average(distance: &Matrix) -> Merges {
    let n = distance.n();
    // A mean over pairs is kept as sum and count, so that joining two clusters adds two rows.
    let mut sum =
        Matrix::from_fn(n, |i, j| if is_known(distance, i, j) { distance[(i, j)] } else { 0.0 });
    let mut count = Matrix::from_fn(n, |i, j| f64::from(u8::from(is_known(distance, i, j))));
    let mut alive: Vec<usize> = (0..n).collect();
    let mut nearest: Vec<(f64, usize)> =
        (0..n).map(|i| nearest_of(i, &alive, &sum, &count)).collect();
    let mut merges = Merges::new(n);
    while alive.len() > 1 {
        let Some(&keep) = alive.iter().min_by(|a, b| nearest[**a].0.total_cmp(&nearest[**b].0))
        else {
            break;
        };
        let (height, drop) = nearest[keep];
        merges.push(keep, drop, height);
        alive.retain(|cluster| *cluster != drop);
        for &other in &alive {
            let both = sum[(keep, other)] + sum[(drop, other)];
            let pairs = count[(keep, other)] + count[(drop, other)];
            sum.set_both(keep, other, both);
            count.set_both(keep, other, pairs);
        }
        for &cluster in &alive {
            // Only these have lost their nearest cluster, or may have got a nearer one; looking at
            // all again would make the whole cubic.
            if cluster == keep || nearest[cluster].1 == keep || nearest[cluster].1 == drop {
                nearest[cluster] = nearest_of(cluster, &alive, &sum, &count);
            }
        }
    }
    merges
}

fn is_known(distance: &Matrix, i: usize, j: usize) -> bool {
    i != j && distance[(i, j)].is_finite()
}

fn nearest_of(cluster: usize, alive: &[usize], sum: &Matrix, count: &Matrix) -> (f64, usize) {
    let others = alive.iter().filter(|other| **other != cluster).map(|&other| {
        let pairs = count[(cluster, other)];
        let height = if pairs > 0.0 { sum[(cluster, other)] / pairs } else { f64::INFINITY };
        (height, other)
    });
    others.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, cluster))
}

impl Merges {
    /// Starts with every member in a cluster of its own.
    pub(crate) fn new(n: usize) -> Self {
        Merges { n, pairs: Vec::new(), heights: Vec::new() }
    }

    /// The cluster called `drop` becomes part of `keep`.
    pub(crate) fn push(&mut self, keep: usize, drop: usize, height: f64) {
        let floor = self.heights.last().copied().unwrap_or(f64::NEG_INFINITY);
        self.pairs.push((keep, drop));
        // Rounding can make a join cheaper by a hair than the one before, and a cut needs an order.
        self.heights.push(height.max(floor));
    }

    /// The cluster of each member after `joins` joins, numbered in the order of their first
    /// members.
    #[must_use]
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

/// Numbers the labels of a partition 0, 1, 2... in the order of first appearance.
#[must_use]
pub fn renumbered(labels: &[usize]) -> Vec<usize> {
    let mut number = std::collections::HashMap::new();
    labels
        .iter()
        .map(|label| {
            let next = number.len();
            *number.entry(*label).or_insert(next)
        })
        .collect()
}

/// The number of members of each label.
#[must_use]
pub fn sizes(labels: &[usize]) -> Vec<usize> {
    let mut sizes = vec![0; labels.iter().max().map_or(0, |last| last + 1)];
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
    fn joins_the_near_first() {
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
