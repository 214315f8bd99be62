//! If no partner reaches a node, the node is blamed, not its partners.

use super::{ClusterFault, ClusterFaultKind};
use crate::choice::grouped;
use crate::cluster::{Cluster, Missing};
use crate::topology::short;
use std::collections::BTreeSet;

/// The smallest number of partners that miss a blamed node.
const FEWEST_PARTNERS: usize = 2;

pub fn explained(cluster: &Cluster) -> Vec<Missing> {
    explained_by(&cluster.missing, |name| {
        let own = cluster
            .pairs
            .iter()
            .filter(|pair| pair.nodes.iter().any(|node| cluster.nodes[*node].name == name));
        own.count()
    })
}

/// Replaces missing pairs by as few nodes as possible. `measured` counts a node's measured pairs:
/// late failures have some.
fn explained_by(missing: &[Missing], measured: impl Fn(&str) -> usize) -> Vec<Missing> {
    let lone = missing.iter().filter(|one| one.nodes.len() == 1);
    let gone: BTreeSet<&String> = lone.flat_map(|one| &one.nodes).collect();
    // A node that never connected already accounts for its pairs.
    let mut left = missing.to_vec();
    left.retain(|one| one.nodes.len() == 1 || !one.nodes.iter().any(|node| gone.contains(node)));
    loop {
        let pairs = left.iter().filter_map(|one| <[String; 2]>::try_from(one.nodes.clone()).ok());
        let partners = grouped(pairs.flat_map(|[a, b]| [(a.clone(), b.clone()), (b, a)]));
        let most = partners
            .into_iter()
            .filter(|(node, all)| all.len() >= FEWEST_PARTNERS && all.len() > measured(node))
            .max_by_key(|(_, all)| all.len());
        let Some((node, all)) = most else { return left };
        let who = short(&all.iter().map(String::as_str).collect::<Vec<_>>());
        let is_of_node = |one: &Missing| one.nodes.len() == 2 && one.nodes.contains(&node);
        let why = left.iter().find(|one| is_of_node(one)).map_or("", |one| one.why.as_str());
        let why = format!("{who} cannot measure the path to it: {why}");
        left.retain(|one| !is_of_node(one));
        left.insert(0, Missing { nodes: vec![node], why });
    }
}

pub fn faults(cluster: &Cluster) -> Vec<ClusterFault> {
    let faults = explained(cluster).into_iter().map(|missing| ClusterFault {
        kind: ClusterFaultKind::Unreachable,
        sentence: format!("{} could not be measured: {}", missing.nodes.join(" to "), missing.why),
        nodes: missing.nodes,
        one_way: false,
        factor: None,
        part: None,
    });
    faults.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(nodes: &[&str]) -> Missing {
        Missing {
            nodes: nodes.iter().map(|node| (*node).to_owned()).collect(),
            why: "no answer".to_owned(),
        }
    }

    #[test]
    fn node_missed_by_all_others_is_named_alone() {
        let pairs = [missing(&["n0", "n3"]), missing(&["n1", "n3"]), missing(&["n2", "n3"])];
        let named = |measured: &dyn Fn(&str) -> usize| {
            explained_by(&pairs, measured).into_iter().map(|one| one.nodes).collect::<Vec<_>>()
        };
        assert_eq!(named(&|name| if name == "n3" { 0 } else { 2 }), [["n3"]]);
        assert_eq!(named(&|name| if name == "n3" { 1 } else { 2 }), [["n3"]], "it was well before");
        assert_eq!(named(&|_| 5), [["n0", "n3"], ["n1", "n3"], ["n2", "n3"]], "three cables");
        let why = &explained_by(&pairs, |name| if name == "n3" { 0 } else { 2 })[0].why;
        assert_eq!(why, "n[0-2] cannot measure the path to it: no answer");
        let one = [missing(&["n3"]), missing(&["n0", "n3"]), missing(&["n1", "n2"])];
        assert_eq!(explained_by(&one, |_| 3), [missing(&["n3"]), missing(&["n1", "n2"])]);
    }
}
