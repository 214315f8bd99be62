//! The sentence for each cause.

use super::effects::{Jitter, Late, Losses};
use super::explain::Cause;
use super::figures::Item;
use super::part::{FaultLocation, NetworkPart, PartDirection};
use super::{ClusterFault, ClusterFaultKind, Court, SMALL_BYTES};
use crate::choice::pair;
use crate::cluster::Trip;
use crate::topology::short;
use seatmap_data::statistics::words::{counted, joined};
use seatmap_data::statistics::{greatest, least, median};

/// Clocks show a delay's direction if they seem wrong by half of it, within this share: a one-way
/// delay shifts the middle of the round trip.
const HALF: f64 = 0.4;

impl Court<'_> {
    fn nodes(&self, part: NetworkPart) -> Vec<usize> {
        match part {
            NetworkPart::Node(node) => vec![node],
            NetworkPart::Uplink(group) | NetworkPart::Switch(group) => self.network.members(group),
            NetworkPart::Pair(pair) => pair.to_vec(),
            NetworkPart::Tier(_) => Vec::new(),
        }
    }

    fn names(&self, nodes: &[usize]) -> String {
        short(&nodes.iter().map(|node| self.name(*node)).collect::<Vec<_>>())
    }

    /// The nodes of a fault, and of a pair also its direction.
    fn who(&self, place: FaultLocation) -> String {
        let NetworkPart::Pair([a, b]) = place.part else {
            return self.names(&self.nodes(place.part));
        };
        let [a, b] = [self.name(a), self.name(b)];
        match place.direction {
            PartDirection::Both => format!("{a} and {b}"),
            PartDirection::From => format!("{a} to {b}"),
            PartDirection::To => format!("{b} to {a}"),
        }
    }

    fn fault_at(
        &self,
        kind: ClusterFaultKind,
        place: FaultLocation,
        factor: Option<f64>,
        sentence: String,
    ) -> ClusterFault {
        let mut nodes = self.nodes(place.part);
        if matches!(place.part, NetworkPart::Pair(_)) && place.direction == PartDirection::To {
            nodes.reverse();
        }
        let one_way = place.direction != PartDirection::Both;
        ClusterFault { one_way, place: Some(place), ..self.fault(kind, &nodes, factor, sentence) }
    }

    pub fn trip(&self, item: &Item) -> Option<&Trip> {
        let found = self.pairs.get(&pair(item.from, item.to))?;
        found.trip(SMALL_BYTES)
    }

    pub fn starved_fault(&self, cause: &Cause, own: f64, others: f64) -> ClusterFault {
        let nodes = self.nodes(cause.part);
        let names = self.names(&nodes);
        let mut ends = self
            .cluster
            .pairs
            .iter()
            .flat_map(|pair| nodes.iter().filter_map(|node| pair.end_of(*node)))
            .peekable();
        // Kernels differ in whether a process stopped by a quota counts as waiting for a CPU. Only
        // reported stops are certain.
        let is_told = ends.peek().is_some() && ends.all(|end| end.stops.is_some());
        let why = if is_told {
            "another program uses its CPUs"
        } else {
            "a quota limits it, or another program uses its CPUs"
        };
        let sentence = format!(
            "{names}: its process waits for a CPU {:.0} % of the time, those of the others {:.0} \
             %: {why}",
            100.0 * own,
            100.0 * others
        );
        let place = cause.towards(PartDirection::Both);
        self.fault_at(ClusterFaultKind::Starved, place, None, sentence)
    }

    pub fn lossy_fault(&self, cause: &Cause, losses: [Option<Losses>; 2]) -> ClusterFault {
        let direction = match losses {
            [Some(_), Some(_)] => PartDirection::Both,
            [Some(_), None] => PartDirection::From,
            _ => PartDirection::To,
        };
        let place = cause.towards(direction);
        let worst = greatest(losses.into_iter().flatten().map(Losses::percent));
        let who = self.who(place);
        let sentence = match place.part {
            NetworkPart::Pair(_) => {
                let words =
                    if direction == PartDirection::Both { [" there", " back"] } else { ["", ""] };
                format!("{who}: this way loses packets: {}", of_sides(losses, words))
            }
            NetworkPart::Node(_) => {
                let words = [" it sends", " sent to it"];
                format!("{who}: its link loses packets: {}", of_sides(losses, words))
            }
            _ => {
                let words = [" from them", " to them"];
                format!(
                    "{who}: the path between their switch and the others loses packets: {}",
                    of_sides(losses, words)
                )
            }
        };
        self.fault_at(ClusterFaultKind::Lossy, place, Some(worst), sentence)
    }

    pub fn slow_fault(&self, cause: &Cause, factors: [Option<f64>; 2]) -> ClusterFault {
        let direction = match (factors, cause.part) {
            (_, NetworkPart::Switch(_)) | ([Some(_), Some(_)], _) => PartDirection::Both,
            ([Some(_), None], _) => PartDirection::From,
            _ => PartDirection::To,
        };
        let place = cause.towards(direction);
        let each = factors.into_iter().flatten();
        let most = each.clone().fold(1.0, f64::max);
        let least = least(each);
        let factor = match direction {
            PartDirection::Both if most >= 1.15 * least => {
                let [there, back] = factors.map(|factor| factor.unwrap_or(1.0));
                format!("1/{there:.1} and 1/{back:.1}")
            }
            _ => format!("1/{least:.1}"),
        };
        let who = self.who(place);
        let sentence = match place.part {
            NetworkPart::Pair(_) => format!(
                "{who}: this way is slow: a stream has {factor} of the rate of similar pairs, but \
                 both nodes are fine with others"
            ),
            NetworkPart::Uplink(_) => format!(
                "{who}: the path between their switch and the others is slow: streams {} have \
                 {factor} of the rate of other switches (best of its pairs)",
                direction.words("them")
            ),
            NetworkPart::Switch(_) => format!(
                "{who}: the switches differ: streams through all links of these nodes have \
                 {factor} of the rate of other switches (best of its pairs)"
            ),
            _ => format!(
                "{who}: its link is slow: streams {} have {factor} of the rate of similar nodes \
                 (best of its pairs)",
                direction.words("it")
            ),
        };
        self.fault_at(ClusterFaultKind::Slow, place, Some(least), sentence)
    }

    pub fn jitter_fault(&self, cause: &Cause, jitter: &Jitter) -> ClusterFault {
        let place = cause.towards(PartDirection::Both);
        let who = self.who(place);
        let [bad, all] = jitter.pairs;
        let of_all = format!("{bad} of {}", counted(all, "pair"));
        let is_pair = matches!(place.part, NetworkPart::Pair(_));
        let factor = Some(jitter.factor).filter(|_| is_pair);
        let sentence = match place.part {
            NetworkPart::Pair(_) => format!(
                "{who}: small messages have {:.0} times the jitter of those between similar nodes",
                jitter.factor
            ),
            NetworkPart::Node(_) => {
                format!("{who}: its small messages have high jitter on {of_all}")
            }
            _ => format!(
                "{who}: small messages between their switch and the others have high jitter on \
                 {of_all}"
            ),
        };
        self.fault_at(ClusterFaultKind::Jittery, place, factor, sentence)
    }

    pub fn late_fault(&self, cause: &Cause, late: &Late, scatter_ns: f64) -> ClusterFault {
        let factor = late.factor();
        let ms = late.excess_ns / 1e6;
        let part = cause.part;
        let direction = match self.half_ahead(part, late) {
            None => PartDirection::Both,
            // The receiver's clock seems ahead if messages to it are late; on a pair these come
            // from the first node.
            Some(true) if matches!(part, NetworkPart::Pair(_)) => PartDirection::From,
            Some(false) if matches!(part, NetworkPart::Pair(_)) => PartDirection::To,
            Some(true) => PartDirection::To,
            Some(false) => PartDirection::From,
        };
        let place = cause.towards(direction);
        let who = self.who(place);
        let sentence = match (part, direction) {
            (NetworkPart::Pair(_), PartDirection::Both) => format!(
                "{who}: small messages take {factor:.1} times as long as between similar nodes"
            ),
            (NetworkPart::Pair(_), _) => format!(
                "{who}: small messages arrive {ms:.2} ms late, according to the clocks of both \
                 nodes"
            ),
            (NetworkPart::Node(_), PartDirection::Both) => format!(
                "{who}: its small messages take {factor:.1} times as long as those of similar \
                 nodes ({ms:.2} ms more)"
            ),
            (NetworkPart::Node(_), _) => {
                let way = direction.words("it");
                format!(
                    "{who}: small messages {way} arrive {ms:.2} ms late, according to the \
                     clocks of all nodes"
                )
            }
            _ => format!(
                "{who}: small messages between their switch and the others take {factor:.1} \
                 times as long as those of other switches ({ms:.2} ms more)"
            ),
        };
        let scatter = format!(", with {:.2} ms of jitter", scatter_ns / 1e6);
        let sentence = if scatter_ns > 0.0 { sentence + &scatter } else { sentence };
        self.fault_at(ClusterFaultKind::Slow, place, Some(factor), sentence)
    }

    /// Whether the clock of the node, or of the pair's second node, seems ahead by half of the
    /// delay (`true`: messages to it are late) or behind. `None` if neither, or if clocks differ by
    /// this much anyway.
    fn half_ahead(&self, part: NetworkPart, late: &Late) -> Option<bool> {
        let last = match part {
            NetworkPart::Node(node) => node,
            NetworkPart::Pair([_, second]) => second,
            _ => return None,
        };
        let group = &self.network.group;
        let (own, others): (Vec<_>, Vec<_>) =
            self.cluster.pairs.iter().partition(|pair| part.covers(group, pair.nodes));
        let own_ns = median(own.iter().filter_map(|pair| {
            let ns = pair.clock_offset_ns?;
            Some(if pair.nodes[1] == last { ns } else { -ns })
        }))?;
        let usual_ns = median(others.iter().filter_map(|pair| pair.clock_offset_ns).map(f64::abs))?;
        let half_ns = late.excess_ns / 2.0;
        let is_half = (own_ns.abs() / half_ns - 1.0).abs() <= HALF && usual_ns < HALF * half_ns;
        is_half.then_some(own_ns > 0.0)
    }
}

fn of_sides(losses: [Option<Losses>; 2], words: [&str; 2]) -> String {
    let each = losses.into_iter().zip(words).filter_map(|(losses, words)| {
        let losses = losses?;
        Some(format!(
            "{:.2} % of the segments{words} went twice ({} of {})",
            losses.percent(),
            losses.resent,
            losses.sent
        ))
    });
    joined(each, ", and ")
}
