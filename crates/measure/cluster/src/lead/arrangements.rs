//! Patterns of simultaneous streams.

use crate::cluster::StreamPattern;

/// Nodes are ordered by group, so the two halves are as far apart as possible.
pub fn arrangements(groups: &[Vec<usize>], nodes: usize) -> Vec<(StreamPattern, Vec<[usize; 2]>)> {
    if nodes < 2 {
        return Vec::new();
    }
    let mut order = groups.concat();
    order.extend((0..nodes).filter(|node| groups.iter().all(|group| !group.contains(node))));
    let half = nodes / 2;
    let across = (0..half).flat_map(|at| {
        let [a, b] = [order[at], order[at + half]];
        [[a, b], [b, a]]
    });
    let next = (0..nodes).map(|at| [order[at], order[(at + 1) % nodes]]);
    let to_one = order[1..].iter().map(|from| [*from, order[0]]);
    vec![
        (StreamPattern::Bisection, across.collect()),
        (StreamPattern::Neighbours, next.collect()),
        (StreamPattern::Incast, to_one.collect()),
    ]
}
