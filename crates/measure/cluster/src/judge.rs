//! The faults of a cluster: the node or the cable, by name, with the figures that say so.
//!
//! A node and a pair are held against those that should be like them: pairs of the same two groups, nodes of the same
//! kind. A node is blamed where its pairs are bad whoever the other one is, a cable between two nodes where only that
//! pair is. One direction is told from both by the rates, as a round trip cannot tell them apart.

mod jitter;
mod kin;

use self::kin::{kin, lone, rate_within};
use crate::cluster::{Cluster, Pair};
use crate::fit::{Fit, Metric};
use seatmap_statistics::{median, quantile};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A node or a pair is slow from this factor on. Between like nodes on one switch, shared computers differ by a fifth.
const SLOW: f64 = 1.6;

/// The value of like pairs is this quantile of theirs, best first: of four nodes on a switch, one bad one spoils half
/// of the pairs.
const USUAL: f64 = 0.35;

/// A node is blamed from so many pairs on: with fewer, it cannot be told from a bad cable.
const FEWEST_PAIRS: usize = 3;

/// A direction is slow alone if the other one is not slower than this.
const OTHER_WAY: f64 = 1.3;

/// A way loses packets if at least so many segments were sent again, and this share of all, and so many times the
/// usual share of such pairs: full queues drop a few on a healthy one.
const FEWEST_RESENT: u64 = 4;
const LOST_SHARE: f64 = 0.003;
const LOST_FACTOR: f64 = 4.0;

/// Clocks are apart if they differ by more than this and more than a round trip takes, in nanoseconds.
const CLOCK_NS: f64 = 50e6;

/// The size of the messages whose scatter is looked at, in bytes.
const SMALL_BYTES: u32 = 8;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It could not be measured.
    Unreachable,
    /// Packets are lost.
    Lossy,
    /// Its messages take longer, or its streams are slower, than those of its like.
    Slow,
    /// The times of its small messages scatter.
    Jittery,
    /// Its packets are smaller or larger than those of the others.
    Mtu,
    /// Its clock is wrong.
    Clock,
    /// It is built or set otherwise than its like.
    Different,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// Its kind.
    pub kind: Kind,
    /// The node, or the two nodes of a way; for one direction the sender first.
    pub nodes: Vec<String>,
    /// Whether only the way from the first node, or from the one node, is bad.
    pub one_way: bool,
    /// How bad: a factor over what is usual, where there is one.
    pub factor: Option<f64>,
    /// The finding with its figures, as a sentence.
    pub sentence: String,
}

/// All faults, the gravest first.
///
/// ```
/// # let text = r#"{ "format": "seatmap-cluster/1", "pairs": [],
/// #   "nodes": [{ "name": "a", "rank": 0, "address": "10.0.0.1" }] }"#;
/// let cluster = seatmap_cluster::Cluster::from_json(text).unwrap();
/// assert!(seatmap_cluster::judge::faults(&cluster).is_empty());
/// ```
#[must_use]
pub fn faults(cluster: &Cluster) -> Vec<Fault> {
    let court = Court { cluster, group: kin(cluster) };
    let mut faults = court.unreachable();
    let lossy = court.lossy();
    let jittery = court.jittery(&lossy);
    faults.extend(lossy);
    faults.extend(court.slow());
    faults.extend(jittery);
    faults.extend(court.mtu());
    faults.extend(court.clocks());
    faults.extend(court.different());
    faults.sort_by(|a, b| a.kind.cmp(&b.kind).then(b.factor.unwrap_or(0.0).total_cmp(&a.factor.unwrap_or(0.0))));
    faults
}

/// The pairs measured that bad figures come from: those of each fault that a busy moment can make.
pub(crate) fn suspects(cluster: &Cluster) -> BTreeSet<[usize; 2]> {
    let found = faults(cluster);
    let is_moody = |fault: &&Fault| matches!(fault.kind, Kind::Slow | Kind::Lossy | Kind::Jittery);
    let pairs = |fault: &Fault| {
        let of_fault = cluster.pairs.iter().filter(|pair| concerns(cluster, fault, pair));
        of_fault.map(|pair| pair.nodes).collect::<Vec<_>>()
    };
    found.iter().filter(is_moody).flat_map(pairs).collect()
}

