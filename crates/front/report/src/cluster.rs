//! A cluster: its groups, the round trips between its nodes, and what is wrong.

use crate::page::{
    Block, Page, PageSection, PairTimes, Table, html_section, section, terminal_section,
};
use crate::words::{beyond, counted, joined, or_dash, time};
use maud::{Markup, html};
use seatmap_cluster::choice::SIZE_BYTES;
use seatmap_cluster::fit::SymmetricMetric;
use seatmap_cluster::judge::{ClusterFault, faults};
use seatmap_cluster::mpi::{CollectiveOperation, Mpi};
use seatmap_cluster::{Cluster, LoadedStreams, Node, NodePair, Stream, StreamPattern};
use seatmap_data::machine::Square;
use seatmap_data::statistics::median;
use std::time::Duration;

/// Letters of a node's name in the matrix, and of a list of names.
const MATRIX_WIDTH: usize = 12;
const GROUP_WIDTH: usize = 27;

const MOST_NAMED: usize = 8;

const SMALL_BYTES: u32 = 8;
const GIB: f64 = (1_u64 << 30) as f64;

/// The page of a cluster: groups, findings, and all pairs' round trips.
pub fn page(cluster: &Cluster) -> Page {
    // Text of other computers must not control the terminal.
    let cluster = &cluster.visible();
    let groups = groups(cluster);
    let found = faults(cluster);
    let odd = Vec::from_iter(found.iter().map(|fault| fault.sentence.clone()));
    let mut sections = vec![
        html_section("Groups and nodes", switches(cluster, &groups, &found))
            .unit("median round trip of 64 KiB, and rate"),
        html_section("Findings", Block::List(odd.clone())),
        section("Groups in figures", table(cluster, &groups)).narrow(),
    ];
    sections.extend(cluster.mpi.iter().flat_map(|mpi| by_mpi(cluster, mpi, &groups)));
    sections.extend(
        matrix(cluster, &groups)
            .map(|times| section("Round trips of 64 KiB", Block::Matrix(times))),
    );
    let title = odd.first().map(|_| "Findings:".to_owned());
    sections.extend([
        section("Concurrent streams", loaded(cluster)).narrow(),
        html_section(
            "Nodes",
            Table::facts(cluster.nodes.iter().map(|node| (&node.name, facts(node)))),
        )
        .narrow(),
        terminal_section(title).with(Block::List(odd)),
    ]);
    Page {
        lead: std::iter::once(measured(cluster, groups.len()) + ".")
            .chain(predicted(cluster))
            .collect(),
        sections,
        footer: "Measured over TCP, one pair at a time. Unmeasured pairs are predicted from the \
                 others.",
        ..Page::new("A cluster", sentence(cluster, &found))
    }
}

fn sentence(cluster: &Cluster, found: &[ClusterFault]) -> String {
    match found {
        [] if cluster.pairs.len() < 2 => nothing_to_compare(cluster).to_owned(),
        [] => "No fault was found in the measured pairs.".to_owned(),
        [fault] => fault.sentence.clone() + ".",
        [first, others @ ..] => {
            format!("{}; and {} more.", first.sentence, counted(others.len(), "finding"))
        }
    }
}

/// A pair is slow only in comparison with others.
fn nothing_to_compare(cluster: &Cluster) -> &'static str {
    match cluster.pairs.len() {
        0 => "No pair of nodes was measured.",
        _ => "Only one pair of nodes was measured, so there is nothing to compare it with.",
    }
}

/// The faults, one a line, or that there are none.
pub fn verdict(cluster: &Cluster, found: &[ClusterFault]) -> String {
    let cluster = &cluster.visible();
    let nodes = counted(cluster.nodes.len(), "node");
    let pairs = counted(cluster.pairs.len(), "pair");
    let text = match found {
        [] if cluster.pairs.len() < 2 => format!("{}\n", nothing_to_compare(cluster)),
        [] => format!("No fault found: {nodes}, {pairs} measured.\n"),
        found => found.iter().map(|fault| format!("{}\n", fault.sentence)).collect(),
    };
    seatmap_data::document::visible_lines(text)
}

