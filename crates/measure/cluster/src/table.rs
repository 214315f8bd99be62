//! Round trips for other programs.

use crate::choice::CHOSEN_BY;
use crate::cluster::Cluster;
use seatmap_data::document::visible;
use seatmap_data::statistics::words::joined;

/// The round trips of 64 KiB messages in nanoseconds as CSV: the node names, then one line per
/// node. Unmeasured pairs are predicted. `None` if no pair was measured.
///
/// ```
/// # let text = r#"{ "format": "seatmap-cluster/1", "pairs": [],
/// #   "nodes": [{ "name": "a", "rank": 0, "address": "10.0.0.1" }] }"#;
/// let cluster = seatmap_cluster::Cluster::from_json(text).unwrap();
/// assert_eq!(seatmap_cluster::table::csv(&cluster), None);
/// ```
pub fn csv(cluster: &Cluster) -> Option<String> {
    let fit = cluster.fit(CHOSEN_BY)?;
    let nodes = 0..cluster.nodes.len();
    let names = cluster.nodes.iter().map(|node| cell(&node.name));
    let rows = nodes.clone().map(|a| {
        let row = nodes.clone().map(|b| format!("{:.0}", fit.value(a, b)));
        joined(row, ",") + "\n"
    });
    let rows: String = rows.collect();
    Some(joined(names, ",") + "\n" + &rows)
}

fn cell(name: &str) -> String {
    let name = visible(name);
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn unmeasured_pairs_show_their_prediction() {
        let pair = |nodes: [usize; 2], ns: f64| {
            let trip = json!({ "size_bytes": 65_536, "median_ns": ns, "p10_ns": ns, "p90_ns": ns, "ci95_ns": [ns, ns],
                               "count": 9 });
            json!({ "nodes": nodes, "trips": [trip], "rate_mbps": [900.0, 900.0], "gap_ns": [900.0, 900.0],
                    "retransmits": [0, 0], "segments": [9, 9] })
        };
        let pairs: Vec<Value> = vec![pair([0, 1], 100.4), pair([1, 2], 100.4)];
        let nodes: Vec<Value> = ["a", "b,c", "d"]
            .map(|name| json!({ "name": name, "rank": 0, "address": "10.0.0.1" }))
            .to_vec();
        let text = json!({ "format": "seatmap-cluster/1", "nodes": nodes, "pairs": pairs, "groups": [[0, 1, 2]] });
        let cluster = Cluster::from_json(&text.to_string()).unwrap();
        assert_eq!(csv(&cluster).unwrap(), "a,\"b,c\",d\n0,100,100\n100,0,100\n100,100,0\n");
    }
}
