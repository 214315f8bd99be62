//! Graphs that shrink by merging neighbours.

use crate::Traffic;
use seatmap_data::statistics::Xoshiro;

/// A node represents one or several items.
pub struct CutGraph {
    first: Vec<u32>,
    edges: Vec<(u32, f64)>,
    pub size: Vec<u32>,
}

/// Merges nodes of at most `largest` items together, on one side.
pub struct JoinedNodes<'a> {
    graph: &'a CutGraph,
    largest: u32,
    sides: Option<&'a [bool]>,
    pub new_of: Vec<u32>,
    pub nodes: u32,
}

/// Nodes with more neighbours take too long.
const MOST_NEIGHBOURS: usize = 200;

/// Nodes with more neighbours always find one to merge with.
const FEW_NEIGHBOURS: usize = 3;

impl CutGraph {
    /// The traffic among some items. `place_of` is `u32::MAX` for all tasks, before and after.
    pub fn among(traffic: &Traffic, items: &[u32], place_of: &mut [u32]) -> Self {
        for (place, item) in items.iter().enumerate() {
            if let Some(cell) = place_of.get_mut(*item as usize) {
                *cell = place as u32;
            }
        }
        let mut graph = CutGraph { first: vec![0], edges: Vec::new(), size: vec![1; items.len()] };
        for item in items {
            if (*item as usize) < traffic.tasks() {
                let inside = traffic
                    .of(*item as usize)
                    .map(|(with, weight)| (place_of[with], weight))
                    .filter(|(with, _)| *with != u32::MAX);
                graph.edges.extend(inside);
            }
            graph.first.push(graph.edges.len() as u32);
        }
        for item in items {
            if let Some(cell) = place_of.get_mut(*item as usize) {
                *cell = u32::MAX;
            }
        }
        graph
    }

    pub fn nodes(&self) -> usize {
        self.size.len()
    }

    #[inline]
    pub fn of(&self, node: usize) -> &[(u32, f64)] {
        &self.edges[self.first[node] as usize..self.first[node + 1] as usize]
    }

    pub fn items(&self) -> i64 {
        self.size.iter().map(|size| i64::from(*size)).sum()
    }

    pub fn largest(&self) -> u32 {
        self.size.iter().copied().max().unwrap_or(1)
    }

    pub fn cut(&self, second: &[bool]) -> f64 {
        (0..self.nodes())
            .filter(|node| !second[*node])
            .flat_map(|node| self.of(node).iter().filter(|(with, _)| second[*with as usize]))
            .map(|(_, weight)| weight)
            .sum()
    }

    /// Merges each node with a neighbour, preferring heavy edges and small nodes (the rating of
    /// Holtgrewe, Sanders & Schulz 2010). Remaining nodes with few neighbours merge with a
    /// neighbour's neighbour, the only partner for a tree's leaves.
    pub fn joined<'a>(
        &'a self,
        largest: u32,
        sides: Option<&'a [bool]>,
        rng: &mut Xoshiro,
    ) -> JoinedNodes<'a> {
        let mut order: Vec<usize> = (0..self.nodes()).collect();
        rng.shuffle(&mut order);
        let new_of = vec![u32::MAX; self.nodes()];
        let mut joined = JoinedNodes { graph: self, largest, sides, new_of, nodes: 0 };
        for node in &order {
            if joined.is_free(*node)
                && let Some(with) = joined.heaviest(*node, rng)
            {
                joined.join([*node, with]);
            }
        }
        // Nodes without edges merge with each other.
        let mut alone: [Option<usize>; 2] = [None; 2];
        for node in order {
            if !joined.is_free(node) {
                continue;
            }
            if !self.of(node).is_empty() {
                match joined.neighbours_neighbour(node) {
                    Some(with) => joined.join([node, with]),
                    None => joined.join([node]),
                }
                continue;
            }
            let alone = &mut alone[sides.map_or(0, |second| usize::from(second[node]))];
            match alone.take() {
                Some(with) if joined.fit(node, with) => joined.join([node, with]),
                with => {
                    with.into_iter().for_each(|with| joined.join([with]));
                    *alone = Some(node);
                }
            }
        }
        alone.into_iter().flatten().for_each(|node| joined.join([node]));
        joined
    }

    pub fn contracted(&self, JoinedNodes { new_of, nodes, .. }: &JoinedNodes) -> Self {
        let nodes = *nodes as usize;
        let mut size = vec![0; nodes];
        let mut members: Vec<Vec<u32>> = vec![Vec::with_capacity(2); nodes];
        for (node, new) in new_of.iter().enumerate() {
            size[*new as usize] += self.size[node];
            members[*new as usize].push(node as u32);
        }
        let mut graph = CutGraph { first: vec![0], edges: Vec::new(), size };
        // The cell of the edge to each node in the current row.
        let mut cell_of = vec![usize::MAX; nodes];
        for (new, members) in members.iter().enumerate() {
            let row = graph.edges.len();
            for (with, weight) in members.iter().flat_map(|node| self.of(*node as usize)) {
                let with = new_of[*with as usize] as usize;
                if with == new {
                    continue;
                }
                // Smaller indices belong to earlier rows.
                if cell_of[with] == usize::MAX || cell_of[with] < row {
                    cell_of[with] = graph.edges.len();
                    graph.edges.push((with as u32, *weight));
                } else {
                    graph.edges[cell_of[with]].1 += weight;
                }
            }
            graph.first.push(graph.edges.len() as u32);
        }
        graph
    }
}

impl JoinedNodes<'_> {
    fn is_free(&self, node: usize) -> bool {
        self.new_of[node] == u32::MAX
    }

    fn join<const N: usize>(&mut self, nodes: [usize; N]) {
        nodes.into_iter().for_each(|node| self.new_of[node] = self.nodes);
        self.nodes += 1;
    }

    fn fit(&self, node: usize, with: usize) -> bool {
        self.graph.size[node] + self.graph.size[with] <= self.largest
    }

    fn may_join(&self, node: usize, with: usize) -> bool {
        node != with
            && self.is_free(with)
            && self.fit(node, with)
            && self.sides.is_none_or(|second| second[node] == second[with])
    }

    /// The rating combines edge weight and sizes.
    fn heaviest(&self, node: usize, rng: &mut Xoshiro) -> Option<usize> {
        let CutGraph { size, .. } = self.graph;
        let mut best = 0.0;
        let mut found = None;
        for (with, weight) in self.graph.of(node) {
            let with = *with as usize;
            if self.may_join(node, with) {
                let sizes = f64::from(size[node]) * f64::from(size[with]);
                let rating = weight * weight / sizes * (0.95 + 0.1 * rng.unit());
                if rating > best {
                    (best, found) = (rating, Some(with));
                }
            }
        }
        found
    }

    fn neighbours_neighbour(&self, node: usize) -> Option<usize> {
        let of = |node: usize| self.graph.of(node);
        if of(node).len() > FEW_NEIGHBOURS {
            return None;
        }
        let through = of(node).iter().map(|(with, _)| of(*with as usize));
        through
            .filter(|edges| edges.len() <= MOST_NEIGHBOURS)
            .flatten()
            .map(|(with, _)| *with as usize)
            .filter(|with| of(*with).len() <= FEW_NEIGHBOURS)
            .find(|with| self.may_join(node, *with))
    }
}
