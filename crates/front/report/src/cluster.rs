//! A cluster in the terminal: its groups, a table of round trips, and what is odd.

use crate::counted;
use seatmap_cluster::choice::SIZE_BYTES;
use seatmap_cluster::fit::Metric;
use seatmap_cluster::judge::{Fault, faults, unsettled};
use seatmap_cluster::mpi::{Mpi, Operation};
use seatmap_cluster::{Cluster, Exchange, Loaded, Pair, Stream};
use seatmap_statistics::median;

/// The most nodes whose pairs are all shown.
const MOST_NODES: usize = 24;

/// The letters of a name at the edge of the table of pairs, and of the names of a group.
const MATRIX_WIDTH: usize = 12;
const GROUP_WIDTH: usize = 27;

/// The most nodes of a group that are named.
const MOST_NAMED: usize = 8;

const SMALL_BYTES: u32 = 8;

/// All of it.
#[must_use]
pub fn page(cluster: &Cluster) -> String {
    let cluster = &cluster.visible();
    let groups = groups(cluster);
    let text = head(cluster, groups.len())
        + &table(cluster, &groups)
        + &by_mpi(cluster, &groups)
        + &matrix(cluster, &groups)
        + &loaded(cluster);
    let text = text + &odd(cluster);
    seatmap_document::visible_lines(text)
}

/// The faults, each in a line, or one line that says that there is none; and one about pairs that
/// could not be judged.
#[must_use]
pub fn verdict(cluster: &Cluster, found: &[Fault]) -> String {
    let cluster = &cluster.visible();
    let nodes = counted(cluster.nodes.len(), "node");
    let pairs = counted(cluster.pairs.len(), "pair");
    let text = match found {
        [] => format!("Nothing is wrong with {nodes}, by {pairs} of them.\n"),
        found => found.iter().map(|fault| format!("{}\n", fault.sentence)).collect(),
    };
    seatmap_document::visible_lines(text + &noisy(cluster))
}

/// A line about the pairs that were too noisy to judge.
fn noisy(cluster: &Cluster) -> String {
    let pairs = unsettled(cluster);
    let Some([a, b]) = pairs.first().map(|nodes| nodes.map(|node| &cluster.nodes[node].name))
    else {
        return String::new();
    };
    let (first, more) =
        if pairs.len() > 1 { ("the first is ", "they look") } else { ("", "it looks") };
    let count = counted(pairs.len(), "pair");
    format!(
        "Too noisy to judge: {count} ({first}{a} and {b}), as {more} bad, and not surely worse than others; measure \
         again when the nodes are less busy.\n"
    )
}

/// The groups as on file, and each node that stands in none for itself.
pub(crate) fn groups(cluster: &Cluster) -> Vec<Vec<usize>> {
    let mut groups = Vec::<Vec<usize>>::new();
    for (node, group) in cluster.group_of().into_iter().enumerate() {
        groups.resize_with(groups.len().max(group + 1), Vec::new);
        groups[group].push(node);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn head(cluster: &Cluster, groups: usize) -> String {
    let mut text = format!("{}.\n", measured(cluster, groups));
    if let Some(known) = predicted(cluster) {
        text += &format!("{known}\n");
    }
    text + "\n"
}

/// How much was measured.
pub(crate) fn measured(cluster: &Cluster, groups: usize) -> String {
    let nodes = cluster.nodes.len();
    let every = nodes * nodes.saturating_sub(1) / 2;
    let started = cluster
        .launcher
        .iter()
        .chain(&cluster.date)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let started = if started.is_empty() { String::new() } else { format!(" ({started})") };
    format!(
        "{} in {}; {} of {} measured{started}",
        counted(nodes, "node"),
        counted(groups, "group"),
        cluster.pairs.len(),
        counted(every, "pair"),
    )
}

/// How well the rest is known.
pub(crate) fn predicted(cluster: &Cluster) -> Option<String> {
    let held_back = cluster.held_back.as_ref()?;
    Some(format!(
        "The others are predicted. {} of those measured were predicted first: median error {:.1} %.",
        held_back.pairs, held_back.error_percent
    ))
}

/// A line for the inside of each group, and one for all ways between two.
fn table(cluster: &Cluster, groups: &[Vec<usize>]) -> String {
    let mut text =
        format!("  {:<28}{:>12}{:>12}{:>14}\n", "median round trip of", "8 B", "64 KiB", "rate");
    let group = cluster.group_of();
    for nodes in groups {
        let inside = |pair: &&Pair| pair.nodes.iter().all(|node| nodes.contains(node));
        text += &line(&named(cluster, nodes), cluster.pairs.iter().filter(inside));
    }
    if groups.len() > 1 {
        let between = |pair: &&Pair| group[pair.nodes[0]] != group[pair.nodes[1]];
        text += &line("between groups", cluster.pairs.iter().filter(between));
    }
    text + "\n"
}

fn line<'a>(name: &str, pairs: impl Iterator<Item = &'a Pair> + Clone) -> String {
    let [small, large, rate] = medians(pairs);
    format!("  {name:<28}{small:>12}{large:>12}{rate:>14}\n")
}

/// The median round trips of some pairs, of small messages and of large ones, and the rate of their
/// streams.
pub(crate) fn medians<'a>(pairs: impl Iterator<Item = &'a Pair> + Clone) -> [String; 3] {
    let trip = |size: u32| {
        let trips: Vec<f64> =
            pairs.clone().filter_map(|pair| Some(pair.trip(size)?.median_ns)).collect();
        median(&trips).map_or("-".to_owned(), time)
    };
    let rates: Vec<f64> = pairs.clone().flat_map(|pair| pair.rate_mbps).collect();
    [trip(SMALL_BYTES), trip(SIZE_BYTES), median(&rates).map_or("-".to_owned(), rate)]
}

