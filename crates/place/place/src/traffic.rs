//! Traffic between tasks, symmetric and sparse.

use crate::bound::descending;

/// The traffic between all pairs of tasks, in compressed rows.
///
/// Core distances are symmetric, so only both directions' sum matters.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    first: Vec<usize>,
    with: Vec<u32>,
    weight: Vec<f64>,
}

impl Traffic {
    /// Adds up directed weights `(from, to, weight)` by pair, without self edges, zeros, and
    /// endpoints above `tasks`.
    pub fn new(tasks: usize, edges: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        let mut edges: Vec<(u32, u32, f64)> = edges
            .into_iter()
            .filter(|(from, to, weight)| from != to && *from.max(to) < tasks && *weight != 0.0)
            .map(|(from, to, weight)| (from as u32, to as u32, weight))
            .collect();
        if !edges.is_sorted_by_key(|(from, to, _)| (*from, *to)) {
            edges.sort_by_key(|(from, to, _)| (*from, *to));
        }
        let (arriving, end_of) = by_end(&edges, tasks);
        let mut traffic = Traffic { first: vec![0], with: Vec::new(), weight: Vec::new() };
        let mut leaving = &edges[..];
        let mut taken = 0;
        for (task, end) in end_of.into_iter().enumerate() {
            let (own, others) =
                leaving.split_at(leaving.partition_point(|edge| edge.0 as usize <= task));
            traffic.push(
                own.iter().map(|(_, to, weight)| (*to, *weight)),
                arriving[taken..end].iter().copied(),
            );
            (leaving, taken) = (others, end);
        }
        traffic
    }

    /// Adds a row; both inputs are sorted by partner.
    fn push(
        &mut self,
        leaving: impl Iterator<Item = (u32, f64)>,
        arriving: impl Iterator<Item = (u32, f64)>,
    ) {
        let mut leaving = leaving.peekable();
        let mut arriving = arriving.peekable();
        let start = self.with.len();
        while let Some((with, weight)) = match (leaving.peek(), arriving.peek()) {
            (Some(one), Some(other)) if one.0 > other.0 => arriving.next(),
            (Some(_), _) => leaving.next(),
            (None, _) => arriving.next(),
        } {
            match (self.with[start..].last(), self.weight.last_mut()) {
                (Some(last), Some(sum)) if *last == with => *sum += weight,
                _ => {
                    self.with.push(with);
                    self.weight.push(weight);
                }
            }
        }
        self.first.push(self.with.len());
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.first.len() - 1
    }

    /// Partners with the weight of both directions, ascending.
    pub fn of(&self, task: usize) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        let row = self.first[task]..self.first[task + 1];
        self.with[row.clone()]
            .iter()
            .map(|with| *with as usize)
            .zip(self.weight[row].iter().copied())
    }

    /// Each communicating pair once, with the weight of both directions: `(from, to, weight)`.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.tasks())
            .flat_map(|task| self.later(task).map(move |(with, weight)| (task, with, weight)))
    }

    fn later(&self, task: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.of(task).filter(move |(with, _)| *with > task)
    }

    /// The sum of weight x distance, task by task.
    pub fn cost(&self, apart: impl Fn(usize, usize) -> f64) -> f64 {
        (0..self.tasks())
            .map(|task| {
                self.later(task).map(|(with, weight)| weight * apart(task, with)).sum::<f64>()
            })
            .sum()
    }

    /// The number of partners of a task.
    pub fn degree(&self, task: usize) -> usize {
        self.first[task + 1] - self.first[task]
    }

    /// `draw` is a random 32-bit number.
    #[inline]
    pub(crate) fn partner(&self, task: usize, draw: u32) -> Option<usize> {
        let row = &self.with[self.first[task]..self.first[task + 1]];
        row.get(((u64::from(draw) * row.len() as u64) >> 32) as usize).map(|with| *with as usize)
    }

    /// The total traffic of a task.
    pub fn volume(&self, task: usize) -> f64 {
        self.of(task).map(|(_, weight)| weight).sum()
    }

    /// The weights of a task's edges, heaviest first.
    pub(crate) fn heaviest(&self, task: usize) -> Vec<f64> {
        descending(self.of(task).map(|(_, weight)| weight).collect())
    }

    /// The number of communicating pairs.
    pub fn pairs(&self) -> usize {
        self.with.len() / 2
    }

    /// The traffic between two tasks.
    pub fn between(&self, a: usize, b: usize) -> f64 {
        let row = self.first[a]..self.first[a + 1];
        match self.with[row.clone()].binary_search(&(b as u32)) {
            Ok(at) => self.weight[row.start + at],
            Err(_) => 0.0,
        }
    }
}

/// The edges to each task as (from, weight), and the end of each task's part.
fn by_end(edges: &[(u32, u32, f64)], tasks: usize) -> (Vec<(u32, f64)>, Vec<usize>) {
    let mut end_of = vec![0; tasks + 1];
    edges.iter().for_each(|(_, to, _)| end_of[*to as usize + 1] += 1);
    // A counting sort: insertions move the start `end_of[task]`.
    (0..tasks).for_each(|task| end_of[task + 1] += end_of[task]);
    let mut arriving = vec![(0, 0.0); edges.len()];
    for (from, to, weight) in edges {
        let place = &mut end_of[*to as usize];
        arriving[*place] = (*from, *weight);
        *place += 1;
    }
    end_of.truncate(tasks);
    (arriving, end_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_sums_both_directions() {
        let traffic = Traffic::new(
            4,
            [(0, 1, 2.0), (1, 0, 3.0), (3, 1, 1.0), (2, 2, 9.0), (0, 1, 0.5), (0, 2, 0.0)],
        );
        assert_eq!(traffic.of(1).collect::<Vec<_>>(), [(0, 5.5), (3, 1.0)]);
        assert_eq!(
            (traffic.between(0, 1), traffic.between(1, 3), traffic.between(0, 3)),
            (5.5, 1.0, 0.0)
        );
        assert_eq!((traffic.degree(2), traffic.volume(1), traffic.pairs()), (0, 6.5, 2));
    }

    proptest::proptest! {
        #[test]
        fn traffic_is_independent_of_edge_order(tasks in 1..9_usize, edges in 0..40_usize, seed: u64) {
            let mut rng = seatmap_data::statistics::Xoshiro::new(seed);
            let edges: Vec<(usize, usize, f64)> =
                (0..edges).map(|_| (rng.below(tasks + 1), rng.below(tasks), rng.below(3) as f64)).collect();
            let traffic = Traffic::new(tasks, edges.iter().copied());
            for (a, b) in (0..tasks).flat_map(|a| (0..tasks).map(move |b| (a, b))) {
                let is_between = |edge: &&(usize, usize, f64)| a != b && [(a, b), (b, a)].contains(&(edge.0, edge.1));
                let sum: f64 = edges.iter().filter(is_between).map(|edge| edge.2).sum();
                proptest::prop_assert_eq!(traffic.between(a, b), sum);
                proptest::prop_assert_eq!(traffic.of(a).filter(|(with, _)| *with == b).count(), usize::from(sum > 0.0));
            }
        }
    }
}
