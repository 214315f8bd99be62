//! How likely it is that a node stands alone on its switch: what its fastest messages say, and what
//! else would have to be so.

use super::explain::Explanation;
use super::floors::Floors;
use super::part::Part;
use crate::cluster::Cluster;

/// The cost of a node that stands alone though others do not, in the units of a cause; once more if
/// it has a bad link besides, as that is two accidents for one node.
const ALONE: f64 = 2.0;

/// From so many lone nodes on, if they are more than a quarter of all, it is twice that: a switch
/// for each is unlikely.
const MANY: usize = 3;

/// The cost more if its fastest messages say otherwise; or if they say nothing, and no other way
/// leads between switches, so that its ways cannot be compared with any.
const UNLIKELY: f64 = 4.0;

/// The fastest messages over a second switch take longer than those inside groups by a factor of
/// this range; a very slow link makes them later than that.
const FARTHER: std::ops::Range<f64> = 1.15..2.5;

/// The place of a node that seems to stand alone, by its fastest messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// They take a way over a second switch.
    Apart,
    /// It has a neighbour: they are faster than ways over a second switch.
    Near,
    /// Nothing.
    Unknown,
}

/// The facts that speak for and against networks, besides their figures.
pub(super) struct Evidence {
    /// The nodes that seem to stand alone.
    lone: Vec<(usize, Standing)>,
    /// The share of pairs inside groups whose messages take as long as over a second switch.
    late_share: f64,
}

impl Evidence {
    /// Of the groups that seem to be there, and the nodes that seem to be alone in theirs.
    pub(super) fn of(cluster: &Cluster, group: &[usize], alone: &[usize]) -> Self {
        let floors = Floors::of(cluster);
        let inside = floors.least_ns(|[a, b]| group[a] == group[b]);
        let between = floors
            .least_ns(|[a, b]| group[a] != group[b] && !alone.contains(&a) && !alone.contains(&b));
        let lone = alone.iter().map(|node| {
            let own = floors.least_ns(|nodes| nodes.contains(node));
            let standing = match () {
                () if is_farther(own, inside) => Standing::Apart,
                () if is_farther(between, inside) => Standing::Near,
                () => Standing::Unknown,
            };
            (*node, standing)
        });
        let lone = lone.collect();
        let late_ns = FARTHER.start * inside.unwrap_or_default();
        let [all, late] = [0.0, late_ns]
            .map(|least_ns| floors.count(|[a, b]| group[a] == group[b], least_ns) as f64);
        // The rule of succession: none of a few pairs does not mean never.
        Evidence { lone, late_share: (late + 1.0) / (all + 2.0) }
    }

    /// The cost of an explanation in which these nodes stand alone, besides that of its causes.
    pub(super) fn price(&self, explanation: &Explanation<'_>, left: &[usize]) -> f64 {
        let group = &explanation.network.group;
        let are_many = left.len() >= MANY && 4 * left.len() > group.len();
        let alone = if are_many { 2.0 * ALONE } else { ALONE };
        let has_other_ways = has_two_groups(group, left);
        let standing = self.lone.iter().map(|(node, standing)| {
            if !left.contains(node) {
                return if *standing == Standing::Apart {
                    self.accident(group, *node)
                } else {
                    0.0
                };
            }
            match standing {
                Standing::Apart => alone,
                Standing::Near => alone + UNLIKELY,
                Standing::Unknown if has_other_ways => alone,
                Standing::Unknown => alone + UNLIKELY,
            }
        });
        let causes = explanation.causes.iter();
        let bad = causes
            .filter(|cause| matches!(cause.place.part, Part::Node(node) if left.contains(&node)));
        standing.sum::<f64>() + ALONE * bad.count() as f64
    }

    /// The cost of an accident: each neighbour that a node has in its group is late, though all are
    /// near. The logarithm of a probability, as a figure's cost is.
    fn accident(&self, group: &[usize], node: usize) -> f64 {
        let neighbours = group.iter().filter(|other| **other == group[node]).count() - 1;
        (-self.late_share.ln() * neighbours as f64).min(UNLIKELY)
    }
}

fn is_farther(floor_ns: Option<f64>, inside_ns: Option<f64>) -> bool {
    floor_ns.zip(inside_ns).is_some_and(|(floor, inside)| FARTHER.contains(&(floor / inside)))
}

/// Whether there are two groups besides the nodes that stand alone, and so a way between them.
fn has_two_groups(group: &[usize], left: &[usize]) -> bool {
    let mut others = (0..group.len()).filter(|node| !left.contains(node)).map(|node| group[node]);
    let first = others.next();
    others.any(|other| Some(other) != first)
}
