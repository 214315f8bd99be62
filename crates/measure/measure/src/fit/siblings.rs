//! Which PUs are hardware threads of one core.

use super::linkage::renumbered;
use seatmap_data::machine::{CoreDistance, Matrix, Topology};
use seatmap_data::statistics::{Ordered, least, median};

/// SMT siblings take 8-20 ns on today's parts, at most 25 ns in the published matrices; different
/// cores take at least 30 ns.
const MOST_NS: f64 = 30.0;
/// The largest ratio of siblings' distance to that of the nearest third PU: for each pair, and for
/// the median.
const NEARER: f64 = 0.85;
const NEARER_IN_THE_MEDIAN: f64 = 0.67;
/// Partners within this factor are equally near: a clock's step may hide the difference.
const AS_NEAR: f64 = 1.05;

/// The core of each PU in `distance.pus`: from the topology, otherwise from the distances.
pub fn cores(distance: &CoreDistance, topology: &Topology) -> Vec<usize> {
    if distance.pus.iter().any(|os| core_of(topology, *os).is_some()) {
        let pus = distance.pus.iter().enumerate();
        let cores = pus.map(|(at, os)| core_of(topology, *os).ok_or(at));
        return renumbered(&cores.collect::<Vec<_>>());
    }
    from_distances(&distance.median_ns)
}

fn core_of(topology: &Topology, os: u32) -> Option<u32> {
    topology.pu(os).and_then(|pu| pu.core)
}

/// With four hardware threads per core, or slower clocks, the topology must list the siblings.
fn from_distances(d: &Matrix) -> Vec<usize> {
    let pairs = matched(d);
    let between = median(pairs.iter().map(|pair| pair.distance));
    let to_third = median(pairs.iter().map(|pair| pair.to_third));
    let believed = match (between, to_third) {
        (Some(between), Some(to_third)) => between <= NEARER_IN_THE_MEDIAN * to_third,
        _ => false,
    };
    let mut core: Vec<usize> = (0..d.n()).collect();
    // All or none: without SMT a few neighbours may be near by chance.
    for pair in pairs.iter().filter(|_| believed) {
        core[pair.j] = pair.i;
    }
    renumbered(&core)
}

struct Pair {
    i: usize,
    j: usize,
    distance: f64,
    to_third: f64,
}

fn matched(d: &Matrix) -> Vec<Pair> {
    let nearest: Vec<f64> = (0..d.n()).map(|i| nearest(d, i)).collect();
    let mut pairs: Vec<Pair> = d
        .pairs()
        .filter(|(i, j, distance)| {
            **distance <= MOST_NS.min(AS_NEAR * nearest[*i].min(nearest[*j]))
        })
        .map(|(i, j, distance)| Pair { i, j, distance: *distance, to_third: to_third(d, i, j) })
        .filter(|pair| pair.distance <= NEARER * pair.to_third && pair.to_third.is_finite())
        .collect();
    pairs.sort_by_key(|pair| (Ordered(pair.distance), pair.j - pair.i));
    let mut taken = vec![false; d.n()];
    pairs.retain(|pair| {
        let free = !taken[pair.i] && !taken[pair.j];
        taken[pair.i] |= free;
        taken[pair.j] |= free;
        free
    });
    pairs
}

fn nearest(d: &Matrix, i: usize) -> f64 {
    let others = d.row(i).iter().enumerate().filter(|(j, cell)| *j != i && cell.is_finite());
    least(others.map(|(_, cell)| cell))
}

fn to_third(d: &Matrix, i: usize, j: usize) -> f64 {
    let both = (0..d.n()).filter(|k| *k != i && *k != j).map(|k| 0.5 * (d[(i, k)] + d[(j, k)]));
    least(both.filter(|mean| mean.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles_for_tests::distance;
    use seatmap_data::machine::Pu;

    #[test]
    fn much_nearer_pairs_are_siblings() {
        let smt = distance(0..6, |i, j| if i % 3 == j % 3 { 15.0 } else { 40.0 + (i + j) as f64 });
        assert_eq!(cores(&smt, &Topology::default()), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn tiles_and_flat_machines_have_no_siblings() {
        let tiles = distance(0..6, |i, j| if i / 2 == j / 2 { 82.0 } else { 180.0 });
        assert_eq!(cores(&tiles, &Topology::default()), [0, 1, 2, 3, 4, 5]);
        let flat = distance(0..4, |i, j| 25.0 + ((i * j) % 3) as f64);
        assert_eq!(cores(&flat, &Topology::default()), [0, 1, 2, 3]);
        assert_eq!(cores(&distance(0..2, |_, _| 12.0), &Topology::default()), [0, 1]);
    }

    #[test]
    fn topology_overrides_the_distances() {
        let pus = (0..4).map(|os| Pu { os, core: Some(7 * (os % 2)), ..Pu::default() }).collect();
        assert_eq!(cores(&distance(0..4, |_, _| 500.0), &Topology { pus }), [0, 1, 0, 1]);
    }
}
