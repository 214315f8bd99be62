//! Pictures of a cluster: its switches with their nodes, and the round trips between these.

use super::number;
use crate::Scale;
use crate::cluster::{apart, medians, time};
use crate::palette::{colour, hex};
use maud::{Markup, html};
use seatmap_cluster::choice::SIZE_BYTES;
use seatmap_cluster::fit::Metric;
use seatmap_cluster::judge::Fault;
use seatmap_cluster::{Cluster, Pair};

/// The width of the picture, in user units.
const WIDTH: f64 = 960.0;
/// The size of a node's box, and the room between two.
const NODE: (f64, f64) = (76.0, 24.0);
const GAP: f64 = 8.0;
/// The letters for which a node's box has room, and the edges of the heatmap.
const BOX_LETTERS: usize = 11;
const EDGE_LETTERS: usize = 12;
/// The height of a group's caption, and of the lines above the groups.
const CAPTION: f64 = 22.0;
const ROOT: f64 = 64.0;
/// The most nodes of a group in one row.
const IN_ROW: usize = 8;

/// More nodes than these have no heatmap: a cell would be smaller than a dot.
const MOST_DRAWN: usize = 256;
/// Up to so many nodes, rows and columns have names and cells tell their figures.
const MOST_NAMED: usize = 64;
/// The side of the heatmap, and the room for the names at its edges.
const SIDE: f64 = 640.0;
const NAMES: f64 = 90.0;
/// The strength of the colour of a pair that was not measured.
const PALE: &str = "0.45";

/// A group's box.
struct Placed<'a> {
    nodes: &'a [usize],
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// The groups as boxes with their nodes, hung on what connects them. Nodes with faults are drawn in
/// red.
pub(crate) fn tree(cluster: &Cluster, groups: &[Vec<usize>], found: &[Fault]) -> Markup {
    let top = if groups.len() > 1 { ROOT } else { 0.0 };
    let (boxes, height) = placed(groups, top);
    let group = cluster.group_of();
    let between = cluster.pairs.iter().filter(|pair| group[pair.nodes[0]] != group[pair.nodes[1]]);
    let [_, trip, rate] = medians(between);
    let middle = boxes.iter().map(|one| one.x + one.width).fold(0.0, f64::max) / 2.0;
    html! {
        svg.picture viewBox=(format!("0 0 {WIDTH} {}", number(height))) width="100%" role="img" aria-label="Groups of nodes" {
            @if groups.len() > 1 {
                text.quiet x=(number(middle)) y="14" text-anchor="middle" font-size="13" fill="#57606a" { "between groups: " (trip) ", " (rate) }
                @for one in &boxes { (hung(one, middle)) }
            }
            @for one in &boxes { (group_box(cluster, one, found)) }
        }
    }
}

/// The places of the groups, row by row, and the height of all.
fn placed(groups: &[Vec<usize>], top: f64) -> (Vec<Placed<'_>>, f64) {
    let mut x = 0.0;
    let mut y = top;
    let mut row_height = 0.0_f64;
    let mut boxes = Vec::new();
    for nodes in groups {
        let columns = nodes.len().clamp(2, IN_ROW);
        let width = GAP + columns as f64 * (NODE.0 + GAP);
        let height = CAPTION + GAP + nodes.len().div_ceil(columns) as f64 * (NODE.1 + GAP);
        if x > 0.0 && x + width > WIDTH {
            (x, y, row_height) = (0.0, y + row_height + 2.0 * GAP, 0.0);
        }
        boxes.push(Placed { nodes, x, y, width, height });
        x += width + 2.0 * GAP;
        row_height = row_height.max(height);
    }
    (boxes, y + row_height + 2.0)
}

/// The line from a group to what connects it with the others.
fn hung(one: &Placed, middle: f64) -> Markup {
    let x = number(one.x + one.width / 2.0);
    let bar = ROOT - 3.0 * GAP;
    html! {
        path d=(format!("M{} 20V{}H{x}V{}", number(middle), number(bar), number(one.y))) fill="none" stroke="#8c959f" {}
    }
}

