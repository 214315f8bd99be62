//! The objective: the time that services lose, in percent of the CPU time that they want, on
//! average over all services.
//!
//! | term | is | source |
//! |---|---|---|
//! | waiting | threads that are ready but have no CPU | Erlang 1917, the M/M/inf queue |
//! | sharing | switches between threads of two services on one CPU | Li, Ding & Shen 2007 |
//! | caches | neighbours in one last-level cache | Lo et al. 2015 (Heracles) |
//! | talk | messages between and inside services, by core distances | this machine's profile |
//! | memory | memory of another NUMA node, and a device of another node | |
//!
//! All services have equal weight: a one-thread cache behind a hundred workers loses as much as
//! they would. Services that want less than [`SMALL_CPUS`] count in proportion, or an idle one
//! would decide everything.
//!
//! Within a slice, ready or running threads are taken as Poisson distributed, like requests without
//! a queue (M/M/inf), in the normal approximation. Waiting is the mean excess over the capacity.
//! Leftover work remains for the next slice, so a set below the mean load is worst.

use super::demand::Demand;
use super::units::Units;
use super::{Members, Pool, places};
use seatmap_data::statistics::signed_rank::normal_share;
use seatmap_os::CpuSet;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// The share of a CPU's time lost if two services' threads take turns with cold caches. Li, Ding &
/// Shen 2007 found tens of microseconds to a millisecond per switch; 100 us in turns of 3 ms are
/// 3 %.
const SHARING: f64 = 0.03;

/// The share of a busy CPU lost to a neighbour in the last-level cache. Lo et al. 2015 (Heracles,
/// ISCA) found slowdowns from none to several times; 5 % is at the low end.
const CACHES: f64 = 0.05;

/// Cache lines that move for one message through the kernel: an assumption. A futex wake moves a
/// few, a local socket some dozens.
const LINES: f64 = 16.0;

/// The share of a CPU lost if all memory is on another node: an assumption. Remote accesses take
/// 1.4 to 2 times as long on servers of two packages, and a third of the time goes to memory.
const FAR_MEMORY: f64 = 0.2;

/// An assumption: half of [`FAR_MEMORY`].
const FAR_DEVICE: f64 = 0.1;

/// Services that want fewer CPUs have less weight.
pub const SMALL_CPUS: f64 = 0.05;

/// The terms of the objective, in percent of the wanted time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostTerms {
    /// Waiting for a CPU.
    pub waiting_percent: f64,
    /// Switches between services.
    pub sharing_percent: f64,
    /// Neighbours in a cache.
    pub caches_percent: f64,
    /// Messages.
    pub talk_percent: f64,
    /// Far memory and devices.
    pub memory_percent: f64,
}

impl CostTerms {
    /// The sum of all terms.
    pub fn total(&self) -> f64 {
        self.waiting_percent
            + self.sharing_percent
            + self.caches_percent
            + self.talk_percent
            + self.memory_percent
    }

    fn add(&mut self, other: CostTerms) {
        self.waiting_percent += other.waiting_percent;
        self.sharing_percent += other.sharing_percent;
        self.caches_percent += other.caches_percent;
        self.talk_percent += other.talk_percent;
        self.memory_percent += other.memory_percent;
    }
}

/// The mean number of waiting threads, if on average `wanted` are ready or running.
pub fn waiting(wanted: f64, capacity: f64) -> f64 {
    if wanted <= 0.0 {
        return 0.0;
    }
    let deviation = wanted.sqrt();
    let above = (wanted - capacity) / deviation;
    if above < -6.0 {
        return 0.0;
    }
    if above > 6.0 {
        return wanted - capacity;
    }
    let density = (-0.5 * above * above).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (deviation * (density + above * normal_share(above))).clamp(0.0, wanted)
}

/// The properties of a set that decide its cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetFacts {
    /// The work that it does, relative to one CPU alone.
    pub capacity: f64,
    /// The number of its CPUs.
    pub cpus: usize,
    /// Its CPUs.
    pub cpu_set: CpuSet,
    /// The mean round trip between its units, in nanoseconds.
    pub inside_ns: f64,
    /// The share of accesses to another node, if memory is spread like the units.
    pub spread: f64,
    /// The share of its units on each node.
    pub node_shares: Vec<(u32, f64)>,
    /// The share of its units in each last-level cache.
    pub cache_shares: Vec<f64>,
}

impl SetFacts {
    /// The facts about a set.
    pub fn of(units: &Units, set: &[usize]) -> Self {
        let inside_ns = mean_distance_ns(units, set, set);
        SetFacts { inside_ns, ..SetFacts::without_distance(units, set) }
    }

