//! The figures of pairs, and what each says of one way or one end.

use super::SMALL_BYTES;
use crate::cluster::{Beside, Cluster, ExcessFactor, NodePair};

/// A figure of a way; the lower, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PairMetric {
    /// The time that a stream needs for a bit, in microseconds: one over its rate.
    Slowness,
    /// The time of small messages, in nanoseconds; a round trip, so the same both ways.
    Time,
    /// Their scatter, from the tenth to the ninetieth percentile.
    Scatter,
    /// The share of segments that an end sent again.
    Lost,
    /// The share of the time in which an end could have run and had no CPU.
    Wait,
}

impl PairMetric {
    pub(super) const ALL: [PairMetric; 5] = [
        PairMetric::Slowness,
        PairMetric::Time,
        PairMetric::Scatter,
        PairMetric::Lost,
        PairMetric::Wait,
    ];

    /// The figures of a pair, from its first node and from the second.
    pub(crate) fn of(self, pair: &NodePair) -> Option<[f64; 2]> {
        let small = pair.trip(SMALL_BYTES);
        match self {
            // Microseconds for a bit: more is worse, as of all figures.
            PairMetric::Slowness => Some(pair.rate_mbps.map(|rate| 1.0 / rate)),
            PairMetric::Time => Some([small?.median_ns; 2]),
            // Factors of it are taken, so that it must not be 0.
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

    /// The figures that are held against the usual ones. Of times it is the tenth percentile: even
    /// the fastest tenth takes longer than others usually do, so that no busy moment makes it late.
    pub(super) fn held(self, pair: &NodePair) -> Option<[f64; 2]> {
        match self {
            PairMetric::Time => Some([pair.trip(SMALL_BYTES)?.p10_ns; 2]),
            _ => self.of(pair),
        }
    }

    /// How a pair that was looked at again compares with its like in these moments.
    fn beside(self, beside: &Beside) -> Option<[ExcessFactor; 2]> {
        match self {
            PairMetric::Slowness => Some(beside.slowness),
            PairMetric::Time => Some([beside.time; 2]),
            PairMetric::Scatter => Some([beside.scatter; 2]),
            PairMetric::Lost | PairMetric::Wait => None,
        }
    }

    /// Whether both directions have one figure.
    pub(super) fn is_of_pair(self) -> bool {
        matches!(self, PairMetric::Time | PairMetric::Scatter)
    }

    /// Whether ways inside switches and between them usually differ in it.
    pub(super) fn has_distance(self) -> bool {
        matches!(self, PairMetric::Slowness | PairMetric::Time)
    }
}

/// One figure of one way. A figure of a pair stands once, from its first node to its second; that
/// of an end from this end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub figure: PairMetric,
    pub from: usize,
    pub to: usize,
    pub value: f64,
    /// How it compares with like ways, where it was measured beside these.
    pub beside: Option<ExcessFactor>,
    /// The segments that were sent, for [`PairMetric::Lost`].
    pub segments: f64,
}

/// All figures of all pairs.
pub(super) fn items(cluster: &Cluster) -> Vec<Item> {
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
    // Without a segment there is no share of losses.
    items.retain(|item| item.figure != PairMetric::Lost || item.segments > 0.0);
    items
}
