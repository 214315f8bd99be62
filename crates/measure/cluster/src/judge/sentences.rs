//! The sentence for each bad part.

use super::part::{NetworkPart, NetworkParts};
use super::path::PairMetric;
use super::symptom::Symptom;
use super::{ClusterFault, ClusterFaultKind, name, names};
use crate::cluster::Cluster;
use seatmap_data::statistics::greatest;
use seatmap_data::statistics::words::joined;

/// A delay also slows streams, and a slow link delays messages: it is a delay if messages are worse
/// by this factor.
const LATER_THAN_SLOW: f64 = 2.0;

/// A delay is steady if its scatter is below this many times its excess. Two uniform delays, one
/// each way, scatter 2.5 times as much (triangular distribution).
const STEADY: f64 = 1.2;

/// The fault of a bad part.
pub fn fault(cluster: &Cluster, parts: &NetworkParts, symptoms: &[Symptom]) -> ClusterFault {
    let metric = cause(symptoms);
    let sides: Vec<&Symptom> = symptoms.iter().filter(|one| one.metric == metric).collect();
    let factor = greatest(sides.iter().map(|side| side.factor()));
    let level = greatest(sides.iter().map(|side| side.level));
    let part = symptoms[0].part;
    let side = match (metric, part, &sides[..]) {
        (_, NetworkPart::Switch(_), _) => None,
        (PairMetric::Slowness | PairMetric::Lost, _, [one]) => Some(one.side),
        _ => None,
    };
    let mut nodes = parts.nodes(part);
    let (place, them) = match part {
        NetworkPart::Node(_) => ("its link", "it"),
        NetworkPart::Uplink(_) => ("the path between their switch and the others", "them"),
        NetworkPart::Switch(_) | NetworkPart::Tier(_) => ("their switch", "them"),
        NetworkPart::Pair(_) => ("this way", ""),
    };
    let (who, way) = if matches!(part, NetworkPart::Pair(_)) {
        // The sender first.
        if side == Some(1) {
            nodes.reverse();
        }
        let between = if side.is_some() { " to " } else { " and " };
        (joined(nodes.iter().map(|node| name(cluster, *node)), between), String::new())
    } else {
        let way = match side {
            None => " both ways".to_owned(),
            Some(0) => format!(" from {them}"),
            Some(_) => format!(" to {them}"),
        };
        (names(cluster, &nodes), way)
    };
    let (kind, what) = match metric {
        PairMetric::Lost => (
            ClusterFaultKind::Lossy,
            format!(
                "{place} loses packets: {:.2} % of the segments{way} went twice",
                100.0 * level
            ),
        ),
        PairMetric::Slowness => (
            ClusterFaultKind::Slow,
            format!("{place} is slow: streams{way} have 1/{factor:.1} of the usual rate"),
        ),
        PairMetric::Time => (
            ClusterFaultKind::Slow,
            format!("{place} delays small messages: they take {factor:.1} times as long as usual"),
        ),
        PairMetric::Scatter => (
            ClusterFaultKind::Jittery,
            format!(
                "{place} has jitter: small messages scatter by {:.2} ms, {factor:.0} times as \
                 much as usual",
                level / 1e6
            ),
        ),
    };
    ClusterFault {
        kind,
        nodes: nodes.iter().map(|node| name(cluster, *node).to_owned()).collect(),
        one_way: side.is_some(),
        factor: Some(factor),
        sentence: format!("{who}: {what}"),
        part: Some(part),
    }
}

/// The metric that explains the others.
fn cause(symptoms: &[Symptom]) -> PairMetric {
    let worst = |metric: PairMetric, of: fn(&Symptom) -> f64| {
        greatest(symptoms.iter().filter(|one| one.metric == metric).map(of))
    };
    let slow = worst(PairMetric::Slowness, Symptom::factor);
    let late = worst(PairMetric::Time, Symptom::factor);
    let late_ns = worst(PairMetric::Time, |one| one.level - one.usual);
    if worst(PairMetric::Lost, Symptom::factor) > 0.0 {
        // Losses slow streams.
        PairMetric::Lost
    } else if late >= LATER_THAN_SLOW * slow
        && STEADY * late_ns > worst(PairMetric::Scatter, |one| one.level)
    {
        // Messages that scatter by more than their delay are jittery.
        PairMetric::Time
    } else if slow > 0.0 {
        PairMetric::Slowness
    } else {
        PairMetric::Scatter
    }
}
