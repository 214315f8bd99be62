//! Groups of PUs that are near each other, level by level.

use crate::machine::Matrix;
use crate::statistics::Ordered;

/// Single-linkage clusters, level by level.
pub struct Levels<'a> {
    distances: &'a Matrix,
    pairs: Vec<(usize, usize)>,
}

impl<'a> Levels<'a> {
    pub fn of(distances: &'a Matrix) -> Self {
        let mut pairs: Vec<(usize, usize)> = distances.pairs().map(|(i, j, _)| (i, j)).collect();
        // `total_cmp` sorts unknown distances (NaN) last: they join groups after all others.
        pairs.sort_by_key(|it| Ordered(distances[*it]));
        Levels { distances, pairs }
    }

    pub fn first(&self) -> Option<Vec<u32>> {
        self.until(|_| true)
    }

    pub fn with_groups(&self, count: usize) -> Option<Vec<u32>> {
        self.until(|groups| groups == count)
    }

    fn until(&self, enough: impl Fn(usize) -> bool) -> Option<Vec<u32>> {
        let mut group: Vec<u32> = (0..self.distances.n() as u32).collect();
        let mut groups = group.len();
        // Pairs of one distance belong to one level: all of them join before it is complete.
        for level in self.pairs.chunk_by(|a, b| self.distances[*a] == self.distances[*b]) {
            for (i, j) in level {
                groups -= usize::from(join(&mut group, *i, *j));
            }
            if enough(groups) {
                return Some(numbered(&mut group));
            }
        }
        None
    }
}

/// Joins two PUs' groups; returns whether they were separate. Each PU points to a lower one of its
/// group, the first to itself.
fn join(group: &mut [u32], i: usize, j: usize) -> bool {
    let a = first_of(group, i);
    let b = first_of(group, j);
    // The smaller number stays, so a group has the number of its first PU.
    group[a.max(b)] = a.min(b) as u32;
    a != b
}

fn first_of(group: &mut [u32], mut pu: usize) -> usize {
    while group[pu] as usize != pu {
        // Path halving (Tarjan & van Leeuwen 1984) avoids long chains of 8,192 PUs.
        group[pu] = group[group[pu] as usize];
        pu = group[pu] as usize;
    }
    pu
}

fn numbered(group: &mut [u32]) -> Vec<u32> {
    let firsts: Vec<usize> = (0..group.len()).map(|pu| first_of(group, pu)).collect();
    let mut number = vec![0; group.len()];
    let mut next = 0;
    for pu in 0..group.len() {
        if firsts[pu] == pu {
            number[pu] = next;
            next += 1;
        }
    }
    firsts.into_iter().map(|first| number[first]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_merge_nearest_clusters_first() {
        let near = |i: usize, j: usize| {
            if i.max(j) == 4 {
                5.0
            } else if i % 2 == j % 2 {
                1.0
            } else {
                9.0
            }
        };
        let matrix = Matrix::from_fn(5, |i, j| if i == j { 0.0 } else { near(i, j) });
        let levels = Levels::of(&matrix);
        assert_eq!(levels.first().unwrap(), [0, 1, 0, 1, 2]);
        assert_eq!(levels.with_groups(1).unwrap(), [0; 5]);
        assert_eq!(levels.with_groups(2), None);
    }
}