/// Whether the nodes of a fault are among those of a pair.
fn concerns(cluster: &Cluster, fault: &Fault, pair: &Pair) -> bool {
    let names = pair.nodes.map(|node| &cluster.nodes[node].name);
    fault.nodes.iter().all(|node| names.contains(&node))
}

struct Court<'a> {
    cluster: &'a Cluster,
    group: Vec<usize>,
}

/// A figure of one direction of a pair, as a factor over what is usual: 2 is twice as bad.
struct Way {
    from: usize,
    to: usize,
    factor: f64,
}

impl Way {
    /// The sender, and the receiver.
    fn ends(&self) -> [usize; 2] {
        [self.from, self.to]
    }
}

/// A node whose link loses packets: 0 that it sends, 1 that are sent to it.
struct LossyLink {
    node: usize,
    end: usize,
    resent: u64,
    sent: u64,
}

/// The share of segments that went twice.
fn lost((resent, sent): (u64, u64)) -> f64 {
    resent as f64 / sent.max(1) as f64
}

fn sum(counts: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    counts.fold((0, 0), |sum, (resent, sent)| (sum.0.saturating_add(resent), sum.1.saturating_add(sent)))
}

impl Court<'_> {
    fn name(&self, node: usize) -> &str {
        &self.cluster.nodes[node].name
    }

    fn fault(&self, kind: Kind, nodes: &[usize], factor: Option<f64>, sentence: String) -> Fault {
        let nodes = nodes.iter().map(|node| self.name(*node).to_owned()).collect();
        Fault { kind, nodes, one_way: false, factor, sentence }
    }

    fn unreachable(&self) -> Vec<Fault> {
        let missing = self.cluster.missing.iter().map(|missing| {
            let sentence = format!("{} could not be measured: {}", missing.nodes.join(" to "), missing.why);
            Fault { kind: Kind::Unreachable, nodes: missing.nodes.clone(), one_way: false, factor: None, sentence }
        });
        missing.collect()
    }

    /// Directions over those of like pairs. Where hardly any pair is of the same two groups, or a node is a group for
    /// itself, as one behind a slow cable is, that is all pairs inside groups, or between them.
    fn ways(&self, of: impl Fn(&Pair) -> Option<[f64; 2]>) -> Vec<Way> {
        let mut values = BTreeMap::<[usize; 2], Vec<f64>>::new();
        let directions: Vec<(usize, usize, f64)> = self
            .cluster
            .pairs
            .iter()
            .filter_map(|pair| {
                let ([a, b], [there, back]) = (pair.nodes, of(pair)?);
                Some([(a, b, there), (b, a, back)])
            })
            .flatten()
            .collect();
        for (from, to, value) in &directions {
            values.entry(self.block(*from, *to)).or_default().push(*value);
        }
        let inside = |is_inside: bool| {
            let of = values.iter().filter(|(block, _)| (block[0] == block[1]) == is_inside);
            quantile(&of.flat_map(|(_, values)| values).copied().collect::<Vec<_>>(), USUAL)
        };
        let kinds = [true, false].map(inside);
        let mut sizes = vec![0; self.group.iter().max().map_or(0, |most| most + 1)];
        self.group.iter().for_each(|group| sizes[*group] += 1);
        let usual = |from: usize, to: usize| {
            let block = self.block(from, to);
            let is_known =
                |values: &&Vec<f64>| values.len() > 2 * FEWEST_PAIRS && block.iter().all(|group| sizes[*group] > 1);
            let own = values.get(&block).filter(is_known);
            own.and_then(|values| quantile(values, USUAL)).or(kinds[usize::from(block[0] != block[1])])
        };
        let way = |(from, to, value): &(usize, usize, f64)| {
            Some(Way { from: *from, to: *to, factor: value / usual(*from, *to)? })
        };
        directions.iter().filter_map(way).collect()
    }

    fn block(&self, a: usize, b: usize) -> [usize; 2] {
        let [a, b] = [self.group[a], self.group[b]];
        [a.min(b), a.max(b)]
    }

    /// The factor of each node, sending, and taking: the median over its pairs, or over those within its group. A link
    /// that is slow for its group may still be as fast as the way between groups.
    fn nodes(&self, ways: &[Way]) -> Vec<[Option<f64>; 2]> {
        let mut factors = vec![[Vec::new(), Vec::new()]; self.cluster.nodes.len()];
        let mut near = factors.clone();
        for way in ways {
            let is_near = self.group[way.from] == self.group[way.to];
            for values in [Some(&mut factors), is_near.then_some(&mut near)].into_iter().flatten() {
                values[way.from][0].push(way.factor);
                values[way.to][1].push(way.factor);
            }
        }
        let middle = |values: &Vec<f64>| median(values).filter(|_| values.len() >= FEWEST_PAIRS);
        let larger = |all: &Vec<f64>, near: &Vec<f64>| Some(middle(all)?.max(middle(near).unwrap_or(0.0)));
        factors.iter().zip(&near).map(|(all, near)| [0, 1].map(|end| larger(&all[end], &near[end]))).collect()
    }

    fn slow(&self) -> Vec<Fault> {
        let mut faults = self.slow_ways();
        let is_new = |fault: &Fault| faults.iter().all(|known| known.nodes != fault.nodes);
        let alone: Vec<Fault> = self.alone().into_iter().filter(is_new).collect();
        faults.extend(alone);
        let told: Vec<Vec<String>> = faults.iter().map(|fault| fault.nodes.clone()).collect();
        let is_told = |fault: &Fault| {
            told.iter().any(|nodes| {
                fault.nodes.iter().all(|node| nodes.contains(node))
                    || nodes.iter().all(|node| fault.nodes.contains(node))
            })
        };
        faults.extend(self.late().into_iter().filter(|fault| !is_told(fault)));
        faults
    }

    /// Nodes that stand alone among groups, with rates far below those within groups.
    fn alone(&self) -> Vec<Fault> {
        let Some(usual) = rate_within(self.cluster, &self.group) else { return Vec::new() };
        let fault = |node: usize| {
            let own = self.cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node));
            let rates: Vec<f64> = own.flat_map(|pair| pair.rate_mbps).collect();
            let factor = usual / quantile(&rates, 1.0 - USUAL).filter(|_| rates.len() >= 2 * FEWEST_PAIRS)?;
            let sentence = format!(
                "{}: its link is slow, or it stands alone on a switch: streams both ways have 1/{factor:.1} of the rate \
                 within groups",
                self.name(node)
            );
            (factor >= SLOW).then(|| self.fault(Kind::Slow, &[node], Some(factor), sentence))
        };
        lone(&self.group).into_iter().filter_map(fault).collect()
    }

    /// Nodes and pairs whose streams are slow.
    fn slow_ways(&self) -> Vec<Fault> {
        let ways = self.ways(|pair| Some(pair.rate_mbps.map(|rate| 1.0 / rate)));
        let nodes = self.nodes(&ways);
        let mut faults = Vec::new();
        for (node, [from, to]) in nodes.iter().enumerate() {
            let (Some(from), Some(to)) = (from, to) else { continue };
            let (which, factor, one_way) = match (*from >= SLOW, *to >= SLOW) {
                (true, true) => ("both ways", from.min(*to), false),
                (true, false) if *to < OTHER_WAY => ("from it", *from, true),
                (false, true) if *from < OTHER_WAY => ("to it", *to, true),
                (true, false) | (false, true) => ("both ways", from.max(*to), false),
                _ => continue,
            };
            let sentence = format!(
                "{}: its link is slow, streams {which} have 1/{factor:.1} of the rate of its like (median of its pairs)",
                self.name(node)
            );
            faults.push(Fault { one_way, ..self.fault(Kind::Slow, &[node], Some(factor), sentence) });
        }
        let blame = |way: &Way| {
            let own = nodes[way.from][0].unwrap_or(1.0).max(nodes[way.to][1].unwrap_or(1.0)).max(1.0);
            way.factor / own
        };
        for way in ways.iter().filter(|way| blame(way) >= SLOW) {
            let back = ways.iter().find(|other| (other.from, other.to) == (way.to, way.from)).map_or(1.0, blame);
            // Both directions are one fault, told from the smaller index.
            if back >= SLOW && way.from > way.to {
                continue;
            }
            let one_way = back < OTHER_WAY;
            let which = if one_way { "to" } else { "and" };
            let (from, to, factor) = (self.name(way.from), self.name(way.to), blame(way).max(back));
            let sentence = format!(
                "{from} {which} {to}: this way is slow, a stream has 1/{factor:.1} of the rate of like pairs, and both \
                 nodes are well with others"
            );
            faults.push(Fault { one_way, ..self.fault(Kind::Slow, &[way.from, way.to], Some(factor), sentence) });
        }
        faults
    }

    /// Nodes and pairs whose small messages take long, though their streams may be fast.
    fn late(&self) -> Vec<Fault> {
        let Some(fit) = Fit::new(self.cluster, Metric::Trip(SMALL_BYTES)) else { return Vec::new() };
        let mut faults = Vec::new();
        for node in (0..self.cluster.nodes.len()).filter(|node| fit.factor(*node) >= SLOW) {
            let factor = fit.factor(node);
            let sentence =
                format!("{}: its small messages take {factor:.1} times as long as those of its like", self.name(node));
            faults.push(self.fault(Kind::Slow, &[node], Some(factor), sentence));
        }
        for pair in &self.cluster.pairs {
            let ([a, b], Some(trip)) = (pair.nodes, pair.trip(SMALL_BYTES)) else { continue };
            // Even the fastest tenth takes longer than others usually do: no busy moment makes it late.
            let factor = trip.p10_ns / fit.predicted(a, b);
            if factor >= SLOW {
                let (first, second) = (self.name(a), self.name(b));
                let sentence = format!(
                    "{first} and {second}: small messages take {factor:.1} times as long as between like nodes"
                );
                faults.push(self.fault(Kind::Slow, &[a, b], Some(factor), sentence));
            }
        }
        faults
    }

    fn lossy(&self) -> Vec<Fault> {
        let share = |resent: u64, sent: u64| lost((resent, sent));
        // One more segment sent again than there was: a usual share of nothing cannot be multiplied.
        let ways = self
            .ways(|pair| Some([0, 1].map(|end| share(pair.retransmits[end].saturating_add(1), pair.segments[end]))));
        let resent = |way: &Way| {
            let pair =
                self.cluster.pairs.iter().find(|pair| pair.nodes == [way.from.min(way.to), way.from.max(way.to)]);
            pair.map_or((0, 0), |pair| {
                let end = usize::from(way.from > way.to);
                (pair.retransmits[end], pair.segments[end])
            })
        };
        let is_lossy = |way: &Way| {
            let (resent, sent) = resent(way);
            resent >= FEWEST_RESENT && share(resent, sent) >= LOST_SHARE && way.factor >= LOST_FACTOR
        };
        let mut faults = Vec::new();
        let mut told = BTreeSet::new();
        // The worst first: what goes to it from others is not theirs then.
        while let Some(link) = self.lossy_link(&ways, &told, resent) {
            let percent = 100.0 * share(link.resent, link.sent);
            let sentence = format!(
                "{}: its link loses packets, {percent:.2} % of the segments {} went twice ({} of {})",
                self.name(link.node),
                ["it sends", "sent to it"][link.end],
                link.resent,
                link.sent
            );
            told.extend(ways.iter().filter(|way| way.ends()[link.end] == link.node).map(Way::ends));
            faults.push(Fault { one_way: true, ..self.fault(Kind::Lossy, &[link.node], Some(percent), sentence) });
        }
        for way in ways.iter().filter(|way| is_lossy(way) && !told.contains(&way.ends())) {
            let (again, sent) = resent(way);
            let percent = 100.0 * share(again, sent);
            let (from, to) = (self.name(way.from), self.name(way.to));
            let sentence = format!(
                "{from} to {to}: this way loses packets, {percent:.2} % of the segments went twice ({again} of {sent})"
            );
            faults
                .push(Fault { one_way: true, ..self.fault(Kind::Lossy, &[way.from, way.to], Some(percent), sentence) });
        }
        faults
    }

    /// The node and direction with the largest share of segments that went twice, if that is too large, many times that
    /// of all others, and not due to one way alone.
    fn lossy_link(
        &self,
        ways: &[Way],
        told: &BTreeSet<[usize; 2]>,
        resent: impl Fn(&Way) -> (u64, u64),
    ) -> Option<LossyLink> {
        let open = || ways.iter().filter(|way| !told.contains(&way.ends()));
        let of_link = |node: usize, end: usize| {
            let (own, others): (Vec<&Way>, Vec<&Way>) = open().partition(|way| way.ends()[end] == node);
            let worst = own.iter().map(|way| resent(way)).max_by(|a, b| lost(*a).total_cmp(&lost(*b)))?;
            let all = sum(own.iter().map(|way| resent(way)));
            let rest = (all.0 - worst.0, all.1 - worst.1);
            let usual = lost(sum(others.iter().map(|way| resent(way))));
            let is_lossy = all.0 >= FEWEST_RESENT && lost(all) >= LOST_SHARE && lost(all) >= LOST_FACTOR * usual;
            let is_everywhere = own.len() >= FEWEST_PAIRS && 2.0 * lost(rest) >= LOST_SHARE;
            (is_lossy && is_everywhere).then_some(LossyLink { node, end, resent: all.0, sent: all.1 })
        };
        let links = (0..self.cluster.nodes.len()).flat_map(|node| [0, 1].map(|end| of_link(node, end))).flatten();
        links.max_by(|a, b| lost((a.resent, a.sent)).total_cmp(&lost((b.resent, b.sent))))
    }

    /// Nodes whose packets differ in size from most.
    fn mtu(&self) -> Vec<Fault> {
        let own = |node: usize| {
            let of = self.cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node));
            of.filter_map(|pair| pair.mtu_bytes).map(f64::from).collect::<Vec<_>>()
        };
        let all: Vec<f64> = self.cluster.pairs.iter().filter_map(|pair| pair.mtu_bytes).map(f64::from).collect();
        let Some(usual) = median(&all) else { return Vec::new() };
        let differs = |node: &usize| {
            let own = own(*node);
            own.len() >= FEWEST_PAIRS && own.iter().all(|mtu| (mtu - usual).abs() > 0.5)
        };
        let fault = |node: usize| {
            let mtu = own(node)[0];
            let sentence = format!("{}: its packets have {mtu} bytes, those of the others {usual}", self.name(node));
            self.fault(Kind::Mtu, &[node], None, sentence)
        };
        (0..self.cluster.nodes.len()).filter(differs).map(fault).collect()
    }

    /// Nodes whose clock differs from most others.
    fn clocks(&self) -> Vec<Fault> {
        let offset = |node: usize| {
            let ahead = self.cluster.pairs.iter().filter_map(|pair| match pair.nodes {
                [a, _] if a == node => pair.clock_offset_ns.map(|ns| -ns),
                [_, b] if b == node => pair.clock_offset_ns,
                _ => None,
            });
            median(&ahead.collect::<Vec<_>>())
        };
        let fault = |node: usize| {
            let offset_ns = offset(node).filter(|ns| ns.abs() > CLOCK_NS)?;
            let ahead = if offset_ns > 0.0 { "ahead of" } else { "behind" };
            let sentence =
                format!("{}: its clock is {:.3} s {ahead} those of the others", self.name(node), offset_ns.abs() / 1e9);
            Some(self.fault(Kind::Clock, &[node], None, sentence))
        };
        (0..self.cluster.nodes.len()).filter_map(fault).collect()
    }

    /// Nodes that differ from a majority in what their kind has in common.
    fn different(&self) -> Vec<Fault> {
        let kinds: Vec<_> = self.cluster.nodes.iter().map(|node| node.facts.kind()).collect();
        let mut faults = Vec::new();
        for fact in 0..kinds.first().map_or(0, Vec::len) {
            let mut counts = BTreeMap::<&str, usize>::new();
            kinds.iter().for_each(|kind| *counts.entry(&kind[fact].1).or_default() += 1);
            let Some((usual, count)) = counts.iter().max_by_key(|(_, count)| **count) else { continue };
            // A cluster may have two kinds of nodes.
            if 4 * count < 3 * kinds.len() || kinds.len() < 3 {
                continue;
            }
            for (node, kind) in kinds.iter().enumerate().filter(|(_, kind)| kind[fact].1 != **usual) {
                let (what, own) = &kind[fact];
                let sentence =
                    format!("{}: {what} {own}, where {count} of {} nodes have {usual}", self.name(node), kinds.len());
                faults.push(self.fault(Kind::Different, &[node], None, sentence));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests;
