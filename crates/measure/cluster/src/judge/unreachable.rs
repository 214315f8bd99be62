//! If no partner reaches a node, the node is blamed, not its partners.

use super::{ClusterFault, ClusterFaultKind, Court};
use crate::cluster::{Missing, NodePair};
use std::collections::{BTreeMap, BTreeSet};

/// The smallest number of partners that miss a blamed node.
const FEWEST_PARTNERS: usize = 2;

/// Replaces missing pairs by as few nodes as possible. `measured` counts a node's measured pairs: a
/// node that failed late has some.
pub fn explained(missing: &[Missing], measured: impl Fn(&str) -> usize) -> Vec<Missing> {
    let mut left: Vec<Missing> = missing.to_vec();
    let gone: BTreeSet<String> = missing
        .iter()
        .filter(|one| one.nodes.len() == 1)
        .flat_map(|one| one.nodes.clone())
        .collect();
    // A node that never connected already accounts for its pairs.
    left.retain(|one| one.nodes.len() == 1 || !one.nodes.iter().any(|node| gone.contains(node)));
    loop {
        let mut partners = BTreeMap::<&str, BTreeSet<&str>>::new();
        for one in &left {
            if let [a, b] = &one.nodes[..] {
                partners.entry(a).or_default().insert(b);
                partners.entry(b).or_default().insert(a);
            }
        }
        let most = partners
            .iter()
            .filter(|(node, all)| all.len() >= FEWEST_PARTNERS && all.len() > measured(node))
            .max_by_key(|(_, all)| all.len());
        let Some((node, all)) = most.map(|(node, all)| {
            ((*node).to_owned(), all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>())
        }) else {
            return left;
        };
        let (own, others): (Vec<Missing>, Vec<Missing>) =
            left.into_iter().partition(|one| one.nodes.len() == 2 && one.nodes.contains(&node));
        let why = own.into_iter().next().map_or_else(String::new, |one| one.why);
        left = others;
        left.insert(0, Missing { nodes: vec![node], why: unreached(&all, &why) });
    }
}

pub fn unreached(partners: &[String], why: &str) -> String {
    let names: Vec<&str> = partners.iter().map(String::as_str).collect();
    format!("{} cannot measure the path to it: {why}", crate::topology::short(&names))
}

impl Court<'_> {
    pub fn unreachable(&self) -> Vec<ClusterFault> {
        explained(&self.cluster.missing, |name| self.measured(name).count())
            .into_iter()
            .map(|missing| {
                let sentence = format!(
                    "{} could not be measured: {}",
                    missing.nodes.join(" to "),
                    missing.why
                );
                ClusterFault {
                    kind: ClusterFaultKind::Unreachable,
                    nodes: missing.nodes,
                    one_way: false,
                    factor: None,
                    sentence,
                    place: None,
                }
            })
            .collect()
    }

    fn measured(&self, name: &str) -> impl Iterator<Item = &NodePair> {
        let pairs = self.cluster.pairs.iter();
        pairs.filter(move |pair| pair.nodes.iter().any(|node| self.name(*node) == name))
    }
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
            explained(&pairs, measured).into_iter().map(|one| one.nodes).collect::<Vec<_>>()
        };
        assert_eq!(named(&|name| if name == "n3" { 0 } else { 2 }), [["n3"]]);
        assert_eq!(named(&|name| if name == "n3" { 1 } else { 2 }), [["n3"]], "it was well before");
        assert_eq!(named(&|_| 5), [["n0", "n3"], ["n1", "n3"], ["n2", "n3"]], "three cables");
        let why = &explained(&pairs, |name| if name == "n3" { 0 } else { 2 })[0].why;
        assert_eq!(why, "n[0-2] cannot measure the path to it: no answer");
        let one = [missing(&["n3"]), missing(&["n0", "n3"]), missing(&["n1", "n2"])];
        assert_eq!(explained(&one, |_| 3), [missing(&["n3"]), missing(&["n1", "n2"])]);
    }
}
