//! Predicts the values of all pairs from measured ones.
//!
//! A value is that of its block (the groups of its nodes) times a factor for each node, because a
//! node behind a slow cable is farther from all others. In logarithms this is a sum, fitted by
//! medians, so one bad pair changes nothing.

use crate::choice::{PairValues, grouped, pair};
use crate::cluster::{Cluster, NodePair};
use seatmap_data::statistics::median;
use std::collections::BTreeMap;

/// A metric of pairs, equal in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymmetricMetric {
    /// The median round trip of messages of this many bytes, in nanoseconds.
    Trip(u32),
    /// The slower of the two rates, in Mbit/s.
    Rate,
}

impl SymmetricMetric {
    /// The value of one measured pair.
    pub fn of(self, pair: &NodePair) -> Option<f64> {
        match self {
            SymmetricMetric::Trip(size_bytes) => pair.trip(size_bytes).map(|trip| trip.median_ns),
            SymmetricMetric::Rate => Some(pair.rate_mbps[0].min(pair.rate_mbps[1])),
        }
    }
}

/// Iterations of the fit: medians converge in two or three.
const TURNS: usize = 4;

/// A node gets its own factor only with at least this many pairs.
const FEWEST_PAIRS: usize = 3;

/// A model of all pairs.
#[derive(Clone, Debug)]
pub struct PairModel {
    group: Vec<usize>,
    known: PairValues,
    /// Logarithms.
    blocks: BTreeMap<[usize; 2], f64>,
    /// Logarithms inside groups and between them, for unmeasured blocks.
    usual: [f64; 2],
    /// Logarithms.
    nodes: Vec<f64>,
}

impl Cluster {
    pub(crate) fn values(&self, metric: SymmetricMetric) -> PairValues {
        self.pairs.iter().filter_map(|pair| Some((pair.nodes, metric.of(pair)?))).collect()
    }

    /// `None` without measurements.
    pub fn fit(&self, metric: SymmetricMetric) -> Option<PairModel> {
        PairModel::of(self.group_of(), self.values(metric))
    }
}

impl PairModel {
    /// Positive values; `None` without any.
    pub(crate) fn of(group: Vec<usize>, known: PairValues) -> Option<Self> {
        let logarithms: Vec<([usize; 2], f64)> =
            known.iter().map(|(pair, value)| (*pair, value.ln())).collect();
        let mut fit = PairModel {
            nodes: vec![0.0; group.len()],
            group,
            blocks: BTreeMap::new(),
            usual: [0.0; 2],
            known,
        };
        // Tukey's median polish.
        for _ in 0..TURNS {
            fit.fit_blocks(&logarithms)?;
            fit.fit_nodes(&logarithms);
        }
        Some(fit)
    }

    fn fit_blocks(&mut self, logarithms: &[([usize; 2], f64)]) -> Option<()> {
        let members =
            grouped(logarithms.iter().map(|([a, b], value)| {
                (self.block(*a, *b), value - self.nodes[*a] - self.nodes[*b])
            }));
        let anything = median(members.values().flatten())?;
        self.usual = [true, false].map(|is_inside| {
            let of = members.iter().filter(|(block, _)| (block[0] == block[1]) == is_inside);
            median(of.flat_map(|(_, values)| values)).unwrap_or(anything)
        });
        self.blocks =
            members.iter().filter_map(|(block, values)| Some((*block, median(values)?))).collect();
        Some(())
    }

    fn fit_nodes(&mut self, logarithms: &[([usize; 2], f64)]) {
        let mut residuals = vec![Vec::new(); self.nodes.len()];
        for ([a, b], value) in logarithms {
            let block = self.block_value(*a, *b);
            residuals[*a].push(value - block - self.nodes[*b]);
            residuals[*b].push(value - block - self.nodes[*a]);
        }
        for (node, residuals) in self.nodes.iter_mut().zip(&residuals) {
            *node = median(residuals).filter(|_| residuals.len() >= FEWEST_PAIRS).unwrap_or(0.0);
        }
    }

    fn block(&self, a: usize, b: usize) -> [usize; 2] {
        pair(self.group[a], self.group[b])
    }

    fn block_value(&self, a: usize, b: usize) -> f64 {
        let block = self.block(a, b);
        self.blocks.get(&block).copied().unwrap_or(self.usual[usize::from(block[0] != block[1])])
    }

    /// The model's value for a pair, measured or not.
    pub fn predicted(&self, a: usize, b: usize) -> f64 {
        (self.block_value(a, b) + self.nodes[a] + self.nodes[b]).exp()
    }

    /// The value if both nodes were like the others of their groups.
    pub fn usual(&self, a: usize, b: usize) -> f64 {
        self.block_value(a, b).exp()
    }

    /// The factor of a node relative to its group.
    pub fn factor(&self, node: usize) -> f64 {
        self.nodes[node].exp()
    }

    /// The measured value of a pair, otherwise the predicted one; 0 from a node to itself.
    pub fn value(&self, a: usize, b: usize) -> f64 {
        match self.known.get(&pair(a, b)) {
            Some(value) => *value,
            None if a == b => 0.0,
            None => self.predicted(a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(nodes: usize) -> impl Iterator<Item = [usize; 2]> {
        (0..nodes).flat_map(move |a| (a + 1..nodes).map(move |b| [a, b]))
    }

    #[test]
    fn few_pairs_predict_all_by_blocks_and_nodes() {
        let group: Vec<usize> = (0..12).map(|node| node / 4).collect();
        let value = |[a, b]: [usize; 2]| {
            let base = if group[a] == group[b] {
                100.0
            } else {
                400.0 + 50.0 * (group[a] + group[b]) as f64
            };
            base * if a == 7 || b == 7 { 3.0 } else { 1.0 }
        };
        let known = pairs(12)
            .filter(|[a, b]| (a + b) % 2 == 1 || a + 1 == *b)
            .map(|pair| (pair, value(pair)));
        let fit = PairModel::of(group.clone(), known.collect()).unwrap();
        assert!((fit.factor(7) - 3.0).abs() < 1e-9, "{}", fit.factor(7));
        for pair in pairs(12) {
            let [a, b] = pair;
            assert!(
                (fit.value(a, b) / value(pair) - 1.0).abs() < 1e-9,
                "{pair:?} {}",
                fit.value(a, b)
            );
        }
    }

    #[test]
    fn one_bad_pair_leaves_other_predictions() {
        let value = |pair: [usize; 2]| if pair == [1, 2] { 900.0 } else { 100.0 };
        let fit =
            PairModel::of(vec![0; 6], pairs(6).map(|pair| (pair, value(pair))).collect()).unwrap();
        assert!(
            (fit.predicted(1, 2) - 100.0).abs() < 1e-9 && (fit.value(2, 1) - 900.0).abs() < 1e-9
        );
        assert!(PairModel::of(vec![0; 3], BTreeMap::new()).is_none());
    }
}
