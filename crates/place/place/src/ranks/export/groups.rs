//! Groups of nodes with their ranks, as JSON, for pod schedulers to label nodes and order ranks.

use crate::ranks::RankPlan;
use serde::Serialize;

/// The format's name and version.
pub const FORMAT: &str = "seatmap-groups/1";

#[derive(Serialize)]
struct Groups<'a> {
    format: &'static str,
    groups: Vec<Group<'a>>,
}

#[derive(Serialize)]
struct Group<'a> {
    group: String,
    nodes: Vec<Node<'a>>,
}

#[derive(Serialize)]
struct Node<'a> {
    node: &'a str,
    ranks: &'a [usize],
}

/// The JSON document.
pub fn write(plan: &RankPlan) -> String {
    let ranks = plan.ranks_of_nodes();
    let mut numbers = plan.group_of_node.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let groups = numbers
        .into_iter()
        .map(|number| Group {
            group: format!("group{number}"),
            nodes: (0..plan.nodes.len())
                .filter(|node| plan.group_of_node[*node] == number)
                .map(|node| Node { node: &plan.nodes[node], ranks: &ranks[node] })
                .collect(),
        })
        .collect();
    seatmap_data::document::written(&Groups { format: FORMAT, groups })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_lists_ranks_per_node_and_group() {
        let written: serde_json::Value =
            serde_json::from_str(&write(&crate::ranks::export::sample())).unwrap();
        assert_eq!(
            written["groups"][0]["nodes"][0],
            serde_json::json!({ "node": "n0", "ranks": [2, 3] })
        );
        assert_eq!(written["groups"][0]["nodes"][1]["ranks"], serde_json::json!([]));
        assert_eq!(written["groups"][1]["nodes"][0]["node"], "n2");
    }
}
