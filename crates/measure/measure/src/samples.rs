//! All batches of all pairs.

use crate::probe::{Discards, VisitBatches};
use crate::schedule::all_pairs;
use seatmap_data::machine::Matrix;
use seatmap_data::statistics::median;

/// All batches of all pairs by pass, the input of the matrices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    pus: Vec<u32>,
    pairs: Vec<PairSamples>,
}

/// The batches of one pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairSamples {
    /// Nanoseconds per round trip, by pass and in time order; empty before the pass.
    pub passes: Vec<Vec<f64>>,
    /// Counts of discarded batches.
    pub discards: Discards,
}

impl PairSamples {
    /// Whether this pass has batches.
    pub fn has(&self, pass: usize) -> bool {
        self.passes.get(pass).is_some_and(|batches| !batches.is_empty())
    }
}

impl Samples {
    /// An empty set of samples of these PUs.
    pub fn new(pus: Vec<u32>) -> Self {
        let n = pus.len();
        Samples { pus, pairs: vec![PairSamples::default(); n * n.saturating_sub(1) / 2] }
    }

    /// OS indices, in matrix order.
    pub fn pus(&self) -> &[u32] {
        &self.pus
    }

    /// The batches of the pair at these rows, in either order.
    pub fn pair(&self, i: usize, j: usize) -> &PairSamples {
        &self.pairs[self.at(i, j)]
    }

    /// Adds the batches of a visit.
    pub fn add(&mut self, i: usize, j: usize, pass: usize, batches: VisitBatches) {
        let at = self.at(i, j);
        let pair = &mut self.pairs[at];
        pair.passes.resize(pair.passes.len().max(pass + 1), Vec::new());
        pair.passes[pass].extend(batches.round_trip_ns);
        pair.discards += batches.discards;
    }

    /// Counts passes with visits.
    pub fn passes(&self) -> usize {
        self.pairs.iter().map(|pair| pair.passes.len()).max().unwrap_or(0)
    }

    /// All discarded batches.
    pub fn discards(&self) -> Discards {
        self.pairs.iter().fold(Discards::default(), |mut sum, pair| {
            sum += pair.discards;
            sum
        })
    }

    /// Counts kept batches.
    pub fn kept(&self) -> u64 {
        self.pairs.iter().flat_map(|pair| &pair.passes).map(|batches| batches.len() as u64).sum()
    }

    /// The current medians, round-trip nanoseconds; NaN for unvisited pairs.
    pub fn medians_ns(&self) -> Matrix {
        let mut medians = Matrix::filled(self.pus.len(), 0.0);
        for (i, j) in all_pairs(self.pus.len()) {
            let batches = self.pair(i, j).passes.concat();
            medians.set_both(i, j, median(&batches).unwrap_or(f64::NAN));
        }
        medians
    }

    fn at(&self, i: usize, j: usize) -> usize {
        let low = i.min(j);
        let high = i.max(j);
        low * self.pus.len() - low * (low + 1) / 2 + high - low - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(ns: &[f64]) -> VisitBatches {
        VisitBatches {
            round_trip_ns: ns.to_vec(),
            discards: Discards { gap: 1, ..Discards::default() },
        }
    }

    #[test]
    fn each_pair_has_its_own_slot() {
        let mut samples = Samples::new(vec![0, 1, 2, 9]);
        for (value, (i, j)) in crate::schedule::all_pairs(4).into_iter().enumerate() {
            samples.add(j, i, 1, batches(&[value as f64]));
        }
        let medians = samples.medians_ns();
        assert_eq!(
            medians.pairs().map(|(_, _, value)| *value).collect::<Vec<_>>(),
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        );
        assert!(samples.pair(0, 1).has(1) && !samples.pair(0, 1).has(0));
        assert_eq!((samples.kept(), samples.discards().gap), (6, 6));
    }

    #[test]
    fn unvisited_pair_is_unknown() {
        let samples = Samples::new(vec![0, 1]);
        assert!(samples.medians_ns()[(0, 1)].is_nan());
        assert_eq!(samples.medians_ns()[(1, 1)], 0.0);
    }
}
