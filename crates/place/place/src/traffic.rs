//! Traffic between tasks, as the searches need it: symmetric and sparse.

/// What flows between every two tasks, both ways together, in compressed rows.
///
/// Core distances are symmetric, so only the sum of both directions matters to a placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    first: Vec<usize>,
    with: Vec<u32>,
    weight: Vec<f64>,
}

impl Traffic {
    /// Gathers directed weights `(from, to, weight)`. Several for one pair add up; self edges and zeros fall away.
    ///
    /// Endpoints must be below `tasks`; others are left out.
    #[must_use]
    pub fn new(tasks: usize, edges: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        let edges: Vec<(u32, u32, f64)> = edges
            .into_iter()
            .filter(|(from, to, weight)| from != to && *from.max(to) < tasks && *weight != 0.0)
            .map(|(from, to, weight)| (from as u32, to as u32, weight))
            .collect();
        // Each edge is two halves, one at each end. Counted by partner and then by task they are in order, those of one pair
        // in the order of the edges: where millions of pairs communicate, counting takes a fraction of the time of comparing.
        let ends = |half: u32| match (half % 2, edges[half as usize / 2]) {
            (0, (from, to, weight)) => (from, to, weight),
            (_, (from, to, weight)) => (to, from, weight),
        };
        let halves = counted(0..2 * edges.len() as u32, tasks, |half| ends(*half).1);
        let halves = counted(halves.iter().copied(), tasks, |half| ends(*half).0);
        let mut traffic = Traffic { first: vec![0; tasks + 1], with: Vec::new(), weight: Vec::new() };
        let mut last = None;
        for (from, to, weight) in halves.into_iter().map(ends) {
            if last == Some((from, to)) {
                *traffic.weight.last_mut().unwrap_or(&mut 0.0) += weight;
                continue;
            }
            last = Some((from, to));
            traffic.with.push(to);
            traffic.weight.push(weight);
            traffic.first[from as usize + 1] = traffic.with.len();
        }
        for task in 0..tasks {
            traffic.first[task + 1] = traffic.first[task + 1].max(traffic.first[task]);
        }
        traffic
    }

    /// How many tasks there are.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.first.len() - 1
    }

    /// The partners of a task with the weight of both directions, by ascending number.
    pub fn of(&self, task: usize) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        let row = self.first[task]..self.first[task + 1];
        self.with[row.clone()].iter().map(|with| *with as usize).zip(self.weight[row].iter().copied())
    }

    /// How many partners a task has.
    #[must_use]
    pub fn degree(&self, task: usize) -> usize {
        self.first[task + 1] - self.first[task]
    }

    /// All that a task sends and receives.
    #[must_use]
    pub fn volume(&self, task: usize) -> f64 {
        self.of(task).map(|(_, weight)| weight).sum()
    }

    /// Communicating pairs, each once.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.with.len() / 2
    }

    /// What flows between two tasks; 0 where nothing does.
    #[must_use]
    pub fn between(&self, a: usize, b: usize) -> f64 {
        let row = self.first[a]..self.first[a + 1];
        match self.with[row.clone()].binary_search(&(b as u32)) {
            Ok(at) => self.weight[row.start + at],
            Err(_) => 0.0,
        }
    }
}

/// Halves of edges by a task each, those of one task in their order.
fn counted(halves: impl ExactSizeIterator<Item = u32> + Clone, tasks: usize, task: impl Fn(&u32) -> u32) -> Vec<u32> {
    let mut next = vec![0; tasks + 1];
    halves.clone().for_each(|half| next[task(&half) as usize + 1] += 1);
    (0..tasks).for_each(|task| next[task + 1] += next[task]);
    let mut sorted = vec![0; halves.len()];
    for half in halves {
        let place = &mut next[task(&half) as usize];
        sorted[*place] = half;
        *place += 1;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_add_up() {
        let traffic = Traffic::new(4, [(0, 1, 2.0), (1, 0, 3.0), (3, 1, 1.0), (2, 2, 9.0), (0, 1, 0.5), (0, 2, 0.0)]);
        assert_eq!(traffic.of(1).collect::<Vec<_>>(), [(0, 5.5), (3, 1.0)]);
        assert_eq!((traffic.between(0, 1), traffic.between(1, 3), traffic.between(0, 3)), (5.5, 1.0, 0.0));
        assert_eq!((traffic.degree(2), traffic.volume(1), traffic.pairs()), (0, 6.5, 2));
    }
}
