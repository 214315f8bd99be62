//! Upper bounds on the number of edges inside any set of vertices.

use crate::Traffic;

/// With more pairs, quadratic time is too long.
const MOST_PAIRS: usize = 1500;

#[derive(Debug)]
pub struct GraphShape {
    tasks: usize,
    pairs: usize,
    /// Edges beyond those of a forest.
    cycles: usize,
    girth: usize,
    /// The fewest known trees whose product contains the graph.
    trees: Option<usize>,
}

impl GraphShape {
    pub fn new(traffic: &Traffic) -> Self {
        let tasks = traffic.tasks();
        let apart: Vec<Vec<u32>> = (0..tasks).map(|from| steps_from(traffic, from)).collect();
        let components = (0..tasks)
            .filter(|task| (0..*task).all(|before| apart[*task][before] == u32::MAX))
            .count();
        GraphShape {
            tasks,
            pairs: traffic.pairs(),
            cycles: traffic.pairs() + components - tasks,
            girth: girth(traffic, &apart),
            trees: trees(traffic, &apart),
        }
    }

    /// The most edges inside any `size` of the vertices.
    ///
    /// Fewer vertices than the shortest cycle form a forest. In a hypercube the vertices numbered
    /// from 0 have the most edges (Harper 1964; Hart 1976). In a product of k trees, vertices that
    /// agree in all but one coordinate form a forest; Loomis & Whitney (1949) bound the number of
    /// such lines from below.
    pub fn most_edges(&self, size: usize) -> usize {
        if size < 2 {
            return 0;
        }
        if size >= self.tasks {
            return self.pairs;
        }
        let mut most = self.pairs.min(size * (size - 1) / 2).min(size - 1 + self.cycles);
        if size < self.girth {
            most = most.min(size - 1);
        }
        if let Some(trees) = self.trees {
            let cube: u32 = (0..size).map(usize::count_ones).sum();
            let k = trees as f64;
            let s = size as f64;
            // The root is inexact: do not lose a whole number.
            let product = (k * s - k * s.powf(1.0 - 1.0 / k) + 1e-6).floor() as usize;
            most = most.min(cube as usize).min(product);
        }
        most
    }
}

/// `u32::MAX` if unreachable.
fn steps_from(traffic: &Traffic, from: usize) -> Vec<u32> {
    let mut steps = vec![u32::MAX; traffic.tasks()];
    steps[from] = 0;
    let mut reached = vec![from];
    let mut at = 0;
    while at < reached.len() {
        let task = reached[at];
        at += 1;
        for (with, _) in traffic.of(task) {
            if steps[with] == u32::MAX {
                steps[with] = steps[task] + 1;
                reached.push(with);
            }
        }
    }
    steps
}

/// `usize::MAX` without cycles.
fn girth(traffic: &Traffic, apart: &[Vec<u32>]) -> usize {
    let mut girth = usize::MAX;
    for steps in apart {
        for task in (0..traffic.tasks()).filter(|task| steps[*task] != u32::MAX) {
            let nearer = traffic.of(task).filter(|(with, _)| steps[*with] + 1 == steps[task]);
            // Two shortest paths make an even cycle, or a shorter one; an edge between equal
            // distances makes an odd one.
            if nearer.count() > 1 {
                girth = girth.min(2 * steps[task] as usize);
            }
            if traffic.of(task).any(|(with, _)| steps[with] == steps[task]) {
                girth = girth.min(2 * steps[task] as usize + 1);
            }
        }
    }
    girth
}

