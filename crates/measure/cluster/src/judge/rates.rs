//! Slow links: of a node, of a switch, or the way between two nodes.

use super::usual::{Figure, Way};
use super::{Court, FEWEST_PAIRS, Fault, Kind, OTHER_WAY, SLOW};
use crate::topology::short;
use seatmap_statistics::{median, quantile};
use std::collections::{BTreeMap, BTreeSet};

/// The figures of the parts of one kind, out of them and into them: that of the best stream that went through.
type Parts = BTreeMap<usize, [f64; 2]>;

/// The directions that are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Both,
    From,
    To,
}

impl Direction {
    fn words(self, whom: &str) -> String {
        match self {
            Direction::Both => "both ways".to_owned(),
            Direction::From => format!("from {whom}"),
            Direction::To => format!("to {whom}"),
        }
    }
}

/// How slow a part is.
struct Slow {
    way: Direction,
    factor: f64,
}

/// A node whose link is slow.
struct SlowNode {
    node: usize,
    slow: Slow,
    /// The slowness of its best stream, out of it and into it, and that over what is usual; nothing where it is well.
    best: [f64; 2],
    factors: [f64; 2],
}

impl Court<'_> {
    /// Nodes, switches and pairs whose streams are slow.
    pub(super) fn slow(&self) -> Vec<Fault> {
        let ways = self.ways(Figure::Slowness, |_| true);
        let (nodes, groups) = (self.slow_nodes(&ways), self.uplinks(&ways));
        let mut faults: Vec<Fault> = nodes.iter().map(|one| self.slow_node_fault(one)).collect();
        faults.extend(self.slow_switches(&groups));
        faults.extend(self.slow_pairs(&ways, &nodes, &groups));
        faults
    }

    /// The node with the most slow ways first: those to it from others are not theirs then.
    fn slow_nodes(&self, ways: &[Way]) -> Vec<SlowNode> {
        let (mut open, mut found, inside) = (ways.to_vec(), Vec::new(), self.inside(ways));
        loop {
            let near = |node: usize| if self.alone.contains(&node) { inside } else { f64::INFINITY };
            let nodes = of_nodes(&open).into_iter().filter_map(|(node, ends)| slow_node(&ends, node, near(node)));
            let Some((_, worst)) = nodes.max_by_key(|(others, _)| *others) else { return found };
            open.retain(|way| (0..2).all(|end| way.ends()[end] != worst.node || worst.best[end] == 0.0));
            found.push(worst);
        }
    }

    /// The usual slowness inside groups: a node that stands alone is held against it, as nodes have neighbours.
    fn inside(&self, ways: &[Way]) -> f64 {
        let inside = ways.iter().filter(|way| self.group[way.from] == self.group[way.to]);
        median(&inside.map(|way| way.usual).collect::<Vec<_>>()).unwrap_or(f64::INFINITY)
    }

    fn slow_node_fault(&self, one: &SlowNode) -> Fault {
        let (words, factor) = (one.slow.way.words("it"), one.slow.factor);
        let or = if self.alone.contains(&one.node) { ", or it stands alone on a switch" } else { "" };
        let sentence = format!(
            "{}: its link is slow{or}, streams {words} have 1/{factor:.1} of the rate of its like (best of its pairs)",
            self.name(one.node)
        );
        let one_way = one.slow.way != Direction::Both;
        Fault { one_way, ..self.fault(Kind::Slow, &[one.node], Some(factor), sentence) }
    }

    /// The ways between a switch and the others, by the streams between groups. A node that stands alone has only its
    /// own.
    fn uplinks(&self, ways: &[Way]) -> Parts {
        let between: Vec<Way> = ways.iter().filter(|way| self.group[way.from] != self.group[way.to]).copied().collect();
        let group = |node: usize| self.group[node];
        parts(&between, |node| self.sizes.get(&group(node)).is_some_and(|nodes| *nodes > 1).then_some(group(node)))
    }

    /// A switch is held against the others. Of two, the way out of one is the way into the other: the slower one is
    /// held against the way back.
    fn slow_switches(&self, groups: &Parts) -> Vec<Fault> {
        let ends = if groups.len() < 3 { 1 } else { 2 };
        let all: Vec<f64> = groups.values().flat_map(|own| &own[..ends]).copied().collect();
        let Some(usual) = quantile(&all, if ends == 1 { 0.0 } else { 0.5 }) else { return Vec::new() };
        let fault = |(group, own): (&usize, &[f64; 2])| {
            let slow = verdict([own[0] / usual, if ends == 1 { 1.0 } else { own[1] / usual }])?;
            let nodes: Vec<usize> = (0..self.group.len()).filter(|node| self.group[*node] == *group).collect();
            let names: Vec<&str> = nodes.iter().map(|node| self.name(*node)).collect();
            let sentence = format!(
                "{}: the way between their switch and the others is slow, streams {} have 1/{:.1} of the rate of other \
                 switches' (best of its pairs)",
                short(&names),
                slow.way.words("them"),
                slow.factor
            );
            let one_way = slow.way != Direction::Both;
            Some(Fault { one_way, ..self.fault(Kind::Slow, &nodes, Some(slow.factor), sentence) })
        };
        groups.iter().filter_map(fault).collect()
    }

    fn slow_pairs(&self, ways: &[Way], nodes: &[SlowNode], groups: &Parts) -> Vec<Fault> {
        let of_group = |group: usize, end: usize| groups.get(&group).map_or(0.0, |own| own[end]);
        // The end of a way that is at a slow node. It may be slow for another reason than its link, such as its
        // processor: then it slows each way by a factor.
        let of_node = |node: usize, end: usize| {
            let one = nodes.iter().find(|one| one.node == node);
            one.map_or([0.0; 2], |one| [one.best[end], one.factors[end]])
        };
        let blame = |way: &Way| {
            let [[out, slower], [into, later]] = [of_node(way.from, 0), of_node(way.to, 1)];
            let [from, to] = way.ends().map(|node| self.group[node]);
            let between = if from == to { 0.0 } else { of_group(from, 0).max(of_group(to, 1)) };
            way.shown / (way.usual * slower.max(later).max(1.0)).max(out).max(into).max(between)
        };
        let mut faults = Vec::new();
        for way in ways.iter().filter(|way| blame(way) >= SLOW) {
            let back = ways.iter().find(|other| (other.from, other.to) == (way.to, way.from)).map_or(1.0, blame);
            // Both directions are one fault, told from the smaller index.
            if back >= SLOW && way.from > way.to {
                continue;
            }
            let one_way = back < OTHER_WAY;
            let which = if one_way { "to" } else { "and" };
            let (from, to, factor) = (self.name(way.from), self.name(way.to), blame(way).max(back));
            let sentence = format!(
                "{from} {which} {to}: this way is slow, a stream has 1/{factor:.1} of the rate of like pairs, and both \
                 nodes are well with others"
            );
            faults.push(Fault { one_way, ..self.fault(Kind::Slow, &[way.from, way.to], Some(factor), sentence) });
        }
        faults
    }
}

