//! The memory that services need, and the NUMA nodes with it.
//!
//! A service's memory is on its pool's nodes. Each node's goes to the pool whose last node is
//! nearest. A pool's nodes are a run, so no other order serves more (the convex case of Glover
//! 1967).

use super::cost::Pricing;
use super::demand::Demand;
use super::search::search;
use super::spans::UnitSpans;
use super::units::Units;
use super::{Members, places};
use crate::file::size_text;
use seatmap_data::document::{Failure, unfit};
use seatmap_data::statistics::words::joined;
use std::collections::BTreeMap;

/// Bisection steps, to a 1024th of the requested size.
const STEPS: u32 = 10;

const MOVES: usize = 1_000;

const MIB: u64 = 1 << 20;

/// By node, in the order of the units; infinite if unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeMemory {
    /// The nodes.
    pub nodes: Vec<u32>,
    /// The memory of each, in bytes.
    pub bytes: Vec<u64>,
}

impl NodeMemory {
    /// The memory of some units' nodes.
    pub fn of(units: &Units, known_bytes: &BTreeMap<u32, u64>) -> Self {
        let mut nodes: Vec<u32> = units.all.iter().map(|unit| unit.node).collect();
        nodes.dedup();
        let bytes = nodes.iter().map(|node| known_bytes.get(node).copied().unwrap_or(u64::MAX));
        NodeMemory { bytes: bytes.collect(), nodes }
    }

    fn ends(&self, nodes: impl Iterator<Item = u32>) -> [usize; 2] {
        let places = nodes.filter_map(|node| self.nodes.iter().position(|known| *known == node));
        places.fold([usize::MAX, 0], |[first, last], at| [first.min(at), last.max(at)])
    }
}

fn sum(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}

/// Needed between two indices of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolMemory {
    first: usize,
    last: usize,
    bytes: u64,
}

impl Demand {
    pub fn asks_for_memory(&self) -> bool {
        self.services.iter().any(|one| one.memory_bytes > 0 || one.memory_nodes.is_some())
    }

    pub fn pool_memory(&self, members: Members, nodes: impl Iterator<Item = u32>) -> PoolMemory {
        let [first, last] = self.node_memory.ends(nodes);
        let all = places(members).map(|at| self.services[at].memory_bytes);
        PoolMemory { first, last, bytes: sum(all) }
    }

    pub fn lacking_bytes(&self, pools: &mut [PoolMemory]) -> u64 {
        let mut lacking: u64 = 0;
        for (at, bytes) in self.node_memory.bytes.iter().enumerate() {
            let mut left = *bytes;
            loop {
                let waiting = pools.iter_mut().filter(|pool| pool.first <= at && pool.bytes > 0);
                let Some(next) = waiting.min_by_key(|pool| pool.last) else { break };
                let given = next.bytes.min(left);
                next.bytes -= given;
                left -= given;
                if left == 0 {
                    break;
                }
            }
            for pool in pools.iter_mut().filter(|pool| pool.last == at) {
                lacking = lacking.saturating_add(pool.bytes);
                pool.bytes = 0;
            }
        }
        lacking
    }

    /// One, and one more for each MiB.
    pub fn broken_by_bytes(lacking: u64) -> f64 {
        if lacking == 0 { 0.0 } else { 1.0 + (lacking / MIB) as f64 }
    }
}

pub fn check(demand: &Demand, units: &Units, machine: &str) -> Result<(), Failure> {
    let memory = &demand.node_memory;
    let known: seatmap_os::CpuSet = units.all.iter().map(|unit| unit.node).collect();
    let mut needed: u64 = 0;
    for service in &demand.services {
        let name = &service.name;
        if let Some(nodes) = &service.memory_nodes
            && !nodes.meets(&known)
        {
            let on = if known.len() == 1 { "node" } else { "nodes" };
            return unfit(format!(
                "service '{name}' has memory_nodes = \"{nodes}\", but the usable CPUs are on {on} \
                 {known}: name one of these"
            ));
        }
        if service.memory_bytes == 0 {
            continue;
        }
        if memory.bytes.contains(&u64::MAX) {
            return unfit(format!(
                "service '{name}' requests memory, but the memory of {machine} is unknown: write \
                 node_memory = \"SIZE\" below [computer], the memory of each NUMA node"
            ));
        }
        let may_have = memory.nodes.iter().zip(&memory.bytes).filter(|(node, _)| {
            service.memory_nodes.as_ref().is_none_or(|nodes| nodes.contains(**node))
        });
        let have = sum(may_have.map(|(_, bytes)| *bytes));
        if service.memory_bytes > have {
            let needed = size_text(service.memory_bytes);
            let have = size_text(have);
            return unfit(format!(
                "service '{name}' has memory = \"{needed}\", but its possible NUMA nodes have \
                 {have}: set memory = \"{have}\""
            ));
        }
        needed = needed.saturating_add(service.memory_bytes);
    }
    let have = sum(memory.bytes.iter().copied());
    if needed > have {
        let asking = demand.services.iter().filter(|one| one.memory_bytes > 0);
        let wishes = asking.map(|one| format!("{} {}", one.name, size_text(one.memory_bytes)));
        return unfit(format!(
            "the services need {} of memory ({}), but the NUMA nodes have {}: lower memory by {} \
             in total",
            size_text(needed),
            joined(wishes, ", "),
            size_text(have),
            size_text((needed - have).next_multiple_of(MIB))
        ));
    }
    Ok(())
}

/// The smallest cut of one service's memory that gives a plan, if memory prevents one.
pub fn smallest_change(demand: &Demand, units: &Units, spans: &UnitSpans) -> Option<Failure> {
    let mut without = demand.clone();
    for service in &mut without.services {
        service.memory_bytes = 0;
        service.memory_nodes = None;
    }
    if !fits(&without, units, spans) {
        return None;
    }
    let mut best: Option<(u64, String)> = None;
    for (at, service) in demand.services.iter().enumerate() {
        let asked = service.memory_bytes;
        let mut trial = demand.clone();
        trial.services[at].memory_bytes = 0;
        if asked == 0 || !fits(&trial, units, spans) {
            continue;
        }
        let mut ends = [0, asked];
        for _ in 0..STEPS {
            trial.services[at].memory_bytes = ends[0].midpoint(ends[1]);
            let middle = trial.services[at].memory_bytes;
            ends = if fits(&trial, units, spans) { [middle, ends[1]] } else { [ends[0], middle] };
        }
        let less = asked - ends[0];
        if best.as_ref().is_none_or(|(known, _)| less < *known) {
            let fitting = size_text(ends[0] / MIB * MIB);
            let why = format!(
                "no plan gives every service CPUs on NUMA nodes with its memory: set memory = \
                 \"{fitting}\" for '{}' instead of \"{}\"",
                service.name,
                size_text(asked)
            );
            best = Some((less, why));
        }
    }
    let why = best.map_or_else(
        || {
            "no plan gives every service CPUs on its memory_nodes; without memory_nodes there is \
             one: allow a service another node"
                .to_owned()
        },
        |(_, why)| why,
    );
    Some(Failure::input(why))
}

fn fits(demand: &Demand, units: &Units, spans: &UnitSpans) -> bool {
    search(&Pricing::new(demand, units), spans, MOVES).is_some()
}
