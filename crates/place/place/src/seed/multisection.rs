//! Divides tasks over nested groups, from the outermost level inwards.

use super::cut_graph::CutGraph;
use super::in_order;
use super::sides::TwoSides;
use crate::Traffic;
use crate::search::SearchLimit;
use crate::slot_groups::SlotGroups;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug)]
pub struct CutCare {
    /// Independent cuts, of which the best is kept.
    pub tries: usize,
    /// Cycles that merge nodes within sides again, and improve each level.
    pub cycles: usize,
}

const SMALL: usize = 30;

/// A node may have 1/`LARGEST_PART` of all items.
const LARGEST_PART: i64 = 12;

/// Sides grown on the smallest graph.
const GROWN: usize = 8;

/// On the smallest graph, and on larger ones.
const PASSES: [usize; 2] = [10, 6];

/// Puts the items (tasks, then holes) on the outermost groups with little traffic between them,
/// then inside each (global multisection: von Kirchbach, Schulz & Traeff 2020).
///
/// The level where two tasks meet decides their distance, so a cut ignores items outside. After the
/// deadline, items are divided in their order.
pub fn multisection(
    traffic: &Traffic,
    groups: &SlotGroups,
    care: CutCare,
    limit: &SearchLimit,
    rng: &mut Xoshiro,
) -> Vec<u32> {
    let mut place_of = vec![u32::MAX; traffic.tasks()];
    let mut parts = vec![(0..groups.slots() as u32).collect::<Vec<_>>()];
    for level in groups.levels.iter().rev().skip(1) {
        let sizes = level.first.windows(2).map(|two| (two[1] - two[0]) as usize);
        let sizes: Vec<usize> = sizes.collect();
        let mut divided = Vec::with_capacity(sizes.len());
        for part in parts {
            let rest = &sizes[divided.len()..];
            let mut items = 0;
            let inner = rest.iter().take_while(|size| {
                items += **size;
                items <= part.len()
            });
            let inner = &rest[..inner.count()];
            let mut open = vec![(part, inner)];
            while let Some((items, sizes)) = open.pop() {
                if sizes.len() <= 1 {
                    divided.push(items);
                    continue;
                }
                let (left, right) = sizes.split_at(sizes.len() / 2);
                let first_items = left.iter().sum::<usize>();
                let second = if limit.is_late() {
                    (0..items.len()).map(|at| at >= first_items).collect()
                } else {
                    let graph = CutGraph::among(traffic, &items, &mut place_of);
                    best_cut(&graph, first_items as i64, care, limit, rng)
                };
                for (is_second, sizes) in [(true, right), (false, left)] {
                    let both = items.iter().zip(&second);
                    let here = both.filter(|(_, second)| **second == is_second);
                    open.push((here.map(|(item, _)| *item).collect(), sizes));
                }
            }
        }
        parts = divided;
    }
    in_order(&parts.concat(), &groups.order)
}

fn best_cut(
    graph: &CutGraph,
    first_items: i64,
    care: CutCare,
    limit: &SearchLimit,
    rng: &mut Xoshiro,
) -> Vec<bool> {
    let mut best = (f64::INFINITY, Vec::new());
    for _ in 0..care.tries {
        let made = cut(graph, first_items, None, 0, rng);
        let mut found = (graph.cut(&made), made);
        for _ in 0..care.cycles {
            if limit.is_late() {
                break;
            }
            let again = cut(graph, first_items, Some(found.1.clone()), 0, rng);
            let weight = graph.cut(&again);
            if weight <= found.0 {
                found = (weight, again);
            }
        }
        if found.0 < best.0 {
            best = found;
        }
        if limit.is_late() {
            break;
        }
    }
    evened(best.1, first_items as usize)
}

/// Passes achieve that themselves unless all nodes are locked.
fn evened(mut second: Vec<bool>, first_items: usize) -> Vec<bool> {
    let on_first = second.iter().filter(|second| !**second).count();
    let has_too_many = on_first > first_items;
    let moved = second.iter_mut().filter(|second| **second != has_too_many);
    moved.take(on_first.abs_diff(first_items)).for_each(|second| *second = has_too_many);
    second
}

