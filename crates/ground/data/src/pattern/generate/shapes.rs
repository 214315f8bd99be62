//! Regular patterns, edge by edge.

use super::{Edges, at_most};
use crate::pattern::Edge;
use crate::statistics::words::counted;

/// The patterns with one number as their parameter; `both` is for rings.
pub fn simple(name: &str, n: usize, both: bool) -> Result<Edges, String> {
    let edges: Vec<Edge> = match name {
        "ring" => ring(n, both),
        "pipeline" => (1..n).map(|task| Edge::unit(task - 1, task)).collect(),
        "pairs" if n % 2 == 1 => {
            return Err(format!("{} cannot be paired (N must be even)", counted(n, "task")));
        }
        "pairs" => (0..n / 2).flat_map(|at| pair(2 * at, 2 * at + 1)).collect(),
        "master-worker" => (1..n).flat_map(|worker| pair(0, worker)).collect(),
        // `task & (task - 1)` clears the lowest bit of the number, which gives the parent's.
        "binomial-tree" => (1..n).map(|task| Edge::unit(task & (task - 1), task)).collect(),
        "recursive-doubling" => recursive_doubling(n)?,
        "butterfly" if !n.is_power_of_two() => return Err(format!("{n} is not a power of two")),
        "butterfly" => exchanges(n)?,
        "all-to-all" => return clusters([1, n]),
        _ => Vec::new(),
    };
    Ok((n, edges))
}

fn pair(a: usize, b: usize) -> [Edge; 2] {
    [Edge::unit(a, b), Edge::unit(b, a)]
}

fn ring(n: usize, both: bool) -> Vec<Edge> {
    let links = (0..if n > 1 { n } else { 0 }).map(|at| (at, (at + 1) % n));
    let back = links.clone().filter(|_| both).map(|(at, next)| Edge::unit(next, at));
    links.map(|(at, next)| Edge::unit(at, next)).chain(back).collect()
}

fn exchanges(n: usize) -> Result<Vec<Edge>, String> {
    let bits = n.ilog2();
    at_most(n * bits as usize)?;
    Ok((0..n)
        .flat_map(|task| (0..bits).map(move |bit| Edge::unit(task, task ^ (1 << bit))))
        .collect())
}

/// Thakur, Rabenseifner & Gropp (2005, "Optimization of collective communication operations in
/// MPICH"): for r tasks beyond a power of two, the even ones of the first 2r tasks send their part
/// to the odd ones and get the result back.
fn recursive_doubling(n: usize) -> Result<Vec<Edge>, String> {
    let power = 1 << n.ilog2();
    let excess = n - power;
    let core = exchanges(power)?
        .into_iter()
        .map(|edge| Edge::unit(task_of_rank(excess, edge.from), task_of_rank(excess, edge.to)));
    Ok(core.chain((0..excess).flat_map(|at| pair(2 * at, 2 * at + 1))).collect())
}

fn task_of_rank(excess: usize, rank: usize) -> usize {
    // The even ones of the first tasks do not take part: the odd ones have the lowest ranks.
    if rank < excess { 2 * rank + 1 } else { rank + excess }
}

/// A grid with these sides, the last one counting fastest; each task with its neighbours along each
/// side.
pub fn stencil(sides: &[usize], periodic: bool) -> Edges {
    let tasks: usize = sides.iter().product();
    let mut edges = Vec::new();
    let mut stride = tasks;
    for side in sides {
        stride /= side;
        for task in 0..tasks {
            let at = task / stride % side;
            let next = if at + 1 < *side {
                task + stride
            } else if periodic && *side > 2 {
                // With a side of two, both directions lead to the same neighbour.
                task - at * stride
            } else {
                continue;
            };
            edges.extend(pair(task, next));
        }
    }
    (tasks, edges)
}

/// The first side counts the clusters, the second their members.
pub fn clusters([clusters, members]: [usize; 2]) -> Result<Edges, String> {
    at_most(clusters.saturating_mul(members).saturating_mul(members - 1))?;
    Ok((
        clusters * members,
        (0..clusters)
            .flat_map(|cluster| {
                let first = cluster * members;
                let pairs = (0..members).flat_map(move |a| (0..members).map(move |b| (a, b)));
                pairs.filter(|(a, b)| a != b).map(move |(a, b)| Edge::unit(first + a, first + b))
            })
            .collect(),
    ))
}