fn group_box(cluster: &Cluster, one: &Placed, found: &[Fault]) -> Markup {
    let short = apart(cluster, BOX_LETTERS);
    let inside = |pair: &&Pair| pair.nodes.iter().all(|node| one.nodes.contains(node));
    let [_, trip, rate] = medians(cluster.pairs.iter().filter(inside));
    let columns = one.nodes.len().clamp(2, IN_ROW);
    let at = |index: usize| {
        let row = (index / columns) as f64;
        let column = (index % columns) as f64;
        (one.x + GAP + column * (NODE.0 + GAP), one.y + CAPTION + GAP + row * (NODE.1 + GAP))
    };
    html! {
        rect x=(number(one.x)) y=(number(one.y)) width=(number(one.width)) height=(number(one.height)) rx="6" fill="none" stroke="#8c959f" {}
        @if one.nodes.len() > 1 {
            text.quiet x=(number(one.x + GAP)) y=(number(one.y + 16.0)) font-size="12" fill="#57606a" { (trip) ", " (rate) }
        }
        @for (index, node) in one.nodes.iter().enumerate() { (node_box([&cluster.nodes[*node].name, &short[*node]], at(index), found)) }
    }
}

/// A node's box, with its short name, and its name and faults as a tip.
fn node_box([name, short]: [&str; 2], (x, y): (f64, f64), found: &[Fault]) -> Markup {
    let faults: Vec<&str> = found
        .iter()
        .filter(|fault| fault.nodes.iter().any(|node| node == name))
        .map(|fault| &*fault.sentence)
        .collect();
    let (stroke, width) = if faults.is_empty() { ("#8c959f", "1") } else { ("#cf222e", "2.5") };
    html! {
        g {
            title { (name) @for fault in &faults { "; " (fault) } }
            rect x=(number(x)) y=(number(y)) width=(NODE.0) height=(NODE.1) rx="4" fill="#8c959f" fill-opacity="0.12" stroke=(stroke) stroke-width=(width) {}
            text.quiet x=(number(x + NODE.0 / 2.0)) y=(number(y + 16.0)) text-anchor="middle" font-size="12" fill="#57606a" { (short) }
        }
    }
}

/// The round trips of 64 KiB between all nodes, those that were not measured pale; `None` where
/// none were, or there are too many nodes.
pub(crate) fn heatmap(cluster: &Cluster, groups: &[Vec<usize>]) -> Option<Markup> {
    let order: Vec<usize> = groups.concat();
    let fit = cluster
        .fit(Metric::Trip(SIZE_BYTES))
        .filter(|_| (2..=MOST_DRAWN).contains(&order.len()))?;
    let pairs =
        || order.iter().flat_map(|a| order.iter().map(|b| (*a, *b))).filter(|(a, b)| a != b);
    let scale = Scale::of(pairs().map(|(a, b)| fit.value(a, b)))?;
    let is_measured =
        |a: usize, b: usize| cluster.pairs.iter().any(|pair| pair.nodes == [a.min(b), a.max(b)]);
    let side = SIDE / order.len() as f64;
    let name = |node: usize| cluster.nodes[node].name.as_str();
    let cell = |row: usize, column: usize| {
        let a = order[row];
        let b = order[column];
        let ns = fit.value(a, b);
        let measured = is_measured(a, b);
        html! {
            rect x=(number(column as f64 * side)) y=(number(row as f64 * side)) width=(number(side)) height=(number(side))
                fill=(hex(colour(scale.position(ns)))) fill-opacity=[(!measured).then_some(PALE)] {
                @if order.len() <= MOST_NAMED {
                    title { (name(a)) " and " (name(b)) ": " (time(ns)) @if !measured { ", predicted" } }
                }
            }
        }
    };
    let names = order.len() <= MOST_NAMED;
    let short = apart(cluster, EDGE_LETTERS);
    Some(html! {
        svg.picture viewBox=(format!("{} 0 {} {}", -NAMES, NAMES + SIDE, SIDE + NAMES)) width="100%" style="max-width:40rem" role="img"
            aria-label="Round trips between nodes" {
            @for row in 0..order.len() { @for column in 0..order.len() { @if row != column { (cell(row, column)) } } }
            @if names { @for (at, node) in order.iter().enumerate() { (edges(&short[*node], (at as f64 + 0.5) * side, side)) } }
            text.quiet x="0" y=(SIDE + NAMES - 6.0) font-size="13" fill="#57606a" {
                "dark: " (time(scale.low_ns)) ", light: " (time(scale.high_ns)) "; pale: predicted"
            }
        }
    })
}

/// A node's name beside its row and below its column.
fn edges(name: &str, at: f64, side: f64) -> Markup {
    let size = number(side.clamp(6.0, 13.0));
    let turned = format!("translate({} {}) rotate(-60)", number(at), number(SIDE + 8.0));
    html! {
        text.quiet x="-6" y=(number(at + 4.0)) text-anchor="end" font-size=(size) fill="#57606a" { (name) }
        text.quiet transform=(turned) text-anchor="end" font-size=(size) fill="#57606a" { (name) }
    }
}
