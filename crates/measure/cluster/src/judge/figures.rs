//! The figures of pairs, each assigned to one path or one end.

use super::SMALL_BYTES;
use crate::cluster::{Beside, Cluster, ExcessFactor, NodePair};

/// A metric of a path; lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairMetric {
    /// Microseconds per bit of a stream: one over its rate.
    Slowness,
    /// The round trip of small messages, in ns.
    Time,
    /// Of small messages, from the tenth to the ninetieth percentile.
    Scatter,
    /// The share of segments that an end retransmitted.
    Lost,
    /// The share of the time in which an end waited for a CPU.
    Wait,
}

impl PairMetric {
    pub const ALL: [PairMetric; 5] = [
        PairMetric::Slowness,
        PairMetric::Time,
        PairMetric::Scatter,
        PairMetric::Lost,
        PairMetric::Wait,
    ];

    pub fn of(self, pair: &NodePair) -> Option<[f64; 2]> {
        let small = pair.trip(SMALL_BYTES);
        match self {
            // The inverse, because more is worse in every metric.
            PairMetric::Slowness => Some(pair.rate_mbps.map(|rate| 1.0 / rate)),
            PairMetric::Time => Some([small?.median_ns; 2]),
            // At least 1, because factors of it are computed.
            PairMetric::Scatter => Some([(small?.p90_ns - small?.p10_ns).max(1.0); 2]),
            PairMetric::Lost => Some(
                [0, 1].map(|end| pair.retransmits[end] as f64 / pair.segments[end].max(1) as f64),
            ),
            PairMetric::Wait => {
                let [there, back] = pair.ends.as_ref()?.each_ref().map(|end| end.wait_share);
                Some([there?, back?])
            }
        }
    }

    /// For times this is the tenth percentile: if even the fastest tenth is slower than usual, a
    /// busy moment is not the reason.
    pub fn held(self, pair: &NodePair) -> Option<[f64; 2]> {
        match self {
            PairMetric::Time => Some([pair.trip(SMALL_BYTES)?.p10_ns; 2]),
            _ => self.of(pair),
        }
    }

    fn beside(self, beside: &Beside) -> Option<[ExcessFactor; 2]> {
        match self {
            PairMetric::Slowness => Some(beside.slowness),
            PairMetric::Time => Some([beside.time; 2]),
            PairMetric::Scatter => Some([beside.scatter; 2]),
            PairMetric::Lost | PairMetric::Wait => None,
        }
    }

    pub fn is_of_pair(self) -> bool {
        matches!(self, PairMetric::Time | PairMetric::Scatter)
    }

    pub fn has_distance(self) -> bool {
        matches!(self, PairMetric::Slowness | PairMetric::Time)
    }
}

/// One figure of one path. A figure of a pair exists once, from its first node; a figure of an end
/// starts at this end.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub figure: PairMetric,
    pub from: usize,
    pub to: usize,
    pub value: f64,
    pub beside: Option<ExcessFactor>,
    /// The number of segments sent, for [`PairMetric::Lost`].
    pub segments: f64,
}

pub fn items(cluster: &Cluster) -> Vec<Item> {
    let mut items = Vec::new();
    for pair in &cluster.pairs {
        for figure in PairMetric::ALL {
            let Some(values) = figure.held(pair) else { continue };
            let ends = if figure.is_of_pair() { 1 } else { 2 };
            for end in 0..ends {
                let beside = pair
                    .beside
                    .as_ref()
                    .and_then(|beside| figure.beside(beside))
                    .map(|shown| shown[end]);
                items.push(Item {
                    figure,
                    from: pair.nodes[end],
                    to: pair.nodes[1 - end],
                    value: values[end],
                    beside,
                    segments: pair.segments[end] as f64,
                });
            }
        }
    }
    items.retain(|item| item.figure != PairMetric::Lost || item.segments > 0.0);
    items
}