/// The same through MPI, where that was measured, and the operations of all nodes together.
fn by_mpi(cluster: &Cluster, groups: &[Vec<usize>]) -> String {
    let Some(mpi) = &cluster.mpi else { return String::new() };
    let mut text = format!("Through {}:\n", mpi.library);
    text += &cluster.by_mpi().map_or_else(String::new, |cluster| table(&cluster, groups));
    text +=
        &format!("  {:<28}{:>12}{:>12}{:>12}\n", "all nodes together", "8 B", "1 KiB", "64 KiB");
    for (name, times) in collectives(mpi) {
        text += &format!("  {name:<28}{}\n", times.map(|time| format!("{time:>12}")).concat());
    }
    text + "\n"
}

/// The times of each operation by size: 8 B, 1 KiB and 64 KiB; a barrier has none but the first.
fn collectives(mpi: &Mpi) -> Vec<(&'static str, [String; 3])> {
    let names = [
        (Operation::Barrier, "barrier"),
        (Operation::Broadcast, "broadcast"),
        (Operation::Allreduce, "allreduce"),
        (Operation::Alltoall, "alltoall"),
    ];
    let of = |operation: Operation, sizes: &[u32]| {
        let mut found = mpi.collectives.iter().filter(|one| one.operation == operation);
        found
            .find(|one| sizes.contains(&one.size_bytes))
            .map_or_else(|| "-".to_owned(), |one| time(one.median_ns))
    };
    let row = |(operation, name)| {
        (name, [&[0, 8][..], &[1 << 10], &[64 << 10]].map(|sizes| of(operation, sizes)))
    };
    names.into_iter().map(row).collect()
}

/// The round trips of each pair in milliseconds, where they fit; a predicted one in brackets.
fn matrix(cluster: &Cluster, groups: &[Vec<usize>]) -> String {
    let order: Vec<usize> = groups.concat();
    let Some(fit) = cluster.fit(Metric::Trip(SIZE_BYTES)).filter(|_| order.len() <= MOST_NODES)
    else {
        return String::new();
    };
    let is_measured =
        |a: usize, b: usize| cluster.pairs.iter().any(|pair| pair.nodes == [a.min(b), a.max(b)]);
    let names = apart(cluster, MATRIX_WIDTH);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(7);
    let short = |node: usize| names[node].as_str();
    let cell = |a: usize, b: usize| match (a == b, is_measured(a, b)) {
        (true, _) => ".".to_owned(),
        (_, true) => format!("{:.2}", fit.value(a, b) / 1e6),
        (_, false) => format!("({:.2})", fit.value(a, b) / 1e6),
    };
    let mut text = "Round trips of 64 KiB, ms".to_owned();
    text += if cluster.held_back.is_some() { " (in brackets: predicted)\n" } else { "\n" };
    text += &format!("  {:>width$}", "");
    text.extend(order.iter().map(|node| format!(" {:>width$}", short(*node))));
    for row in &order {
        text += &format!("\n  {:>width$}", short(*row));
        text.extend(order.iter().map(|column| format!(" {:>width$}", cell(*row, *column))));
    }
    text + "\n\n"
}