/// The number of nodes and pairs that could not be measured, and the remedy; `None` if all were.
pub fn missing(cluster: &Cluster) -> Option<String> {
    let nodes = cluster.missing.iter().filter(|missing| missing.nodes.len() == 1).count();
    let pairs = cluster.missing.len() - nodes;
    let kinds = [(nodes, "node"), (pairs, "pair")].into_iter().filter(|(count, _)| *count > 0);
    let kinds = joined(kinds.map(|(count, kind)| counted(count, kind)), " and ");
    (!kinds.is_empty())
        .then(|| format!("{kinds} could not be measured; --resume measures the missing ones"))
}

/// Announces the rounds that repeat bad pairs.
pub fn again(pairs: usize, at_most: Duration) -> String {
    format!(
        "some pairs look bad: measuring {} again, for at most {:.0} s",
        counted(pairs, "pair"),
        at_most.as_secs_f64()
    )
}

/// The groups on file; each remaining node is a group by itself.
fn groups(cluster: &Cluster) -> Vec<Vec<usize>> {
    let mut groups = Vec::<Vec<usize>>::new();
    for (node, group) in cluster.group_of().into_iter().enumerate() {
        // A group on file may be empty, but still needs a list.
        groups.resize_with(groups.len().max(group + 1), Vec::new);
        groups[group].push(node);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn measured(cluster: &Cluster, groups: usize) -> String {
    let nodes = cluster.nodes.len();
    // Unordered pairs: a round trip has no direction.
    let every = nodes * nodes.saturating_sub(1) / 2;
    let started = joined(cluster.launcher.iter().chain(&cluster.date), ", ");
    let started = if started.is_empty() { started } else { format!(" ({started})") };
    format!(
        "{} in {}; {} of {} measured{started}",
        counted(nodes, "node"),
        counted(groups, "group"),
        cluster.pairs.len(),
        counted(every, "pair"),
    )
}

fn predicted(cluster: &Cluster) -> Option<String> {
    let held_back = cluster.held_back.as_ref()?;
    Some(format!(
        "The others are predicted: median error {:.1} % on {}.",
        held_back.error_percent,
        counted(held_back.pairs, "measured pair")
    ))
}

fn inside<'a>(cluster: &'a Cluster, nodes: &[usize]) -> impl Iterator<Item = &'a NodePair> + Clone {
    cluster.pairs.iter().filter(move |pair| pair.nodes.iter().all(|node| nodes.contains(node)))
}

fn between(cluster: &Cluster) -> impl Iterator<Item = &NodePair> + Clone {
    let group = cluster.group_of();
    cluster.pairs.iter().filter(move |pair| group[pair.nodes[0]] != group[pair.nodes[1]])
}

fn table(cluster: &Cluster, groups: &[Vec<usize>]) -> Table {
    let mut rows = Vec::from_iter(
        groups.iter().map(|nodes| (named(cluster, nodes), medians(inside(cluster, nodes)))),
    );
    if groups.len() > 1 {
        rows.push(("between groups".to_owned(), medians(between(cluster))));
    }
    Table::new("median round trip of:28 | 8 B:>10 | 64 KiB:>10 | rate:>12")
        .rows(rows.into_iter().map(row))
}

fn row<const N: usize>((name, figures): (String, [String; N])) -> impl Iterator<Item = String> {
    std::iter::once(name).chain(figures)
}

fn medians<'a>(pairs: impl Iterator<Item = &'a NodePair> + Clone) -> [String; 3] {
    let rates = Vec::from_iter(pairs.clone().flat_map(|pair| pair.rate_mbps));
    let [small, large] = [SMALL_BYTES, SIZE_BYTES].map(|size| {
        let trips =
            Vec::from_iter(pairs.clone().filter_map(|pair| Some(pair.trip(size)?.median_ns)));
        or_dash(median(&trips).map(time))
    });
    [small, large, or_dash(median(&rates).map(rate))]
}

