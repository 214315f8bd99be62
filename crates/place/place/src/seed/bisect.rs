//! Divides items in two sets with little traffic between them.

use super::cut_graph::CutGraph;
use crate::Traffic;
use crate::search::{DeadlineWatch, SearchLimit};
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;

const TRIES: usize = 12;
const PASSES: usize = 8;

/// Divides items in two sets, the first of a given size, with little traffic between them.
///
/// `bias` is an item's cost in the second set relative to the first, because of items outside. Each
/// try grows a set from a random item along the heaviest traffic, and then exchanges pairs like
/// Kernighan & Lin (1970): also at a loss, keeping the best prefix of a pass. Without time, items
/// are divided in their order.
pub fn bisect(
    traffic: &Traffic,
    items: &[u32],
    first: usize,
    bias: &[f64],
    rng: &mut Xoshiro,
    limit: &SearchLimit,
) -> Vec<bool> {
    let as_they_come = (0..items.len()).map(|at| at >= first);
    if limit.is_late() {
        return as_they_come.collect();
    }
    let graph = CutGraph::among(traffic, items, &mut vec![u32::MAX; traffic.tasks()]);
    let mut watch = DeadlineWatch::new(limit, items.len());
    let mut tries = Vec::with_capacity(TRIES);
    for _ in 0..TRIES {
        let Some(mut cut) = Cut::grown(&graph, bias, first, rng, &mut watch) else { break };
        (0..PASSES).find(|_| !cut.pass(&mut watch));
        tries.push((cut.cost(), cut.second));
    }
    let best = tries.into_iter().min_by_key(|(cost, _)| Ordered(*cost));
    best.map_or_else(|| as_they_come.collect(), |(_, second)| second)
}

/// For example, much traffic with the set, little with the rest, and a high bias.
struct Cut<'a> {
    graph: &'a CutGraph,
    bias: &'a [f64],
    second: Vec<bool>,
    gain: Vec<f64>,
}

impl<'a> Cut<'a> {
    fn grown(
        graph: &'a CutGraph,
        bias: &'a [f64],
        first: usize,
        rng: &mut Xoshiro,
        watch: &mut DeadlineWatch,
    ) -> Option<Self> {
        let n = graph.nodes();
        let mut second = vec![true; n];
        let mut pull: Vec<f64> = (0..n)
            .map(|item| {
                bias[item] - graph.of(item).iter().map(|(_, weight)| weight).sum::<f64>()
                    + 1e-6 * rng.unit()
            })
            .collect();
        let mut next = (n > 0).then(|| rng.below(n));
        for _ in 0..first {
            let Some(item) = next.filter(|_| !watch.is_late()) else { break };
            second[item] = false;
            // Twice, because the weight changes sides.
            graph.of(item).iter().for_each(|(with, weight)| pull[*with as usize] += 2.0 * weight);
            next = (0..n).filter(|item| second[*item]).max_by_key(|item| Ordered(pull[*item]));
        }
        let mut cut = Cut { graph, bias, second, gain: vec![0.0; n] };
        (0..n).for_each(|item| cut.gain[item] = cut.computed_gain(item));
        (!watch.is_late()).then_some(cut)
    }

    fn computed_gain(&self, item: usize) -> f64 {
        let flow: f64 =
            self.graph.of(item).iter().map(|(with, w)| w * self.sign(item, *with)).sum();
        flow + if self.second[item] { self.bias[item] } else { -self.bias[item] }
    }

    /// An edge across the cut counts for a move of its ends, others against it.
    fn sign(&self, item: usize, with: u32) -> f64 {
        if self.crosses(item, with) { 1.0 } else { -1.0 }
    }

    fn crosses(&self, item: usize, with: u32) -> bool {
        self.second[with as usize] != self.second[item]
    }

    fn cost(&self) -> f64 {
        (0..self.graph.nodes())
            .map(|item| {
                let across =
                    self.graph.of(item).iter().filter(|(with, _)| self.crosses(item, *with));
                let flow: f64 = across.map(|(_, weight)| weight).sum();
                0.5 * flow + if self.second[item] { self.bias[item] } else { 0.0 }
            })
            .sum()
    }

    fn flip(&mut self, item: usize) {
        self.second[item] = !self.second[item];
        self.gain[item] = -self.gain[item];
        for (with, weight) in self.graph.of(item) {
            self.gain[*with as usize] += 2.0 * weight * self.sign(item, *with);
        }
    }

    fn top(&self, is_second: bool, locked: &[bool]) -> Option<usize> {
        (0..locked.len())
            .filter(|item| self.second[*item] == is_second && !locked[*item])
            .max_by_key(|item| Ordered(self.gain[*item]))
    }

    fn pass(&mut self, watch: &mut DeadlineWatch) -> bool {
        let n = self.graph.nodes();
        let mut locked = vec![false; n];
        let mut sum = 0.0;
        // Gains from rounding errors would never end.
        let mut best = 1e-9;
        let mut best_at = 0;
        let mut exchanged = Vec::new();
        let pairs = self.second.iter().filter(|second| **second).count().min(n - n / 2);
        for _ in 0..pairs {
            if watch.is_late() {
                break;
            }
            let Some(a) = self.top(false, &locked) else { break };
            sum += self.gain[a];
            self.flip(a);
            locked[a] = true;
            let Some(b) = self.top(true, &locked) else {
                self.flip(a);
                break;
            };
            sum += self.gain[b];
            self.flip(b);
            locked[b] = true;
            exchanged.push((a, b));
            if sum > best {
                (best, best_at) = (sum, exchanged.len());
            }
            if exchanged.len() > best_at + HOPELESS {
                break;
            }
        }
        for (a, b) in exchanged.drain(best_at..).rev() {
            self.flip(b);
            self.flip(a);
        }
        best_at > 0
    }
}

/// Exchanges in a row without a new best that end a pass.
const HOPELESS: usize = 60;
