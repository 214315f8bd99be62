//! The figures of paths, each with its usual value.

use super::SMALL_BYTES;
use super::part::{NetworkPart, NetworkParts};
use crate::choice::grouped;
use crate::cluster::{Cluster, NodePair};
use seatmap_data::statistics::{quantile, sorted};
use std::collections::{BTreeMap, BTreeSet};

/// The usual rate and time are this quantile, best first, because noise improves none: of three
/// nodes on a switch, a bad one spoils two of three pairs.
const BEST: f64 = 0.15;

/// A pair is slow from this factor on. Like nodes on one switch differ by a fifth on shared
/// computers.
const SLOW: f64 = 1.6;

/// The link of a node or switch is slow from this factor on; all of its paths confirm it.
const SLOW_PART: f64 = 1.4;

/// Small messages have jitter if they scatter (tenth to ninetieth percentile) this many times as
/// much as usual, and this many times the usual round trip.
const JITTER: f64 = 5.0;
const JITTER_SHARE: f64 = 2.0;

/// A part is lossy if this many times the usual share of segments is retransmitted, and this share
/// of all. Busy computers retransmit up to 0.15 % without a loss, because answers come late.
const LOST_FACTOR: f64 = 4.0;
const LOST_SHARE: f64 = 0.003;

/// A metric of a path; lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairMetric {
    /// Microseconds per bit of a stream: one over its rate.
    Slowness,
    /// The round trip of small messages, in ns: the tenth percentile. If even the fastest tenth is
    /// slower than usual, a busy moment is not the reason.
    Time,
    /// Of small messages, from the tenth to the ninetieth percentile.
    Scatter,
    /// The share of segments that an end retransmitted.
    Lost,
}

impl PairMetric {
    const ALL: [PairMetric; 4] =
        [PairMetric::Slowness, PairMetric::Time, PairMetric::Scatter, PairMetric::Lost];

    /// There and back.
    fn of(self, pair: &NodePair) -> Option<[f64; 2]> {
        let small = pair.trip(SMALL_BYTES);
        match self {
            // The inverse, because more is worse in every metric.
            PairMetric::Slowness => Some(pair.rate_mbps.map(|rate| 1.0 / rate)),
            PairMetric::Time => Some([small?.p10_ns; 2]),
            // At least 1, because factors of it are computed.
            PairMetric::Scatter => Some([(small?.p90_ns - small?.p10_ns).max(1.0); 2]),
            PairMetric::Lost => Some(
                [0, 1].map(|end| pair.retransmits[end] as f64 / pair.segments[end].max(1) as f64),
            ),
        }
    }

    /// The factor over the usual value from which a part is bad.
    pub fn limit(self, part: NetworkPart) -> f64 {
        match (self, part) {
            (PairMetric::Slowness, NetworkPart::Pair(_)) | (PairMetric::Time, _) => SLOW,
            (PairMetric::Slowness, _) => SLOW_PART,
            (PairMetric::Scatter, _) => JITTER,
            (PairMetric::Lost, _) => LOST_FACTOR,
        }
    }

    /// The side of a part on which a path's figure counts: figures of both directions on side 0.
    pub fn side(self, part: NetworkPart, side: usize) -> Option<usize> {
        match (self, part) {
            (PairMetric::Lost | PairMetric::Scatter, NetworkPart::Tier(_)) => None,
            (PairMetric::Time | PairMetric::Scatter, _) => Some(0),
            (PairMetric::Slowness | PairMetric::Lost, _) => Some(side),
        }
    }

    /// The figure of a part: that of its best path or, of scatters and losses, the lower median.
    /// `None` without paths.
    pub fn level(self, values: impl Iterator<Item = f64>) -> Option<f64> {
        let values = sorted(values);
        let middle = values.len().checked_sub(1)? / 2;
        Some(values[if self.is_distance() { 0 } else { middle }])
    }

    fn usual(self, values: &[f64]) -> Option<f64> {
        if self.is_distance() { quantile(values, BEST) } else { self.level(values.iter().copied()) }
    }

    /// Lower values are usual anywhere.
    fn least_usual(self, usual_time_ns: f64) -> f64 {
        match self {
            PairMetric::Slowness | PairMetric::Time => 0.0,
            PairMetric::Scatter => usual_time_ns * JITTER_SHARE / JITTER,
            PairMetric::Lost => LOST_SHARE / LOST_FACTOR,
        }
    }

    pub fn is_distance(self) -> bool {
        matches!(self, PairMetric::Slowness | PairMetric::Time)
    }

    /// A figure of both directions is that of the path from the first node.
    fn paths(self, pair: &NodePair) -> impl Iterator<Item = PathFigure> {
        let directions = match self {
            PairMetric::Time | PairMetric::Scatter => 1,
            _ => 2,
        };
        let values = self.of(pair).into_iter().flatten().take(directions).enumerate();
        values.map(move |(direction, value)| PathFigure {
            metric: self,
            nodes: [pair.nodes[direction], pair.nodes[1 - direction]],
            value,
            usual: value,
            resent: pair.retransmits[direction],
        })
    }
}

/// One figure of one path.
#[derive(Clone, Copy, Debug)]
pub struct PathFigure {
    pub metric: PairMetric,
    /// From and to.
    pub nodes: [usize; 2],
    pub value: f64,
    /// Value without a fault.
    pub usual: f64,
    /// Retransmitted segments.
    pub resent: u64,
}

/// All figures, beside the usual ones; rates and times differ inside groups and between them. A
/// starved process loses no packets, but its other figures are not those of the network.
pub fn paths(
    cluster: &Cluster,
    parts: &NetworkParts,
    starved: &BTreeSet<usize>,
) -> Vec<PathFigure> {
    let all = cluster
        .pairs
        .iter()
        .flat_map(|pair| PairMetric::ALL.into_iter().flat_map(move |metric| metric.paths(pair)));
    let mut paths: Vec<PathFigure> = all
        .filter(|path| {
            path.metric == PairMetric::Lost || path.nodes.iter().all(|node| !starved.contains(node))
        })
        .collect();
    let kind =
        |path: &PathFigure| (path.metric, path.metric.is_distance() && parts.are_far(path.nodes));
    let kinds = grouped(paths.iter().map(|path| (kind(path), path.value)));
    let usual: BTreeMap<(PairMetric, bool), f64> =
        kinds.iter().filter_map(|(kind, values)| Some((*kind, kind.0.usual(values)?))).collect();
    for path in &mut paths {
        let time = usual.get(&(PairMetric::Time, parts.are_far(path.nodes)));
        let least = path.metric.least_usual(time.copied().unwrap_or(0.0));
        path.usual = usual.get(&kind(path)).copied().unwrap_or(path.value).max(least);
    }
    paths
}