    /// The caller adds up distances.
    pub(crate) fn without_distance(units: &Units, set: &[usize]) -> Self {
        let part = 1.0 / set.len().max(1) as f64;
        let mut facts = SetFacts { cache_shares: vec![0.0; units.caches], ..SetFacts::default() };
        let mut nodes: BTreeMap<u32, f64> = BTreeMap::new();
        for at in set {
            let unit = &units.all[*at];
            facts.capacity += unit.capacity;
            facts.cpus += unit.cpus.len();
            facts.cpu_set.extend(unit.cpus.iter().copied());
            facts.cache_shares[unit.cache] += part;
            *nodes.entry(unit.node).or_insert(0.0) += part;
        }
        facts.spread = (1.0 - nodes.values().map(|share| share * share).sum::<f64>()).max(0.0);
        facts.node_shares = nodes.into_iter().collect();
        facts
    }

    fn share_off(&self, node: u32) -> f64 {
        let on = self.node_shares.iter().find(|(known, _)| *known == node);
        1.0 - on.map_or(0.0, |(_, share)| *share)
    }

    /// In common last-level caches: 1 if both are in one.
    pub fn common_caches(&self, other: &SetFacts) -> f64 {
        self.cache_shares.iter().zip(&other.cache_shares).map(|(a, b)| a.min(*b)).sum()
    }
}

fn mean_distance_ns(units: &Units, a: &[usize], b: &[usize]) -> f64 {
    let mut sum = 0.0;
    for from in a {
        sum += b.iter().map(|to| units.distance_ns[*from][*to]).sum::<f64>();
    }
    sum / (a.len() * b.len()).max(1) as f64
}

/// Prices pools, and caches how long services wait.
#[derive(Debug)]
pub struct Pricing<'a> {
    /// The services.
    pub demand: &'a Demand,
    /// The machine.
    pub units: &'a Units,
    /// By services and capacity in thousandths, common to many sets.
    known: RefCell<HashMap<(Members, u64), f64>>,
}

impl<'a> Pricing<'a> {
    /// Prices for these services on this machine.
    pub fn new(demand: &'a Demand, units: &'a Units) -> Self {
        Pricing { demand, units, known: RefCell::default() }
    }

    /// The cost of all pools.
    pub fn price(&self, pools: &[Pool]) -> CostTerms {
        let facts: Vec<SetFacts> =
            pools.iter().map(|pool| SetFacts::of(self.units, &pool.units)).collect();
        let mut sum = CostTerms::default();
        for (at, a) in pools.iter().enumerate() {
            sum.add(self.alone(a.members, &facts[at]));
            for (other, b) in pools.iter().enumerate().skip(at + 1) {
                let ns = mean_distance_ns(self.units, &a.units, &b.units);
                let common = facts[at].common_caches(&facts[other]);
                sum.add(self.between(a.members, b.members, ns, common));
            }
        }
        sum
    }

    /// The cost of one pool, independent of the others.
    pub fn alone(&self, members: Members, set: &SetFacts) -> CostTerms {
        let mut terms = CostTerms {
            waiting_percent: self.waiting_of(members, set.capacity),
            ..CostTerms::default()
        };
        for a in places(members) {
            let service = &self.demand.services[a];
            terms.memory_percent += self.loss(a, service.mean_cpus * FAR_MEMORY * set.spread);
            if let Some(node) = service.near_node {
                let off = set.share_off(node);
                terms.memory_percent += self.loss(a, service.mean_cpus * FAR_DEVICE * off);
            }
            for b in places(members).filter(|b| *b >= a) {
                let pair = self.demand.pair(a, b);
                terms.talk_percent += self.talk(a, b, set.inside_ns);
                // Two threads meet on one of the CPUs, and both lose its cache. Entries of a
                // service with itself are 0.
                let meetings = self.demand.meeting_cpus2[pair] / set.capacity.max(1e-9);
                terms.sharing_percent += self.loss_of_both(a, b, SHARING * meetings);
                let overlap_cpus = self.demand.overlap_cpus[pair];
                terms.caches_percent += self.loss_of_both(a, b, CACHES * overlap_cpus);
            }
        }
        terms
    }

    fn loss(&self, service: usize, cpus: f64) -> f64 {
        cpus * self.demand.services[service].percent_per_cpu
    }

    fn loss_of_both(&self, a: usize, b: usize, cpus: f64) -> f64 {
        self.loss(a, cpus) + self.loss(b, cpus)
    }

