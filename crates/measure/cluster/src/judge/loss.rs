//! Links that lose packets, by the segments that TCP sent twice.

use super::usual::{Figure, Way};
use super::{Court, FEWEST_PAIRS, Fault, Kind};
use std::collections::BTreeSet;

/// A way loses packets if at least so many segments were sent again, and this share of all, and so many times the
/// usual share of such pairs: full queues drop a few on a healthy one.
const FEWEST_RESENT: u64 = 4;
const LOST_SHARE: f64 = 0.003;
const LOST_FACTOR: f64 = 4.0;

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
    /// Nodes and ways that lose packets.
    pub(super) fn lossy(&self) -> Vec<Fault> {
        let share = |resent: u64, sent: u64| lost((resent, sent));
        let ways = self.ways(Figure::Lost, |_| true);
        let resent = |way: &Way| {
            let pair = self.pairs.get(&[way.from.min(way.to), way.from.max(way.to)]);
            pair.map_or((0, 0), |pair| {
                let end = usize::from(way.from > way.to);
                (pair.retransmits[end], pair.segments[end])
            })
        };
        let is_lossy = |way: &Way| {
            let (resent, sent) = resent(way);
            resent >= FEWEST_RESENT && share(resent, sent) >= LOST_SHARE && way.factor() >= LOST_FACTOR
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
}