fn by_mpi(cluster: &Cluster, mpi: &Mpi, groups: &[Vec<usize>]) -> Vec<PageSection> {
    let together = Table::new("all nodes together:28 | 8 B:>10 | 1 KiB:>10 | 64 KiB:>10")
        .rows(collectives(mpi).into_iter().map(row));
    let pairs = section("Through MPI", vec![format!("Through {}:", mpi.library)]).narrow();
    let Some(cluster) = cluster.by_mpi() else { return vec![pairs.with(together)] };
    let together = section("Through MPI, all nodes together", together).narrow();
    vec![pairs.with(table(&cluster, groups)), together]
}

/// The times for 8 B, 1 KiB and 64 KiB; a barrier has only the first.
fn collectives(mpi: &Mpi) -> [(String, [String; 3]); 4] {
    let names = [
        (CollectiveOperation::Barrier, "barrier"),
        (CollectiveOperation::Broadcast, "broadcast"),
        (CollectiveOperation::Allreduce, "allreduce"),
        (CollectiveOperation::Alltoall, "alltoall"),
    ];
    names.map(|(operation, name)| {
        // A barrier, on file with 0 bytes, is in the first column.
        let times = [&[0, 8][..], &[1 << 10], &[64 << 10]].map(|sizes| {
            let mut timed = mpi.collectives.iter().filter(|one| one.operation == operation);
            let timed = timed.find(|one| sizes.contains(&one.size_bytes));
            or_dash(timed.map(|one| time(one.median_ns)))
        });
        (name.to_owned(), times)
    })
}

/// `None` if no pair was measured.
fn matrix(cluster: &Cluster, groups: &[Vec<usize>]) -> Option<PairTimes> {
    let order: Vec<usize> = groups.concat();
    let fit = cluster.fit(SymmetricMetric::Trip(SIZE_BYTES))?;
    let short = short_names(cluster);
    let n = order.len();
    Some(PairTimes {
        title: "Round trips of 64 KiB",
        brackets: if cluster.held_back.is_some() { " (in brackets: predicted)" } else { "" },
        short: order.iter().map(|node| short[*node].clone()).collect(),
        names: order.iter().map(|node| cluster.nodes[*node].name.clone()).collect(),
        begins: (1..groups.len()).map(|group| groups[..group].concat().len()).collect(),
        times_ns: Square::from_fn(n, |row, column| fit.value(order[row], order[column])),
        is_measured: Square::from_fn(n, |row, column| {
            // On file, the lower node of a pair comes first.
            let pair = [order[row].min(order[column]), order[row].max(order[column])];
            cluster.pairs.iter().any(|measured| measured.nodes == pair)
        }),
    })
}

fn loaded(cluster: &Cluster) -> Table {
    Table::new("Concurrent streams:28 | slowest:>12 | median:>12 | total:>12 | one alone:>12")
        .outdented()
        .rows(cluster.loaded.iter().map(|loaded| {
            let rates = Vec::from_iter(loaded.streams.iter().map(|stream| stream.rate_mbps));
            let alone =
                Vec::from_iter(loaded.streams.iter().filter_map(|stream| alone(cluster, stream)));
            let slowest = rates.iter().copied().reduce(f64::min);
            let figures = [slowest, median(&rates), Some(rates.iter().sum()), median(&alone)];
            row((name_of(loaded).to_owned(), figures.map(|value| or_dash(value.map(rate)))))
        }))
}

fn name_of(loaded: &LoadedStreams) -> &'static str {
    match loaded.exchange {
        StreamPattern::Bisection => "halves, both ways",
        StreamPattern::Neighbours => "each to the next",
        StreamPattern::Incast => "all to one",
    }
}

fn facts(node: &Node) -> String {
    let facts = &node.facts;
    // Memory is 0 if the node could not determine it.
    let memory =
        (facts.memory_bytes > 0).then(|| format!("{:.0} GiB", facts.memory_bytes as f64 / GIB));
    let words = [
        Some(counted(facts.cpus, "CPU")),
        memory,
        facts.environment.cpu_model.clone(),
        facts.environment.kernel.clone(),
    ];
    joined(words.into_iter().flatten(), ", ")
}