    /// The cost of talk at this distance. Each service bears half.
    pub fn talk(&self, a: usize, b: usize, ns: f64) -> f64 {
        let cpus = self.demand.talk_per_s[self.demand.pair(a, b)] * LINES * ns * 1e-9;
        self.loss_of_both(a, b, cpus / 2.0)
    }

    /// The cost between two pools at this distance, with this part of their last-level caches in
    /// common.
    pub fn between(&self, a: Members, b: Members, ns: f64, common: f64) -> CostTerms {
        let mut terms = CostTerms::default();
        for one in places(a) {
            for other in places(b) {
                let overlap_cpus = self.demand.overlap_cpus[self.demand.pair(one, other)];
                terms.talk_percent += self.talk(one, other, ns);
                terms.caches_percent +=
                    self.loss_of_both(one, other, CACHES * overlap_cpus * common);
            }
        }
        terms
    }

    fn waiting_of(&self, members: Members, capacity: f64) -> f64 {
        let key = (members, (capacity * 1000.0).round() as u64);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let services: Vec<usize> = places(members).collect();
        let mut ready_cpus = vec![0.0; services.len()];
        let mut sum = 0.0;
        for (slice, others) in self.demand.others_share.iter().enumerate() {
            for (ready, at) in ready_cpus.iter_mut().zip(&services) {
                *ready += self.demand.services[*at].cpus[slice];
            }
            let all_cpus: f64 = ready_cpus.iter().sum();
            if all_cpus <= 0.0 {
                continue;
            }
            let left = capacity * (1.0 - others);
            let waits = waiting(all_cpus, left) / all_cpus;
            let undone = 1.0 - (left / all_cpus).min(1.0);
            for (ready, at) in ready_cpus.iter_mut().zip(&services) {
                sum += self.loss(*at, *ready * waits);
                *ready *= undone;
            }
        }
        let mean = sum / self.demand.others_share.len().max(1) as f64;
        self.known.borrow_mut().insert(key, mean);
        mean
    }

    /// Whether a pool keeps the limits of its services.
    pub fn is_allowed(&self, members: Members, set: &SetFacts) -> bool {
        self.broken_by(members, set) == 0.0
            && self.lacking_bytes(std::iter::once((members, set))) == 0
    }

    /// The violation of limits in CPUs; each service that may not share counts as one.
    pub(crate) fn broken_by(&self, members: Members, set: &SetFacts) -> f64 {
        let cpus = set.cpus;
        let services: Vec<_> = places(members).map(|at| &self.demand.services[at]).collect();
        let least: u32 = services.iter().map(|service| service.least_cpus).sum();
        let most = services.iter().filter_map(|service| service.most_cpus).min();
        let too_few = f64::from(least.max(1)) - cpus as f64;
        let too_many = most.map_or(0.0, |most| cpus as f64 - f64::from(most));
        let alone = services.iter().filter(|service| service.is_alone).count();
        let crowded = if services.len() > 1 { alone as f64 } else { 0.0 };
        let bounds = services.iter().filter_map(|service| service.bound.as_ref());
        let cpus_off: usize = bounds.map(|bound| set.cpu_set.without(bound).len()).sum();
        let nodes = services.iter().filter_map(|service| service.memory_nodes.as_ref());
        let nodes_off: usize = nodes
            .map(|nodes| set.node_shares.iter().filter(|(node, _)| !nodes.contains(*node)).count())
            .sum();
        too_few.max(0.0) + too_many.max(0.0) + crowded + (cpus_off + nodes_off) as f64
    }

    pub(crate) fn lacking_bytes<'s>(
        &self,
        sets: impl Iterator<Item = (Members, &'s SetFacts)>,
    ) -> u64 {
        if !self.demand.asks_for_memory() {
            return 0;
        }
        let needs = sets.map(|(members, set)| {
            self.demand.pool_memory(members, set.node_shares.iter().map(|(node, _)| *node))
        });
        self.demand.lacking_bytes(&mut needs.collect::<Vec<_>>())
    }

    /// Whether all pools keep the limits.
    pub fn keeps_limits(&self, pools: &[Pool]) -> bool {
        let facts = pools.iter().map(|pool| SetFacts::without_distance(self.units, &pool.units));
        let facts: Vec<SetFacts> = facts.collect();
        let members = pools.iter().map(|pool| pool.members);
        members.clone().zip(&facts).all(|(members, set)| self.is_allowed(members, set))
            && self.lacking_bytes(members.zip(&facts)) == 0
    }
}
