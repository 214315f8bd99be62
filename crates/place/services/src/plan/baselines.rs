//! The sets that other tools would give, if a record has the data for them.
//!
//! Requests are the 90th percentile of the load, like the target of Kubernetes' vertical pod
//! autoscaler (its `recommender`, `target-cpu-percentile`).

use super::cost::Pricing;
use super::request::PlanError;
use super::units::Units;
use super::{Members, Pool, Pools, ServicesPlan};
use crate::record::ServicesRecord;
use seatmap_os::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

const REQUEST: f64 = 0.9;

/// A policy for sets other than Seatmap's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackingPolicy {
    /// The present sets of the services.
    Now,
    /// All services share all CPUs.
    Together,
    /// The static policy of Kubernetes' kubelet: whole CPUs, packed, for each service that requests
    /// them, and one pool of the rest.
    Kubelet,
    /// The balloons policy of NRI: a set as large as the request, in the cache with the most room.
    Balloons,
    /// Equal shares for all.
    Equal,
    /// The sets of another plan, such as an imported one.
    Written,
}

impl PackingPolicy {
    /// Its name in tables and documents.
    pub fn word(self) -> &'static str {
        match self {
            PackingPolicy::Now => "as it is now",
            PackingPolicy::Together => "all share all",
            PackingPolicy::Kubelet => "kubelet-like",
            PackingPolicy::Balloons => "balloons-like",
            PackingPolicy::Equal => "equal shares",
            PackingPolicy::Written => "as it is written",
        }
    }
}

/// All available baselines.
pub fn all(pricing: &Pricing, record: &ServicesRecord) -> Vec<(PackingPolicy, Pools)> {
    let found = [
        (PackingPolicy::Now, now(pricing.units, record)),
        (PackingPolicy::Together, Some(together(pricing))),
        (PackingPolicy::Kubelet, Some(kubelet(pricing))),
        (PackingPolicy::Balloons, balloons(pricing)),
        (PackingPolicy::Equal, equal(pricing)),
    ];
    found.into_iter().filter_map(|(policy, pools)| Some((policy, pools?))).collect()
}

/// The present sets, if they are pools. Other machines have other CPUs.
fn now(units: &Units, record: &ServicesRecord) -> Option<Pools> {
    let sets: Option<Vec<CpuSet>> =
        record.services.iter().map(|service| CpuSet::of_list(&service.allowed)).collect();
    pools_of(units, &sets?)
}

/// `None` if two sets overlap without being equal.
fn pools_of(units: &Units, sets: &[CpuSet]) -> Option<Pools> {
    let mut groups: BTreeMap<BTreeSet<usize>, Members> = BTreeMap::new();
    for (at, allowed) in sets.iter().enumerate() {
        let set: BTreeSet<usize> = (0..units.len())
            .filter(|unit| units.all[*unit].cpus.iter().any(|cpu| allowed.contains(*cpu)))
            .collect();
        *groups.entry(set).or_insert(0) |= 1 << at;
    }
    let sets: Vec<&BTreeSet<usize>> = groups.keys().collect();
    for (at, a) in sets.iter().enumerate() {
        if a.is_empty() || sets[at + 1..].iter().any(|b| !a.is_disjoint(b)) {
            return None;
        }
    }
    let pools = groups
        .into_iter()
        .map(|(units, members)| Pool { members, units: units.into_iter().collect() });
    Some(Pools(pools.collect()))
}

/// The sets of another plan for the services of a record.
///
/// # Errors
/// [`PlanError`]: the plan lacks a service, or its sets overlap without being equal.
pub fn written(
    units: &Units,
    record: &ServicesRecord,
    plan: &ServicesPlan,
) -> Result<Pools, PlanError> {
    let mut sets = Vec::new();
    for recorded in &record.services {
        let service = &recorded.service;
        let same = plan.services.iter().find(|one| {
            one.service.target() == service.target() || one.service.name == service.name
        });
        let same = same.ok_or_else(|| PlanError::BesideLacks { name: service.name.clone() })?;
        sets.push(same.cpu_set());
    }
    pools_of(units, &sets).ok_or(PlanError::BesideOverlaps)
}

fn together(pricing: &Pricing) -> Pools {
    let units = (0..pricing.units.len()).collect();
    Pools(vec![Pool { members: pricing.demand.everybody(), units }])
}

fn equal(pricing: &Pricing) -> Option<Pools> {
    let services = pricing.demand.services.len();
    let each = pricing.units.len() / services.max(1);
    let pools = (0..services)
        .map(|at| Pool { members: 1 << at, units: (at * each..(at + 1) * each).collect() });
    (each > 0).then(|| Pools(pools.collect()))
}

fn requests(pricing: &Pricing) -> Vec<f64> {
    let services = pricing.demand.services.iter();
    services
        .map(|service| {
            let load = seatmap_data::statistics::quantile(&service.cpus, REQUEST).unwrap_or(0.0);
            load.max(f64::from(service.least_cpus))
        })
        .collect()
}

fn largest_first(requests: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by(|a, b| requests[*b].total_cmp(&requests[*a]).then(a.cmp(b)));
    order
}

fn kubelet(pricing: &Pricing) -> Pools {
    let units = pricing.units;
    let requests = requests(pricing);
    let mut free: BTreeSet<usize> = (0..units.len()).collect();
    let mut pools = Vec::new();
    let mut shared: Members = 0;
    for at in largest_first(&requests) {
        // Smaller requests are for time, not for a CPU.
        let is_fractional = requests[at] < 1.0 && !pricing.demand.services[at].is_alone;
        // Fills the node with the fewest free units first.
        let taken = first_units(units, &free, requests[at], |unit| {
            let node = units.all[unit].node;
            (free.iter().filter(|other| units.all[**other].node == node).count(), unit)
        });
        match taken.filter(|taken| !is_fractional && taken.len() < free.len()) {
            Some(taken) => {
                free.retain(|unit| !taken.contains(unit));
                pools.push(Pool { members: 1 << at, units: taken });
            }
            None => shared |= 1 << at,
        }
    }
    if shared > 0 {
        pools.push(Pool { members: shared, units: free.into_iter().collect() });
    }
    Pools(pools)
}

/// The first free units, in the order of this key, with so many CPUs.
fn first_units<K: Ord>(
    units: &Units,
    free: &BTreeSet<usize>,
    cpus: f64,
    key: impl Fn(usize) -> K,
) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = free.iter().copied().collect();
    order.sort_by_key(|unit| key(*unit));
    let mut taken = Vec::new();
    let mut sum = 0;
    for at in order {
        if sum > 0 && sum as f64 >= cpus {
            break;
        }
        sum += units.all[at].cpus.len();
        taken.push(at);
    }
    taken.sort_unstable();
    (sum > 0 && sum as f64 >= cpus).then_some(taken)
}

fn balloons(pricing: &Pricing) -> Option<Pools> {
    let units = pricing.units;
    let requests = requests(pricing);
    let mut free: BTreeSet<usize> = (0..units.len()).collect();
    let mut pools = Vec::new();
    for at in largest_first(&requests) {
        let taken = first_units(units, &free, requests[at], |unit| {
            let cache = units.all[unit].cache;
            let room = free.iter().filter(|other| units.all[**other].cache == cache).count();
            (std::cmp::Reverse(room), cache, unit)
        })?;
        free.retain(|unit| !taken.contains(unit));
        pools.push(Pool { members: 1 << at, units: taken });
    }
    Some(Pools(pools))
}
