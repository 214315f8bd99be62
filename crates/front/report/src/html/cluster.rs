//! The page of a measured cluster.

use super::{document, head, tables};
use crate::cluster::{LOADED, groups, loaded_rows, measured, medians, named, predicted};
use crate::svg::cluster::{heatmap, tree};
use maud::{Markup, html};
use seatmap_cluster::judge::{Fault, faults};
use seatmap_cluster::{Cluster, Pair};

const GIB: f64 = (1_u64 << 30) as f64;

/// A cluster as one HTML file that works offline and without scripts: its switches with their
/// nodes, the round trips of all pairs, and what is odd.
#[must_use]
pub fn cluster(cluster: &Cluster) -> String {
    let cluster = &cluster.visible();
    let groups = groups(cluster);
    let found = faults(cluster);
    let lead = html! { p.lead { (measured(cluster, groups.len())) "." @if let Some(known) = predicted(cluster) { " " (known) } } };
    let body = html! {
        (head("A cluster", &sentence(&found), &lead))
        main {
            section.card { h2 { "Groups and nodes" span.unit { "median round trip of 64 KiB, and rate" } } (tree(cluster, &groups, &found)) }
            @if !found.is_empty() {
                section.card { h2 { "Findings" } ul.findings { @for fault in &found { li { (fault.sentence) } } } }
            }
            @if let Some(picture) = heatmap(cluster, &groups) {
                section.card { h2 { "Round trips of 64 KiB" } (picture) }
            }
            div.columns {
                section.card { h2 { "Groups in figures" } (in_figures(cluster, &groups)) }
                @if !cluster.loaded.is_empty() {
                    section.card { h2 { "Streams at one time" } (under_load(cluster)) }
                }
                section.card { h2 { "Nodes" } (nodes(cluster)) }
            }
        }
        footer { "Measured over TCP, one pair at a time. Pairs of nodes that were not measured are predicted from the others." }
    };
    document("A cluster", &body, "", "null")
}

fn sentence(found: &[Fault]) -> String {
    match found {
        [] => "Nothing is wrong with this cluster, by what was measured.".to_owned(),
        [fault] => fault.sentence.clone() + ".",
        [first, others @ ..] => {
            format!("{}; and {} more.", first.sentence, crate::counted(others.len(), "finding"))
        }
    }
}

fn in_figures(cluster: &Cluster, groups: &[Vec<usize>]) -> Markup {
    let group = cluster.group_of();
    let row = |name: String, pairs: Vec<&Pair>| {
        let figures = medians(pairs.iter().copied());
        html! { tr { th.wide scope="row" { (name) } @for figure in figures { td { (figure) } } } }
    };
    let inside = |nodes: &Vec<usize>| {
        let is_inside = |pair: &&Pair| pair.nodes.iter().all(|node| nodes.contains(node));
        row(named(cluster, nodes), cluster.pairs.iter().filter(is_inside).collect())
    };
    let between =
        cluster.pairs.iter().filter(|pair| group[pair.nodes[0]] != group[pair.nodes[1]]).collect();
    html! {
        table.figures {
            thead { tr { th.wide { "Median round trip of" } th { "8 B" } th { "64 KiB" } th { "rate" } } }
            tbody {
                @for nodes in groups { (inside(nodes)) }
                @if groups.len() > 1 { (row("between groups".to_owned(), between)) }
            }
        }
    }
}

fn under_load(cluster: &Cluster) -> Markup {
    html! {
        table.figures {
            thead { tr { th.wide { "Arrangement" } @for head in LOADED { th { (head) } } } }
            tbody {
                @for (what, figures) in loaded_rows(cluster) {
                    tr { th.wide scope="row" { (what) } @for figure in figures { td { (figure) } } }
                }
            }
        }
    }
}

/// The nodes with the facts in which they may differ.
fn nodes(cluster: &Cluster) -> Markup {
    let facts = |node: &seatmap_cluster::Node| {
        let facts = &node.facts;
        let memory =
            (facts.memory_bytes > 0).then(|| format!("{:.0} GiB", facts.memory_bytes as f64 / GIB));
        let cpus = crate::counted(facts.cpus, "CPU");
        let words = [
            Some(cpus),
            memory,
            facts.environment.cpu_model.clone(),
            facts.environment.kernel.clone(),
        ];
        (node.name.clone(), words.into_iter().flatten().collect::<Vec<_>>().join(", "))
    };
    tables::facts(&cluster.nodes.iter().map(facts).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four nodes on two switches; the name of one is not a name.
    fn measured() -> Cluster {
        let node = |at: usize, name: &str| {
            format!(
                r#"{{"name":"{name}","rank":{at},"address":"10.0.0.{at}","facts":{{"cpus":2}}}}"#
            )
        };
        let nodes = ["n0", "n1", "n2", "<b>&"]
            .iter()
            .enumerate()
            .map(|(at, name)| node(at, name))
            .collect::<Vec<_>>();
        let pair = |[a, b]: [usize; 2]| {
            let ns = if a / 2 == b / 2 { 2e5 } else { 2e6 };
            let trip = |size: u32, ns: f64| {
                format!(
                    r#"{{"size_bytes":{size},"median_ns":{ns},"p10_ns":{ns},"p90_ns":{ns},"ci95_ns":[{ns},{ns}],"count":9}}"#
                )
            };
            format!(
                r#"{{"nodes":[{a},{b}],"trips":[{},{}],"rate_mbps":[900.0,900.0],"gap_ns":[9.0,9.0],"retransmits":[0,0],"segments":[9,9]}}"#,
                trip(8, 5e4),
                trip(65536, ns)
            )
        };
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]].map(pair).join(",");
        let text = format!(
            r#"{{"format":"seatmap-cluster/1","nodes":[{}],"pairs":[{pairs}],"groups":[[0,1],[2,3]]}}"#,
            nodes.join(",")
        );
        Cluster::from_json(&text).unwrap()
    }

    #[test]
    fn the_page_has_each_node_and_each_pair() {
        let page = cluster(&measured());
        assert!(
            page.contains("Nothing is wrong with this cluster")
                && page.contains("5 of 6 pairs measured")
        );
        assert!(page.contains("&lt;b&gt;&amp;") && !page.contains("<b>&"));
        // Twelve cells, of which those of the pair that was not measured are pale.
        assert_eq!(page.matches("<title>n").count() + page.matches("<title>&lt;b").count(), 12 + 4);
        assert_eq!(page.matches("predicted</title>").count(), 2);
        assert!(page.contains("between groups") && page.contains("2.00 ms"));
    }
}