/// The ways out of each node, and into it.
fn of_nodes(ways: &[Way]) -> BTreeMap<usize, [Vec<Way>; 2]> {
    let mut all = BTreeMap::<usize, [Vec<Way>; 2]>::new();
    for way in ways {
        for (end, node) in way.ends().into_iter().enumerate() {
            all.entry(node).or_default()[end].push(*way);
        }
    }
    all
}

/// A node, by the ways out of it and into it, whose best streams are slower than the best that its like would have on
/// these ways, with the number of nodes to which its ways are slow; by one alone it cannot be told from that one.
fn slow_node(ways: &[Vec<Way>; 2], node: usize, near: f64) -> Option<(usize, SlowNode)> {
    let of = |end: usize| ways[end].iter();
    let least = |end: usize, figure: &dyn Fn(&Way) -> f64| of(end).map(figure).fold(f64::INFINITY, f64::min);
    let best = [0, 1].map(|end| least(end, &|way| way.value));
    let usual = |way: &Way| way.usual.min(near);
    let is_known = |end: usize| of(end).count() >= FEWEST_PAIRS;
    let over = [0, 1].map(|end| if is_known(end) { best[end] / least(end, &usual) } else { 1.0 });
    let slow = verdict(over)?;
    let slow_ways =
        (0..2).flat_map(|end| of(end).filter(|way| way.value >= SLOW * usual(way)).map(move |way| way.ends()[1 - end]));
    let others: BTreeSet<usize> = slow_ways.collect();
    let is_bad = [0, 1].map(|end| slow.way == Direction::Both || over[end] >= SLOW);
    let told = |values: [f64; 2]| [0, 1].map(|end| if is_bad[end] { values[end] } else { 0.0 });
    let factors = told([0, 1].map(|end| least(end, &Way::factor)));
    (others.len() > 1).then(|| (others.len(), SlowNode { node, slow, best: told(best), factors }))
}

/// The best figures of the parts that the ends of ways belong to, from [`FEWEST_PAIRS`] ways on.
fn parts(ways: &[Way], part: impl Fn(usize) -> Option<usize>) -> Parts {
    let mut all = BTreeMap::<usize, [Vec<f64>; 2]>::new();
    for way in ways {
        for (end, node) in way.ends().into_iter().enumerate() {
            if let Some(at) = part(node) {
                all.entry(at).or_default()[end].push(way.value);
            }
        }
    }
    let fastest = |values: &Vec<f64>| values.iter().copied().fold(f64::INFINITY, f64::min);
    let is_known = |ends: &[Vec<f64>; 2]| ends.iter().all(|values| values.len() >= FEWEST_PAIRS);
    all.iter()
        .filter(|(_, ends)| is_known(ends))
        .map(|(at, ends)| (*at, [fastest(&ends[0]), fastest(&ends[1])]))
        .collect()
}

/// The directions that are slow, by the factors of what goes out and what comes in.
fn verdict([from, to]: [f64; 2]) -> Option<Slow> {
    let slow = |way, factor| Some(Slow { way, factor });
    match (from >= SLOW, to >= SLOW) {
        (true, true) => slow(Direction::Both, from.min(to)),
        (true, false) if to < OTHER_WAY => slow(Direction::From, from),
        (false, true) if from < OTHER_WAY => slow(Direction::To, to),
        (true, false) | (false, true) => slow(Direction::Both, from.max(to)),
        (false, false) => None,
    }
}
