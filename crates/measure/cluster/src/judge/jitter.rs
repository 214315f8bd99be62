//! Ways whose small messages scatter.

use super::{Court, FEWEST_PAIRS, Fault, Kind, SMALL_BYTES, Way, concerns};
use crate::cluster::Pair;
use crate::fit::{Fit, Metric};

/// A way is jittery if its small messages scatter (from the tenth to the ninetieth percentile) so many times as much as
/// those of like pairs, and by at least this share of their usual median.
const JITTER: f64 = 5.0;
const JITTER_SHARE: f64 = 2.0;

impl Court<'_> {
    /// Nodes and pairs whose small messages scatter. A lost packet holds up the trips of a pair for so long that few
    /// are left, which tell nothing: those of a lossy link are neither called jittery nor usual.
    pub(super) fn jittery(&self, lossy: &[Fault]) -> Vec<Fault> {
        let scatter = |pair: &Pair| pair.trip(SMALL_BYTES).map_or(0.0, |trip| (trip.p90_ns - trip.p10_ns).max(1.0));
        let is_lossy = |pair: &Pair| lossy.iter().any(|fault| concerns(self.cluster, fault, pair));
        let ways = self.ways(|pair| (!is_lossy(pair)).then(|| [scatter(pair); 2]));
        let Some(fit) = Fit::new(self.cluster, Metric::Trip(SMALL_BYTES)) else { return Vec::new() };
        let is_wide = |way: &&Way| {
            let pair = self.cluster.pairs.iter().find(|pair| pair.nodes == [way.from, way.to]);
            let wide = pair.is_some_and(|pair| scatter(pair) >= JITTER_SHARE * fit.usual(way.from, way.to));
            way.factor >= JITTER && wide
        };
        let jittery: Vec<&Way> = ways.iter().filter(is_wide).collect();
        let of_node = |node: usize| jittery.iter().filter(|way| way.from == node || way.to == node).count();
        let mut faults = Vec::new();
        let mut blamed = Vec::new();
        for node in 0..self.cluster.nodes.len() {
            let all = self.cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node)).count();
            if all >= FEWEST_PAIRS && 2 * of_node(node) > all {
                blamed.push(node);
                let sentence = format!(
                    "{}: the times of its small messages scatter, on {} of {all} pairs",
                    self.name(node),
                    of_node(node)
                );
                faults.push(self.fault(Kind::Jittery, &[node], None, sentence));
            }
        }
        for way in jittery.iter().filter(|way| !blamed.contains(&way.from) && !blamed.contains(&way.to)) {
            let (from, to) = (self.name(way.from), self.name(way.to));
            let sentence = format!(
                "{from} and {to}: the times of small messages scatter {:.0} times as much as between like nodes",
                way.factor
            );
            faults.push(self.fault(Kind::Jittery, &[way.from, way.to], Some(way.factor), sentence));
        }
        faults
    }
}
