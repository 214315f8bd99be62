//! Small messages whose times scatter: of a node, or between two nodes.

use super::usual::{Figure, Way};
use super::{Court, FEWEST_PAIRS, Fault, Kind, SMALL_BYTES, concerns};
use crate::cluster::Pair;
use seatmap_statistics::median;

/// A way is jittery if its small messages scatter (from the tenth to the ninetieth percentile) so many times as much as
/// those of like pairs, and by at least this share of their usual median.
pub(super) const JITTER: f64 = 5.0;
const JITTER_SHARE: f64 = 2.0;

/// A node or a pair whose small messages scatter.
pub(super) struct Jittery {
    pub nodes: Vec<usize>,
    /// How far, in nanoseconds, as it was measured.
    pub scatter_ns: f64,
    /// How many of a node's pairs, of how many.
    of: [usize; 2],
    /// Over what is usual.
    factor: f64,
}

impl Court<'_> {
    /// A lost packet holds up the trips of a pair for so long that few are left, which tell nothing: those of a lossy
    /// link are neither called jittery nor usual.
    pub(super) fn jittery(&self, lossy: &[Fault]) -> Vec<Jittery> {
        let is_lossy = |pair: &Pair| lossy.iter().any(|fault| concerns(self.cluster, fault, pair));
        let one_way = |figure: Figure| {
            let ways = self.ways(figure, |pair| !is_lossy(pair)).into_iter();
            ways.filter(|way| way.from < way.to).collect::<Vec<Way>>()
        };
        let (ways, times) = (one_way(Figure::Scatter), one_way(Figure::Time));
        let is_wide = |(way, time): &(&Way, &Way)| way.factor() >= JITTER && way.value >= JITTER_SHARE * time.usual;
        let jittery: Vec<&Way> = ways.iter().zip(&times).filter(is_wide).map(|(way, _)| way).collect();
        let node = |node: usize| {
            let own: Vec<&&Way> = jittery.iter().filter(|way| way.ends().contains(&node)).collect();
            let all = ways.iter().filter(|way| way.ends().contains(&node)).count();
            let middle = |of: &dyn Fn(&Way) -> f64| median(&own.iter().map(|way| of(way)).collect::<Vec<_>>());
            let (scatter_ns, factor) = (middle(&|way| self.scatter_ns(way))?, middle(&Way::factor)?);
            let is_bad = all >= FEWEST_PAIRS && 2 * own.len() > all;
            is_bad.then(|| Jittery { nodes: vec![node], scatter_ns, of: [own.len(), all], factor })
        };
        let nodes: Vec<Jittery> = (0..self.cluster.nodes.len()).filter_map(node).collect();
        let is_blamed = |way: &&&Way| nodes.iter().any(|one| way.ends().contains(&one.nodes[0]));
        let is_shown = |way: &&&Way| way.shown >= JITTER * way.usual;
        let pair = |way: &&Way| Jittery {
            nodes: way.ends().to_vec(),
            scatter_ns: self.scatter_ns(way),
            of: [1, 1],
            factor: way.factor(),
        };
        let pairs: Vec<Jittery> = jittery.iter().filter(is_shown).filter(|way| !is_blamed(way)).map(pair).collect();
        nodes.into_iter().chain(pairs).collect()
    }

    fn scatter_ns(&self, way: &Way) -> f64 {
        let trip = self.pairs.get(&way.ends()).and_then(|pair| pair.trip(SMALL_BYTES));
        trip.map_or(way.value, |trip| trip.p90_ns - trip.p10_ns)
    }

    pub(super) fn jitter_fault(&self, found: &Jittery) -> Fault {
        let names: Vec<&str> = found.nodes.iter().map(|node| self.name(*node)).collect();
        let (sentence, factor) = match names[..] {
            [node] => {
                let [bad, all] = found.of;
                (format!("{node}: the times of its small messages scatter, on {bad} of {all} pairs"), None)
            }
            _ => (
                format!(
                    "{}: the times of small messages scatter {:.0} times as much as between like nodes",
                    names.join(" and "),
                    found.factor
                ),
                Some(found.factor),
            ),
        };
        self.fault(Kind::Jittery, &found.nodes, factor, sentence)
    }
}