/// The streams that were measured at one time, beside what their pairs had alone.
fn loaded(cluster: &Cluster) -> String {
    if cluster.loaded.is_empty() {
        return String::new();
    }
    let heads = LOADED.map(|head| format!("{head:>14}")).concat();
    let mut text = format!("{:<30}{heads}\n", "Streams at one time");
    for (what, figures) in loaded_rows(cluster) {
        text +=
            &format!("  {what:<28}{}\n", figures.map(|figure| format!("{figure:>14}")).concat());
    }
    text + "\n"
}

/// The heads of the columns about streams at one time.
pub(crate) const LOADED: [&str; 4] = ["slowest", "median", "together", "one alone"];

/// Each arrangement of streams, with its figures.
pub(crate) fn loaded_rows(cluster: &Cluster) -> Vec<(&'static str, [String; 4])> {
    let row = |loaded: &Loaded| {
        let rates: Vec<f64> = loaded.streams.iter().map(|stream| stream.rate_mbps).collect();
        let alone: Vec<f64> =
            loaded.streams.iter().filter_map(|stream| alone(cluster, stream)).collect();
        let what = match loaded.exchange {
            Exchange::Bisection => "halves, both ways",
            Exchange::Neighbours => "each to the next",
            Exchange::Incast => "all to one",
        };
        let told = |value: Option<f64>| value.map_or("-".to_owned(), rate);
        let slowest = told(rates.iter().copied().reduce(f64::min));
        (what, [slowest, told(median(&rates)), rate(rates.iter().sum()), told(median(&alone))])
    };
    cluster.loaded.iter().map(row).collect()
}

/// The rate that a stream's way has alone, measured or predicted.
fn alone(cluster: &Cluster, stream: &Stream) -> Option<f64> {
    let nodes = [stream.from.min(stream.to), stream.from.max(stream.to)];
    match cluster.pairs.iter().find(|pair| pair.nodes == nodes) {
        Some(pair) => Some(pair.rate_mbps[usize::from(stream.from > stream.to)]),
        None => Some(cluster.fit(Metric::Rate)?.predicted(nodes[0], nodes[1])),
    }
}

fn odd(cluster: &Cluster) -> String {
    let found = faults(cluster);
    let lines: String = found.iter().map(|fault| format!("- {}\n", fault.sentence)).collect();
    let odd = if lines.is_empty() { String::new() } else { format!("Odd:\n{lines}") };
    odd + &noisy(cluster)
}

/// The names of all nodes, told apart in about this many letters.
pub(crate) fn apart(cluster: &Cluster, width: usize) -> Vec<String> {
    let names: Vec<&str> = cluster.nodes.iter().map(|node| node.name.as_str()).collect();
    seatmap_cluster::names::apart(&names, width)
}

/// The names of nodes, the first few of many.
pub(crate) fn named(cluster: &Cluster, nodes: &[usize]) -> String {
    let more = if nodes.len() > MOST_NAMED {
        format!(" +{}", nodes.len() - MOST_NAMED)
    } else {
        String::new()
    };
    let few = &nodes[..nodes.len().min(MOST_NAMED)];
    let all =
        few.iter().map(|node| cluster.nodes[*node].name.as_str()).collect::<Vec<&str>>().join(" ")
            + &more;
    if all.chars().count() <= GROUP_WIDTH {
        return all;
    }
    let names = apart(cluster, MATRIX_WIDTH);
    let short = seatmap_cluster::topology::short(
        &nodes.iter().map(|node| names[*node].as_str()).collect::<Vec<&str>>(),
    );
    match short.chars().count() {
        0..=GROUP_WIDTH => short,
        _ => format!(
            "{}.. ({})",
            short.chars().take(GROUP_WIDTH - 9).collect::<String>(),
            nodes.len()
        ),
    }
}

pub(crate) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

pub(crate) fn rate(mbps: f64) -> String {
    if mbps < 1e3 { format!("{mbps:.0} Mbit/s") } else { format!("{:.1} Gbit/s", mbps / 1e3) }
}