/// The number of trees whose product contains the graph, with each edge along one tree.
///
/// Opposite edges of a shortest cycle belong to one class (Djokovic 1973; Winkler 1984). If each
/// class divides the vertices in two, and no two vertices are on the same side of all classes, the
/// graph is part of a hypercube. Classes that do not cross are the edges of one tree.
fn trees(traffic: &Traffic, apart: &[Vec<u32>]) -> Option<usize> {
    let tasks = traffic.tasks();
    if traffic.pairs() > MOST_PAIRS || tasks < 2 || apart[0].contains(&u32::MAX) {
        return None;
    }
    let edges: Vec<(usize, usize)> = traffic.edges().map(|(a, b, _)| (a, b)).collect();
    // A hypercube has no odd cycles.
    if edges.iter().any(|(a, b)| apart[0][*a] == apart[0][*b]) {
        return None;
    }
    let mut sides: Vec<Vec<bool>> = Vec::new();
    let mut is_classed = vec![false; edges.len()];
    for at in 0..edges.len() {
        if is_classed[at] {
            continue;
        }
        let (a, b) = edges[at];
        let side: Vec<bool> = (0..tasks).map(|task| apart[task][a] < apart[task][b]).collect();
        for (other, (x, y)) in edges.iter().enumerate().filter(|(_, (x, y))| side[*x] != side[*y]) {
            debug_assert!(x != y);
            if std::mem::replace(&mut is_classed[other], true) {
                return None;
            }
        }
        sides.push(side);
    }
    let mut labels: Vec<Vec<bool>> =
        (0..tasks).map(|task| sides.iter().map(|side| side[task]).collect()).collect();
    labels.sort_unstable();
    if labels.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    let mut families: Vec<Vec<usize>> = Vec::new();
    for class in 0..sides.len() {
        let fits =
            |family: &&mut Vec<usize>| family.iter().all(|of| !cross(&sides[*of], &sides[class]));
        match families.iter_mut().find(fits) {
            Some(family) => family.push(class),
            None => families.push(vec![class]),
        }
    }
    Some(families.len())
}

fn cross(a: &[bool], b: &[bool]) -> bool {
    let mut corners = [false; 4];
    a.iter().zip(b).for_each(|(a, b)| corners[usize::from(*a) * 2 + usize::from(*b)] = true);
    corners == [true; 4]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::traffic;
    use seatmap_data::statistics::Xoshiro;

    fn shape(spec: &str) -> GraphShape {
        GraphShape::new(&traffic(spec))
    }

    #[test]
    fn products_of_trees_are_recognized() {
        assert_eq!(shape("binomial-tree:32").trees, Some(1));
        assert_eq!(shape("stencil2d:5x7").trees, Some(2));
        assert_eq!(shape("stencil3d:3x4x5").trees, Some(3));
        assert_eq!(shape("butterfly:32").trees, Some(5));
        assert_eq!(shape("recursive-doubling:20").trees, Some(4), "four more hang on it");
        assert_eq!(shape("all-to-all:5").trees, None);
        assert_eq!(shape("ring:9").trees, None);
    }

    #[test]
    fn edge_bound_of_known_graphs_is_exact() {
        assert_eq!(shape("stencil2d:8x8").most_edges(16), 24);
        assert_eq!(shape("butterfly:64").most_edges(16), 32);
        assert_eq!(shape("ring:9").most_edges(8), 7);
        assert_eq!(shape("ring:9").most_edges(9), 9);
        assert_eq!(shape("binomial-tree:64").most_edges(32), 31);
    }

    #[test]
    fn edge_bound_covers_every_vertex_set() {
        let mut rng = Xoshiro::new(5);
        let known = [
            "stencil2d:3x4",
            "stencil3d:2x2x3",
            "butterfly:8",
            "recursive-doubling:11",
            "ring:10",
            "ring:9",
            "binomial-tree:12",
        ];
        let mut held: Vec<Traffic> = known.map(traffic).into();
        for _ in 0..60 {
            let n = 3 + rng.below(8);
            let edges = 1 + rng.below(2 * n);
            held.push(Traffic::new(n, (0..edges).map(|_| (rng.below(n), rng.below(n), 1.0))));
        }
        for traffic in held {
            let shape = GraphShape::new(&traffic);
            for set in 0_u32..1 << traffic.tasks() {
                let is_in = |task: usize| set >> task & 1 == 1;
                let inside = traffic.edges().filter(|(a, b, _)| is_in(*a) && is_in(*b)).count();
                let most = shape.most_edges(set.count_ones() as usize);
                assert!(inside <= most, "{traffic:?} {set:b}");
            }
        }
    }
}