/// Faulty nodes are marked.
fn switches(cluster: &Cluster, groups: &[Vec<usize>], found: &[ClusterFault]) -> Markup {
    let [_, trip, rate] = medians(between(cluster));
    let short = short_names(cluster);
    html! {
        @if groups.len() > 1 { p.hint { "between groups: " (trip) ", " (rate) } }
        div.switches.many[groups.len() > 1] {
            @for nodes in groups { div {
                @let [_, trip, rate] = medians(inside(cluster, nodes));
                @if nodes.len() > 1 { p.hint { (trip) ", " (rate) } }
                @for node in nodes { (node_box(&cluster.nodes[*node].name, &short[*node], found)) }
            } }
        }
    }
}

fn node_box(name: &str, short: &str, found: &[ClusterFault]) -> Markup {
    let faults = found.iter().filter(|fault| fault.nodes.iter().any(|node| node == name));
    let tip = std::iter::once(name).chain(faults.clone().map(|fault| &*fault.sentence));
    html! { span.node.faulty[faults.count() > 0] title=(joined(tip, "; ")) { (short) } }
}

/// The rate without other streams, measured or predicted.
fn alone(cluster: &Cluster, stream: &Stream) -> Option<f64> {
    let nodes = [stream.from.min(stream.to), stream.from.max(stream.to)];
    match cluster.pairs.iter().find(|pair| pair.nodes == nodes) {
        // A pair's rates: from its first node to its second, then back.
        Some(pair) => Some(pair.rate_mbps[usize::from(stream.from > stream.to)]),
        None => Some(cluster.fit(SymmetricMetric::Rate)?.predicted(nodes[0], nodes[1])),
    }
}

/// Names shortened only as far as they stay unique.
fn short_names(cluster: &Cluster) -> Vec<String> {
    let names = Vec::from_iter(cluster.nodes.iter().map(|node| node.name.as_str()));
    seatmap_cluster::names::apart(&names, MATRIX_WIDTH)
}

fn named(cluster: &Cluster, nodes: &[usize]) -> String {
    let more = beyond(nodes.len(), MOST_NAMED).map(|more| format!(" +{more}"));
    let few = nodes.iter().take(MOST_NAMED).map(|node| &cluster.nodes[*node].name);
    let all = joined(few, " ") + &more.unwrap_or_default();
    // Full names if they fit, else their common parts once (node[1-4]), else a prefix.
    if all.chars().count() <= GROUP_WIDTH {
        return all;
    }
    let names = short_names(cluster);
    let short = seatmap_cluster::topology::short(&Vec::from_iter(
        nodes.iter().map(|node| names[*node].as_str()),
    ));
    match short.chars().count() {
        0..=GROUP_WIDTH => short,
        // '.. (1234)' takes nine letters.
        _ => format!(
            "{}.. ({})",
            short.chars().take(GROUP_WIDTH - 9).collect::<String>(),
            nodes.len()
        ),
    }
}

fn rate(mbps: f64) -> String {
    if mbps < 999.5 { format!("{mbps:.0} Mbit/s") } else { format!("{:.1} Gbit/s", mbps / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four nodes on two switches; one name needs escaping.
    fn measured() -> Cluster {
        Cluster::from_json(include_str!("tests/cluster.json")).unwrap()
    }

    #[test]
    fn repeated_measurement_is_announced_with_time() {
        assert_eq!(
            again(1, Duration::from_millis(20_400)),
            "some pairs look bad: measuring 1 pair again, for at most 20 s"
        );
    }

    #[test]
    fn page_shows_every_node_and_pair() {
        let page = page(&measured()).html();
        assert!(
            page.contains("No fault was found in the measured pairs")
                && page.contains("5 of 6 pairs measured")
        );
        assert!(page.contains("&lt;b&gt;&amp;") && !page.contains("<b>&"));
        assert_eq!(page.matches("<title>n").count() + page.matches("<title>&lt;b").count(), 12);
        assert_eq!(page.matches("class=\"node\"").count(), 4);
        assert_eq!(page.matches("predicted</title>").count(), 2);
        assert!(page.contains("between groups") && page.contains("2.00 ms"));
    }
}
