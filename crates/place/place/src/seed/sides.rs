//! Improves cuts by moving one node at a time.

use super::cut_graph::CutGraph;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use std::collections::BinaryHeap;

pub struct TwoSides<'a> {
    graph: &'a CutGraph,
    pub second: Vec<bool>,
    gain: Vec<f64>,
    /// Items on the first side beyond the required number.
    excess: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SideMove {
    gain: Ordered,
    /// Breaks ties at random.
    chance: u32,
    node: u32,
}

/// Moves without a new best that end a pass, plus a twentieth of the nodes.
const HOPELESS: usize = 50;

impl<'a> TwoSides<'a> {
    /// Passes move each node at most once, the largest gain first, also at a loss, and keep the
    /// best prefix (Fiduccia & Mattheyses 1982). A side may end up to `slack` items off.
    pub fn improved(
        graph: &'a CutGraph,
        second: Vec<bool>,
        first_items: i64,
        slack: i64,
        passes: usize,
        rng: &mut Xoshiro,
    ) -> Self {
        let on_first: i64 =
            (0..graph.nodes()).filter(|node| !second[*node]).map(|node| size(graph, node)).sum();
        let gain = vec![0.0; graph.nodes()];
        let mut sides = TwoSides { gain, excess: on_first - first_items, graph, second };
        (0..passes).find(|_| !sides.pass(slack, rng));
        sides
    }

    pub fn over(&self, slack: i64) -> i64 {
        (self.excess.abs() - slack).max(0)
    }

    fn pass(&mut self, slack: i64, rng: &mut Xoshiro) -> bool {
        let nodes = self.graph.nodes();
        let mut is_locked = vec![false; nodes];
        let mut moves = [BinaryHeap::new(), BinaryHeap::new()];
        for node in 0..nodes {
            self.gain[node] = self.computed_gain(node);
            self.offer(node, &mut moves, rng);
        }
        let stray = slack.max(i64::from(self.graph.largest()));
        let mut moved = Vec::new();
        let mut sum = 0.0;
        let mut best = (self.over(slack), 0.0, 0);
        while moved.len() <= best.2 + HOPELESS + nodes / 20 {
            let tops = [false, true].map(|side| self.top(&mut moves, side, &is_locked, stray));
            let chosen = match tops {
                // Zero has two signs.
                [Some(one), Some(other)] if one.gain.0 == other.gain.0 => {
                    Some(if self.excess > 0 { one } else { other })
                }
                [one, other] => one.max(other),
            };
            let Some(SideMove { node, .. }) = chosen else { break };
            let node = node as usize;
            is_locked[node] = true;
            sum += self.gain[node];
            self.flip(node);
            moved.push(node);
            for (with, _) in self.graph.of(node) {
                let with = *with as usize;
                if !is_locked[with] {
                    self.offer(with, &mut moves, rng);
                }
            }
            let over = self.over(slack);
            // Gains from rounding errors would never end.
            if over < best.0 || (over == best.0 && sum > best.1 + 1e-9 * sum.abs()) {
                best = (over, sum, moved.len());
            }
        }
        for node in moved.drain(best.2..).rev() {
            self.flip(node);
        }
        best.2 > 0
    }

    fn offer(&self, node: usize, moves: &mut [BinaryHeap<SideMove>; 2], rng: &mut Xoshiro) {
        let gain = Ordered(self.gain[node]);
        let one = SideMove { gain, chance: rng.bits() as u32, node: node as u32 };
        moves[usize::from(self.second[node])].push(one);
    }

    fn computed_gain(&self, node: usize) -> f64 {
        self.graph.of(node).iter().map(|(with, weight)| weight * self.sign(node, *with)).sum()
    }

    /// The best move that keeps the balance, or improves it.
    fn top(
        &self,
        moves: &mut [BinaryHeap<SideMove>; 2],
        is_second: bool,
        is_locked: &[bool],
        stray: i64,
    ) -> Option<SideMove> {
        let moves = &mut moves[usize::from(is_second)];
        // The heap has a later entry for moved or changed nodes.
        let is_stale = |top: &SideMove| {
            let node = top.node as usize;
            is_locked[node] || top.gain.0 != self.gain[node]
        };
        while moves.peek().is_some_and(is_stale) {
            moves.pop();
        }
        let top = *moves.peek()?;
        let items = size(self.graph, top.node as usize);
        let excess = self.excess + if is_second { items } else { -items };
        (excess.abs() <= stray || excess.abs() < self.excess.abs()).then_some(top)
    }

    fn flip(&mut self, node: usize) {
        let items = size(self.graph, node);
        self.excess += if self.second[node] { items } else { -items };
        self.second[node] = !self.second[node];
        self.gain[node] = -self.gain[node];
        for (with, weight) in self.graph.of(node) {
            self.gain[*with as usize] += 2.0 * weight * self.sign(node, *with);
        }
    }

    /// An edge across the cut counts for a move, others against it.
    fn sign(&self, node: usize, with: u32) -> f64 {
        if self.second[with as usize] == self.second[node] { -1.0 } else { 1.0 }
    }
}

fn size(graph: &CutGraph, node: usize) -> i64 {
    i64::from(graph.size[node])
}
