//! Late small messages: of a node, or between two nodes.

use super::usual::{Figure, Way};
use super::{Court, FEWEST_PAIRS, Fault, Kind, SLOW, SMALL_BYTES, concerns};
use seatmap_statistics::median;
use std::collections::BTreeMap;

/// The clocks tell a direction where they seem wrong by half of the delay, to this share of it: a packet that is late
/// on one way moves the middle of a round trip by half of that.
const HALF: f64 = 0.4;

/// A delay scatters less than this many times what nine of ten messages are late: hardly at all on an idle computer.
/// Two uniform delays, one each way, scatter 2.5 times as much, from the tenth to the ninetieth percentile of a
/// triangular distribution; 24 messages a pair through the relay of `scripts/cluster` showed 1.1 to 1.9.
const STEADY: f64 = 1.2;

/// A node or a pair whose small messages are late.
pub(super) struct Late {
    pub nodes: Vec<usize>,
    /// By how much in the median, in nanoseconds.
    pub excess_ns: f64,
    /// By how much nine of ten messages are late at least.
    pub always_ns: f64,
    /// The usual time.
    pub usual_ns: f64,
}

impl Late {
    fn factor(&self) -> f64 {
        (self.usual_ns + self.excess_ns) / self.usual_ns
    }
}

impl Court<'_> {
    /// Late and scattered small messages of nodes and pairs that have no other fault. One whose messages scatter by
    /// more than nearly all of them are late is called jittery, as scatter makes the middle of its messages late, too;
    /// of one that is late and scatters both are told.
    pub(super) fn times(&self, lossy: &[Fault], slow: &[Fault]) -> Vec<Fault> {
        let (late, jittery) = (self.late(), self.jittery(lossy));
        let names = |nodes: &[usize]| nodes.iter().map(|node| self.name(*node).to_owned()).collect::<Vec<_>>();
        let is_told = |nodes: &[usize], faults: &[Fault]| {
            let own = names(nodes);
            let covers = |fault: &Fault| {
                fault.nodes.iter().all(|node| own.contains(node)) || own.iter().all(|node| fault.nodes.contains(node))
            };
            faults.iter().filter(|fault| fault.nodes.len() <= 2).any(covers)
        };
        let scatter_ns = |nodes: &[usize]| {
            jittery.iter().filter(|one| one.nodes == nodes).map(|one| one.scatter_ns).fold(0.0, f64::max)
        };
        let is_late = |late: &&Late| STEADY * late.always_ns > scatter_ns(&late.nodes) && !is_told(&late.nodes, slow);
        let late: Vec<Fault> =
            late.iter().filter(is_late).map(|late| self.late_fault(late, scatter_ns(&late.nodes))).collect();
        let jitter = jittery.iter().filter(|one| !is_told(&one.nodes, &late)).map(|one| self.jitter_fault(one));
        jitter.collect::<Vec<Fault>>().into_iter().chain(late.iter().cloned()).collect()
    }

    fn late(&self) -> Vec<Late> {
        let ways: Vec<Way> = self.ways(Figure::Time, |_| true).into_iter().filter(|way| way.from < way.to).collect();
        let nodes: BTreeMap<usize, Late> =
            (0..self.cluster.nodes.len()).filter_map(|node| Some((node, self.late_node(&ways, node)?))).collect();
        let of_node = |node: usize| nodes.get(&node).map_or(0.0, |late| late.excess_ns);
        let pair = |way: &Way| {
            let usual_ns = way.usual + of_node(way.from) + of_node(way.to);
            let excess_ns = self.median_ns(way) - usual_ns;
            let always_ns = self.least_ns(way) - usual_ns;
            (way.shown >= SLOW * usual_ns).then(|| Late { nodes: way.ends().to_vec(), excess_ns, always_ns, usual_ns })
        };
        let pairs: Vec<Late> = ways.iter().filter_map(pair).collect();
        nodes.into_values().chain(pairs).collect()
    }

    /// A node is late by what the best of its pairs has over its like; of four and more by the second best, as one
    /// may have had luck. It is told by the median of all.
    fn late_node(&self, ways: &[Way], node: usize) -> Option<Late> {
        let own = || ways.iter().filter(|way| way.ends().contains(&node));
        let mut excesses: Vec<f64> = own().map(|way| way.value - way.usual).collect();
        excesses.sort_by(f64::total_cmp);
        if excesses.len() < FEWEST_PAIRS {
            return None;
        }
        let usual_ns = own().map(|way| way.usual).fold(f64::INFINITY, f64::min);
        let least_ns = excesses[usize::from(excesses.len() > FEWEST_PAIRS)];
        let excess_ns = median(&own().map(|way| self.median_ns(way) - way.usual).collect::<Vec<_>>())?;
        let always_ns = median(&own().map(|way| self.least_ns(way) - way.usual).collect::<Vec<_>>())?;
        let is_late = usual_ns + least_ns >= SLOW * usual_ns;
        is_late.then_some(Late { nodes: vec![node], excess_ns, always_ns, usual_ns })
    }

    /// The median time of a way, whose own figure is the tenth percentile.
    fn median_ns(&self, way: &Way) -> f64 {
        let trip = self.pairs.get(&way.ends()).and_then(|pair| pair.trip(SMALL_BYTES));
        trip.map_or(way.value, |trip| trip.median_ns.max(way.value))
    }

    /// The tenth percentile of a way, as it was measured.
    fn least_ns(&self, way: &Way) -> f64 {
        let trip = self.pairs.get(&way.ends()).and_then(|pair| pair.trip(SMALL_BYTES));
        trip.map_or(way.value, |trip| trip.p10_ns)
    }

    /// A delay, with the scatter of its messages where that is unusual.
    fn late_fault(&self, late: &Late, scatter_ns: f64) -> Fault {
        let (factor, ms) = (late.factor(), late.excess_ns / 1e6);
        let ahead_ns = self.half_ahead(late);
        let names: Vec<&str> = late.nodes.iter().map(|node| self.name(*node)).collect();
        let (nodes, sentence) = match (&names[..], ahead_ns) {
            ([node], None) => (
                late.nodes.clone(),
                format!(
                    "{node}: its small messages take {factor:.1} times as long as those of its like, by {ms:.2} ms"
                ),
            ),
            ([node], Some(ahead)) => {
                let way = if ahead { "to it" } else { "from it" };
                let told = format!("{node}: small messages {way} come {ms:.2} ms late, by the clocks of all nodes");
                (late.nodes.clone(), told)
            }
            (_, None) => (
                late.nodes.clone(),
                format!("{}: small messages take {factor:.1} times as long as between like nodes", names.join(" and ")),
            ),
            (_, Some(ahead)) => {
                let nodes: Vec<usize> =
                    if ahead { late.nodes.clone() } else { late.nodes.iter().rev().copied().collect() };
                let [from, to] = [self.name(nodes[0]).to_owned(), self.name(nodes[1]).to_owned()];
                (nodes, format!("{from} to {to}: small messages come {ms:.2} ms late, by the clocks of both nodes"))
            }
        };
        let scatter = format!(", and scatter by {:.2} ms", scatter_ns / 1e6);
        let sentence = if scatter_ns > 0.0 { sentence + &scatter } else { sentence };
        Fault { one_way: ahead_ns.is_some(), ..self.fault(Kind::Slow, &nodes, Some(factor), sentence) }
    }

    /// Whether the clock of the node, or of the second one, seems ahead by half of the delay (`true`: what comes to
    /// it is late) or behind (`false`); `None` where it seems neither, or clocks differ by as much anyway.
    fn half_ahead(&self, late: &Late) -> Option<bool> {
        let fault = self.fault(Kind::Slow, &late.nodes, None, String::new());
        let last = *late.nodes.last()?;
        let (own, others): (Vec<_>, Vec<_>) =
            self.cluster.pairs.iter().partition(|pair| concerns(self.cluster, &fault, pair));
        let ahead = |pair: &&crate::Pair| {
            let ns = pair.clock_offset_ns?;
            Some(if pair.nodes[1] == last { ns } else { -ns })
        };
        let own_ns = median(&own.iter().filter_map(ahead).collect::<Vec<_>>())?;
        let usual_ns =
            median(&others.iter().filter_map(|pair| pair.clock_offset_ns).map(f64::abs).collect::<Vec<_>>())?;
        let half_ns = late.excess_ns / 2.0;
        let is_half = (own_ns.abs() / half_ns - 1.0).abs() <= HALF && usual_ns < HALF * half_ns;
        is_half.then_some(own_ns > 0.0)
    }
}