/// Cuts a smaller graph, then improves; `sides` are an earlier cut. Only at depth 0 must sides have
/// exact sizes.
fn cut(
    graph: &CutGraph,
    first_items: i64,
    sides: Option<Vec<bool>>,
    depth: usize,
    rng: &mut Xoshiro,
) -> Vec<bool> {
    let slack = if depth == 0 { 0 } else { i64::from(graph.largest()) / 2 };
    if graph.nodes() > SMALL {
        let largest = (graph.items() / LARGEST_PART).max(2) as u32;
        let joined = graph.joined(largest, sides.as_deref(), rng);
        let nodes = joined.nodes as usize;
        // Too little smaller to be worth the time.
        if nodes * 20 < graph.nodes() * 19 {
            let smaller = graph.contracted(&joined);
            let new_of = joined.new_of;
            let sides = sides.map(|second| {
                let mut joined = vec![false; nodes];
                new_of.iter().zip(second).for_each(|(new, side)| joined[*new as usize] = side);
                joined
            });
            let above = cut(&smaller, first_items, sides, depth + 1, rng);
            let second = new_of.iter().map(|new| above[*new as usize]).collect();
            return TwoSides::improved(graph, second, first_items, slack, PASSES[1], rng).second;
        }
    }
    if let Some(second) = sides {
        return TwoSides::improved(graph, second, first_items, slack, PASSES[1], rng).second;
    }
    let grown = (0..GROWN).map(|_| {
        let second = grown(graph, first_items, rng);
        let cut = TwoSides::improved(graph, second, first_items, slack, PASSES[0], rng);
        ((cut.over(slack), Ordered(graph.cut(&cut.second))), cut.second)
    });
    grown.min_by_key(|(rank, _)| *rank).map_or_else(Vec::new, |(_, second)| second)
}

/// Grows from a random node along the heaviest edges, then from another.
fn grown(graph: &CutGraph, first_items: i64, rng: &mut Xoshiro) -> Vec<bool> {
    let mut second = vec![true; graph.nodes()];
    let mut pull = vec![0.0; graph.nodes()];
    let mut pulled = BinaryHeap::new();
    let mut items = 0;
    while items < first_items {
        let node = match pulled.pop() {
            Some((Ordered(by), node)) if second[node] && pull[node] == by => node,
            Some(_) => continue,
            None => {
                let any = rng.below(graph.nodes());
                let from_there = (any..graph.nodes()).chain(0..any);
                match from_there.into_iter().find(|node| second[*node]) {
                    Some(node) => node,
                    None => break,
                }
            }
        };
        second[node] = false;
        items += i64::from(graph.size[node]);
        for (with, weight) in graph.of(node) {
            let with = *with as usize;
            pull[with] += weight;
            pulled.push((Ordered(pull[with]), with));
        }
    }
    second
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{is_permutation, random_traffic};
    use proptest::prelude::*;

    const CARE: CutCare = CutCare { tries: 2, cycles: 1 };

    proptest! {
        #[test]
        fn multisection_fills_groups_exactly_and_repeatably(
            sizes in (1..5_usize, 1..6_usize, 1..6_usize), holes in 0..9_usize,
            edges in 0..300_usize, seed: u64, has_time: bool
        ) {
            let groups = SlotGroups::uniform(&[sizes.0, sizes.1, sizes.2], &[1.0, 6.0, 30.0]).unwrap();
            let mut rng = Xoshiro::new(seed);
            let tasks = groups.slots().saturating_sub(holes).max(1);
            let traffic = random_traffic(tasks, edges, &mut rng);
            let limit = if has_time { SearchLimit::kicks(1) } else { SearchLimit::seconds(0.0) };
            let slot_of = multisection(&traffic, &groups, CARE, &limit, &mut Xoshiro::new(seed));
            prop_assert!(slot_of.len() == groups.slots() && is_permutation(&slot_of));
            let again = multisection(&traffic, &groups, CARE, &limit, &mut Xoshiro::new(seed));
            prop_assert_eq!(again, slot_of);
        }

        #[test]
        fn best_cut_has_requested_size(nodes in 2..200_usize, part in 1..200_usize, seed: u64) {
            let mut rng = Xoshiro::new(seed);
            let edges = (0..2 * nodes).map(|_| (rng.below(nodes), rng.below(nodes), 1.0));
            let traffic = Traffic::new(nodes, edges);
            let items: Vec<u32> = (0..nodes as u32).collect();
            let graph = CutGraph::among(&traffic, &items, &mut vec![u32::MAX; nodes]);
            let first_items = part.min(nodes - 1);
            let second = best_cut(&graph, first_items as i64, CARE, &SearchLimit::kicks(1), &mut rng);
            prop_assert_eq!(second.iter().filter(|second| !**second).count(), first_items);
            // Cycles that do not help are dropped.
            let weights = [0, 3].map(|cycles| {
                let care = CutCare { tries: 1, cycles };
                let mut rng = Xoshiro::new(seed);
                graph.cut(&best_cut(&graph, first_items as i64, care, &SearchLimit::kicks(1), &mut rng))
            });
            prop_assert!(weights[1] <= weights[0], "{weights:?}");
        }
    }

    #[test]
    fn multisection_separates_two_rings() {
        let edges = (0..64).map(|task| (task, (task + 2) % 64, 1.0));
        let traffic = Traffic::new(64, edges);
        let groups = SlotGroups::uniform(&[32, 2], &[1.0, 9.0]).unwrap();
        let slot_of =
            multisection(&traffic, &groups, CARE, &SearchLimit::kicks(1), &mut Xoshiro::new(1));
        assert!((0..64).all(|task| slot_of[task] / 32 == slot_of[task % 2] / 32), "{slot_of:?}");
    }
}
