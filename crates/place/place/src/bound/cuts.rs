//! Lower bounds on the weight between groups of tasks.

use super::descending;
use super::products::GraphShape;
use super::spread::{least_over_groups, spread};
use crate::Traffic;
use crate::search::SearchLimit;

/// Below this number of units, floats represent sums exactly enough.
const MOST_UNITS: f64 = 1e8;

pub struct Cuts<'a> {
    traffic: &'a Traffic,
    shape: GraphShape,
    weights: Vec<f64>,
    unit: Option<f64>,
}

impl<'a> Cuts<'a> {
    pub fn new(traffic: &'a Traffic) -> Self {
        let weights = descending(traffic.edges().map(|(_, _, weight)| weight).collect());
        Cuts { traffic, shape: GraphShape::new(traffic), unit: unit(&weights), weights }
    }

    /// The largest of three bounds: by the number of edges that do not fit inside ([`GraphShape`]);
    /// by the partners that do not fit, task by task; and by [`spread`].
    pub fn least(&self, capacities: &[usize], limit: &SearchLimit) -> f64 {
        let largest = capacities.iter().copied().max().unwrap_or(0);
        if largest >= self.traffic.tasks() || self.weights.is_empty() {
            return 0.0;
        }
        let by_number: f64 = self.weights.iter().skip(self.most_inside(capacities)).sum();
        let known = by_number.max(self.by_tasks(largest));
        self.whole(known.max(spread(self.traffic, capacities, known, limit)))
    }

    fn most_inside(&self, capacities: &[usize]) -> usize {
        let tasks = self.traffic.tasks();
        let largest = capacities.iter().copied().max().unwrap_or(0).min(tasks);
        let fewest: Vec<f64> =
            (0..=largest).map(|size| -(self.shape.most_edges(size) as f64)).collect();
        // All edges, if the tasks do not fit.
        let least = least_over_groups(tasks, capacities, &fewest);
        if least.is_finite() { -least as usize } else { usize::MAX }
    }

    /// Half of each task's weight beyond the heaviest partners that fit into its group.
    fn by_tasks(&self, capacity: usize) -> f64 {
        0.5 * (0..self.traffic.tasks())
            .map(|task| {
                let weights = self.traffic.heaviest(task);
                weights.iter().skip(capacity.saturating_sub(1)).sum::<f64>()
            })
            .sum::<f64>()
    }

    /// Rounds up to the next possible sum of weights.
    fn whole(&self, bound: f64) -> f64 {
        match self.unit.filter(|unit| bound / unit < MOST_UNITS) {
            Some(unit) => bound.max((bound / unit - 1e-6).ceil() * unit),
            None => bound,
        }
    }
}

/// The largest common divisor, if all are whole.
fn unit(weights: &[f64]) -> Option<f64> {
    let mut unit = 0_u64;
    for weight in weights {
        // Beyond 2^53 every float is whole.
        if weight.fract() != 0.0 || !(1.0..9e15).contains(weight) {
            return None;
        }
        let mut rest = *weight as u64;
        while rest > 0 {
            (unit, rest) = (rest, unit % rest);
        }
    }
    (unit > 0).then_some(unit as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::ENDLESS;
    use seatmap_data::statistics::Xoshiro;

    fn least_of_all(traffic: &Traffic, rooms: &mut [usize], group_of: &mut Vec<usize>) -> f64 {
        let task = group_of.len();
        if task == traffic.tasks() {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for group in 0..rooms.len() {
            if rooms[group] == 0 {
                continue;
            }
            let earlier = traffic.of(task).filter(|(with, _)| *with < task);
            let added: f64 = earlier
                .filter(|(with, _)| group_of[*with] != group)
                .map(|(_, weight)| weight)
                .sum();
            rooms[group] -= 1;
            group_of.push(group);
            least = least.min(added + least_of_all(traffic, rooms, group_of));
            group_of.pop();
            rooms[group] += 1;
        }
        least
    }

    #[test]
    fn cut_bound_never_exceeds_exhaustive_minimum() {
        let mut rng = Xoshiro::new(3);
        for case in 0..300 {
            let n = 3 + rng.below(6);
            let edges: Vec<(usize, usize, f64)> = (0..1 + rng.below(2 * n))
                .map(|_| {
                    let weight = match case % 3 {
                        0 => 1.0,
                        1 => 3.0 * rng.below(5) as f64,
                        _ => 1e3 * rng.unit(),
                    };
                    (rng.below(n), rng.below(n), weight)
                })
                .collect();
            let traffic = Traffic::new(n, edges);
            let mut capacities = Vec::new();
            while capacities.iter().sum::<usize>() < n {
                capacities.push(1 + rng.below(n));
            }
            let bound = Cuts::new(&traffic).least(&capacities, &ENDLESS);
            let least = least_of_all(&traffic, &mut capacities.clone(), &mut Vec::new());
            assert!(
                bound <= least * (1.0 + 1e-12),
                "{bound} over {least}: {traffic:?} {capacities:?}"
            );
        }
    }

    #[test]
    fn cut_bound_of_known_patterns_is_exact() {
        let cut = |spec: &str, capacities: &[usize]| {
            let pattern = seatmap_data::pattern::generate(spec).unwrap();
            let edges = pattern.edges.iter().map(|edge| (edge.from, edge.to, 1.0));
            Cuts::new(&Traffic::new(pattern.tasks, edges)).least(capacities, &ENDLESS)
        };
        assert_eq!(cut("ring:64", &[32, 32]), 2.0);
        assert_eq!(cut("ring:64", &[16; 4]), 4.0);
        assert_eq!(cut("binomial-tree:64", &[16; 4]), 3.0);
        assert_eq!(cut("butterfly:64", &[16; 4]), 128.0);
        assert_eq!(cut("stencil2d:8x8", &[16; 4]), 32.0);
        assert_eq!(cut("stencil2d:8x8", &[32, 32]), 16.0);
        assert_eq!(cut("clusters:4x16", &[16; 4]), 0.0);
    }

    #[test]
    fn unit_is_common_divisor_of_weights() {
        assert_eq!(unit(&[6.0, 9.0, 12.0]), Some(3.0));
        assert_eq!(unit(&[6.0, 9.5]), None);
        assert_eq!(unit(&[]), None);
        assert_eq!(unit(&[1e300]), None);
    }
}
