//! The parts of a machine whose bandwidth is measured, and the order of their threads.

use seatmap_data::machine::{BandwidthGroup, Level, Pu, Topology};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Several parts of each of these may share one memory, and each may be the narrowest way to it.
const LEVELS: [Level; 3] = [Level::L3, Level::Numa, Level::Package];

/// The L3 caches, NUMA nodes and packages with several of these CPUs, without curves, and their
/// numbers of cores. Parts with the same CPUs are one. All CPUs are one part if none.
pub fn parts(topology: &Topology, pus: &[u32]) -> Vec<(BandwidthGroup, usize)> {
    let pus: Vec<&Pu> = pus.iter().filter_map(|os| topology.pu(*os)).collect();
    let mut found: Vec<(BandwidthGroup, usize)> = Vec::new();
    for level in LEVELS {
        let mut parts: BTreeMap<u32, Vec<&Pu>> = BTreeMap::new();
        for pu in &pus {
            if let Some(part) = level.of(pu) {
                parts.entry(part).or_default().push(pu);
            }
        }
        for members in parts.into_values().filter(|members| members.len() > 1) {
            let part = part(level.name(), &members);
            match found.iter_mut().find(|(other, _)| other.pus == part.0.pus) {
                Some((other, _)) => other.levels.extend(part.0.levels),
                None => found.push(part),
            }
        }
    }
    if found.is_empty() { vec![part("machine", &pus)] } else { found }
}

/// Threads are added where they share least: in turn in each node and L3 cache, one per core, and
/// only then on the cores' other hardware threads.
fn part(level: &str, members: &[&Pu]) -> (BandwidthGroup, usize) {
    let smt = ranks(members, |pu| Some(pu.os), core);
    // With sub-NUMA clustering, several nodes share an L3 cache.
    let cores = ranks(members, core, |pu| (pu.l3, pu.numa));
    let caches = ranks(members, |pu| pu.l3, |pu| pu.numa);
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|at| (smt[*at], cores[*at], caches[*at], members[*at].numa, *at));
    let first_of_cores = smt.iter().filter(|rank| **rank == 0).count();
    let pus = order.iter().map(|at| members[*at].os).collect();
    let levels = vec![level.to_owned()];
    (BandwidthGroup { levels, pus, ..BandwidthGroup::default() }, first_of_cores)
}

/// An unknown core has one thread.
fn core(pu: &Pu) -> Option<u32> {
    pu.core.or(Some(pu.os))
}

/// For each PU the rank of its part among the parts inside the same whole, by first appearance.
fn ranks<Whole: Eq + Hash>(
    members: &[&Pu],
    part: fn(&Pu) -> Option<u32>,
    whole: fn(&Pu) -> Whole,
) -> Vec<usize> {
    let mut known: HashMap<Whole, Vec<Option<u32>>> = HashMap::new();
    let ranks = members.iter().map(|pu| {
        let parts = known.entry(whole(pu)).or_default();
        parts.iter().position(|other| *other == part(pu)).unwrap_or_else(|| {
            parts.push(part(pu));
            parts.len() - 1
        })
    });
    ranks.collect()
}
