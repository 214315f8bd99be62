//! A machine as units, the smallest parts of a pool.
//!
//! A unit is a core, because services on its hardware threads slow each other down. With fewer than
//! four cores a unit is one CPU, or there would be little to divide.

use seatmap_data::machine::{Profile, Pu};
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

/// The work of each further hardware thread, relative to the first: Hyper-Threading gave servers up
/// to 30 % (Marr et al. 2002, Intel Technology Journal 6(1)).
const SMT_GAIN: f64 = 0.3;

const FEW_CORES: usize = 4;

/// Assumed round trips between PUs that share a core, an L2 cache, an L3 cache, a node, a package,
/// or nothing: of the order that `seatmap measure` finds on servers of 2019 to 2024.
const ASSUMED_NS: [f64; 6] = [20.0, 30.0, 60.0, 120.0, 160.0, 280.0];

/// One unit.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolUnit {
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// The work that it does, relative to one CPU alone.
    pub capacity: f64,
    /// Its last-level cache, or its package if unknown.
    pub cache: usize,
    /// Its NUMA node.
    pub node: u32,
}

/// A machine in units, in the order of its hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct Units {
    /// The units.
    pub all: Vec<PoolUnit>,
    /// Round trips between units, in nanoseconds.
    pub distance_ns: Vec<Vec<f64>>,
    /// Whether the distances are assumed, not measured.
    pub distances_are_assumed: bool,
    /// The number of cache groups.
    pub caches: usize,
}

impl Units {
    /// The units of a machine, only of `allowed` CPUs, without those in `without`.
    pub fn of(profile: &Profile, allowed: Option<&CpuSet>, without: &CpuSet) -> Self {
        let pus: Vec<&Pu> = profile
            .topology
            .pus
            .iter()
            .filter(|pu| allowed.is_none_or(|allowed| allowed.contains(pu.os)))
            .filter(|pu| !without.contains(pu.os))
            .collect();
        let mut caches: BTreeMap<(Option<u32>, Option<u32>), usize> = BTreeMap::new();
        let mut all = Vec::new();
        let mut first_pus = Vec::new();
        for group in grouped(&pus) {
            let first = group[0];
            let next = caches.len();
            let cache = *caches.entry((first.package, first.l3)).or_insert(next);
            let threads = pus.iter().filter(|pu| first.core.is_some() && pu.core == first.core);
            let whole_core = threads.count().max(1);
            let core_capacity = 1.0 + SMT_GAIN * (whole_core as f64 - 1.0);
            all.push(PoolUnit {
                cpus: group.iter().map(|pu| pu.os).collect(),
                capacity: core_capacity * group.len() as f64 / whole_core as f64,
                cache,
                node: first.memory_node().unwrap_or(0),
            });
            first_pus.push(first);
        }
        Units {
            distance_ns: distances(profile, &all, &first_pus),
            all,
            distances_are_assumed: profile.core_distance.is_none(),
            caches: caches.len(),
        }
    }

    /// The CPUs of some units.
    pub fn cpus(&self, units: &[usize]) -> CpuSet {
        units.iter().flat_map(|at| self.all[*at].cpus.iter().copied()).collect()
    }

    /// The nodes of some units.
    pub fn nodes(&self, units: &[usize]) -> CpuSet {
        units.iter().map(|at| self.all[*at].node).collect()
    }

    /// The capacity of the whole machine.
    pub fn capacity(&self) -> f64 {
        self.all.iter().map(|unit| unit.capacity).sum()
    }

    /// The number of CPUs.
    pub fn cpu_count(&self) -> usize {
        self.all.iter().map(|unit| unit.cpus.len()).sum()
    }
}

fn grouped<'a>(pus: &[&'a Pu]) -> Vec<Vec<&'a Pu>> {
    let mut sorted = pus.to_vec();
    sorted.sort_by_key(|pu| ([pu.package, pu.numa, pu.die, pu.l3, pu.l2, pu.core], pu.smt, pu.os));
    let mut cores: Vec<Vec<&Pu>> = Vec::new();
    for pu in &sorted {
        match cores.last_mut() {
            Some(core) if pu.core.is_some() && core[0].core == pu.core => core.push(pu),
            _ => cores.push(vec![pu]),
        }
    }
    if cores.len() >= FEW_CORES {
        return cores;
    }
    sorted.into_iter().map(|pu| vec![pu]).collect()
}

fn distances(profile: &Profile, all: &[PoolUnit], first: &[&Pu]) -> Vec<Vec<f64>> {
    let units = || all.iter().zip(first);
    let row = |(a, first_a): (&PoolUnit, &&Pu)| {
        let cells = units().map(|(b, first_b)| {
            between(profile, a, b).unwrap_or_else(|| assumed_ns(first_a, first_b))
        });
        cells.collect()
    };
    units().map(row).collect()
}

/// The distance inside a unit is that of its hardware threads.
fn between(profile: &Profile, a: &PoolUnit, b: &PoolUnit) -> Option<f64> {
    let distance = profile.core_distance.as_ref()?;
    let from = distance.index_of(a.cpus[0])?;
    let other = if a.cpus == b.cpus { b.cpus.get(1)? } else { &b.cpus[0] };
    let to = distance.index_of(*other)?;
    Some(distance.median_ns[(from, to)]).filter(|ns| ns.is_finite() && *ns > 0.0)
}

fn assumed_ns(a: &Pu, b: &Pu) -> f64 {
    let same = [
        is_same(a.core, b.core) || a.os == b.os,
        is_same(a.l2, b.l2),
        is_same(a.l3, b.l3),
        is_same(a.numa, b.numa) && is_same(a.package, b.package),
        is_same(a.package, b.package),
        true,
    ];
    let level = same.iter().position(|same| *same).unwrap_or(ASSUMED_NS.len() - 1);
    ASSUMED_NS[level]
}

fn is_same(a: Option<u32>, b: Option<u32>) -> bool {
    a.is_some() && a == b
}
