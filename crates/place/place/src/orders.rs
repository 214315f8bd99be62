//! Compact and scatter: the common placements without measurements.

use seatmap_data::machine::{Matrix, Pu, Topology};
use seatmap_data::statistics::Ordered;

/// Neighbours share as much as possible: package by package, cache by cache, SMT siblings together.
/// Without cores, `distance` (in the order of `pus`) decides.
pub fn compact(topology: &Topology, pus: &[u32], distance: &Matrix) -> Vec<u32> {
    match along(topology, pus) {
        Some(order) => order.into_iter().map(|pu| pu.os).collect(),
        None => chain(pus, distance, f64::min),
    }
}

/// Each PU shares as little as possible with earlier ones: alternating packages, then caches, then
/// cores; SMT siblings last.
pub fn scatter(topology: &Topology, pus: &[u32], distance: &Matrix) -> Vec<u32> {
    let Some(order) = along(topology, pus) else { return chain(pus, distance, f64::max) };
    // The rank of a PU in its core, a core in its cache, or a cache in its package.
    let rank =
        |pu: &Pu, group: &dyn Fn(&Pu) -> Option<u32>, member: &dyn Fn(&Pu) -> Option<u32>| {
            let mut members: Vec<Option<u32>> = order
                .iter()
                .filter(|other| other.package == pu.package && group(other) == group(pu))
                .map(|o| member(o))
                .collect();
            members.dedup();
            members.iter().position(|other| *other == member(pu))
        };
    let mut keyed: Vec<_> = order
        .iter()
        .map(|pu| {
            let smt = rank(pu, &|pu| pu.core, &|pu| Some(pu.os));
            let core = rank(pu, &|pu| pu.l3, &|pu| pu.core);
            let cache = rank(pu, &|pu| pu.package, &|pu| pu.l3);
            ((smt, core, cache, pu.package, pu.os), pu.os)
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, os)| os).collect()
}

/// From the outside to the inside; `None` without cores.
fn along<'a>(topology: &'a Topology, pus: &[u32]) -> Option<Vec<&'a Pu>> {
    let found = pus.iter().map(|os| topology.pu(*os).filter(|pu| pu.core.is_some()));
    let mut order = found.collect::<Option<Vec<&Pu>>>()?;
    order.sort_by_key(|pu| (pu.package, pu.numa, pu.die, pu.l3, pu.l2, pu.core, pu.smt, pu.os));
    Some(order)
}

/// From the first PU, then the nearest to the last, or the farthest from all.
fn chain(pus: &[u32], distance: &Matrix, pick: fn(f64, f64) -> f64) -> Vec<u32> {
    let is_near = pick(1.0, 2.0) == 1.0;
    let mut left: Vec<usize> = (1..pus.len()).collect();
    let mut order = vec![0_usize; usize::from(!pus.is_empty())];
    let mut apart = vec![f64::MAX; pus.len()];
    while let Some(last) = order.last().copied().filter(|_| !left.is_empty()) {
        left.iter().for_each(|at| apart[*at] = apart[*at].min(distance[(last, *at)]));
        let keys = left.iter().map(|at| if is_near { distance[(last, *at)] } else { -apart[*at] });
        let next =
            keys.map(Ordered).enumerate().min_by_key(|(_, key)| *key).map_or(0, |(at, _)| at);
        order.push(left.remove(next));
    }
    order.into_iter().map(|at| pus[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_fills_package_and_scatter_alternates_packages() {
        let pu = |os: u32, package: u32, l3: u32, core: u32| Pu {
            os,
            package: Some(package),
            l3: Some(l3),
            core: Some(core),
            ..Pu::default()
        };
        // Siblings 0/4, 1/5, 2/6, 3/7; caches of one core each; packages {0,1} and {2,3}.
        let pus = (0..8).map(|os| pu(os, os % 4 / 2, os % 4, os % 4)).collect();
        let topology = Topology { pus };
        let all = (0..8).collect::<Vec<u32>>();
        let distance = Matrix::filled(8, 1.0);
        assert_eq!(compact(&topology, &all, &distance), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(scatter(&topology, &all, &distance), [0, 2, 1, 3, 4, 6, 5, 7]);
    }

    #[test]
    fn orders_use_distances_without_topology() {
        let at = [0.0_f64, 10.0, 1.0, 11.0];
        let distance = Matrix::from_fn(4, |i, j| (at[i] - at[j]).abs());
        let topology = Topology::unknown(0..4);
        assert_eq!(compact(&topology, &[0, 1, 2, 3], &distance), [0, 2, 1, 3]);
        assert_eq!(scatter(&topology, &[0, 1, 2, 3], &distance), [0, 3, 1, 2]);
    }
}
