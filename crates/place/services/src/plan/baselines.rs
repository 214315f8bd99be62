//! The sets that other tools would give, if a record has the data for them.
//!
//! Requests are the 90th percentile of the load, as for Kubernetes' vertical pod autoscaler (its
//! `recommender`, `target-cpu-percentile`).

use super::cost::Pricing;
use super::units::Units;
use super::{Members, Pool, ServicesPlan};
use crate::ServicesRecord;
use seatmap_data::document::Failure;
use seatmap_os::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

const REQUEST: f64 = 0.9;

/// The present sets of the services.
pub const NOW: &str = "as it is now";
/// All services share all CPUs.
pub const TOGETHER: &str = "all share all";
/// The sets of another plan, such as an imported one.
pub const WRITTEN: &str = "as it is written";

/// All available baselines by their names in tables and documents.
pub fn all(pricing: &Pricing, record: &ServicesRecord) -> Vec<(&'static str, Vec<Pool>)> {
    let found = [
        (NOW, now(pricing.units, record)),
        (TOGETHER, Some(together(pricing))),
        ("kubelet-like", Some(kubelet(pricing))),
        ("balloons-like", balloons(pricing)),
        ("equal shares", equal(pricing)),
    ];
    found.into_iter().filter_map(|(name, pools)| Some((name, pools?))).collect()
}

/// The present sets, if they are pools. Other machines have other CPUs.
fn now(units: &Units, record: &ServicesRecord) -> Option<Vec<Pool>> {
    let sets: Option<Vec<CpuSet>> =
        record.services.iter().map(|service| CpuSet::of_list(&service.allowed)).collect();
    pools_of(units, &sets?)
}

/// `None` if two sets overlap without being equal.
fn pools_of(units: &Units, sets: &[CpuSet]) -> Option<Vec<Pool>> {
    let mut groups: BTreeMap<BTreeSet<usize>, Members> = BTreeMap::new();
    for (at, allowed) in sets.iter().enumerate() {
        let set: BTreeSet<usize> = (0..units.all.len())
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
    Some(pools.collect())
}

/// Another plan's sets for the services of a record.
///
/// # Errors
/// [`Failure`]: the plan lacks a service, or its sets overlap without being equal.
pub fn written(
    units: &Units,
    record: &ServicesRecord,
    plan: &ServicesPlan,
) -> Result<Vec<Pool>, Failure> {
    let mut sets = Vec::new();
    for recorded in &record.services {
        let service = &recorded.service;
        let same = plan.services.iter().find(|one| {
            one.service.target() == service.target() || one.service.name == service.name
        });
        let same = same.ok_or_else(|| {
            Failure::input(format!(
                "the plan of --beside has no CPUs for '{}', so it cannot be compared; give a file \
                 without this service",
                service.name
            ))
        })?;
        sets.push(same.cpu_set());
    }
    pools_of(units, &sets).ok_or_else(|| {
        let why = "the plan of --beside cannot be judged: two of its sets overlap but differ, or \
                   one has no core of this machine (only whole cores count)";
        Failure::input(why.to_owned())
    })
}

fn together(pricing: &Pricing) -> Vec<Pool> {
    let units = (0..pricing.units.all.len()).collect();
    vec![Pool { members: pricing.demand.everybody(), units }]
}

fn equal(pricing: &Pricing) -> Option<Vec<Pool>> {
    let services = pricing.demand.services.len();
    let each = pricing.units.all.len() / services.max(1);
    let pools = (0..services)
        .map(|at| Pool { members: 1 << at, units: (at * each..(at + 1) * each).collect() });
    (each > 0).then(|| pools.collect())
}

/// The services and their requests, largest first.
fn requests(pricing: &Pricing) -> Vec<(usize, f64)> {
    let requests = pricing.demand.services.iter().map(|service| {
        let load = seatmap_data::statistics::quantile(&service.cpus, REQUEST).unwrap_or(0.0);
        load.max(f64::from(service.least_cpus))
    });
    let mut requests: Vec<(usize, f64)> = requests.enumerate().collect();
    requests.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    requests
}

/// The static policy of Kubernetes' kubelet: whole CPUs, packed, for each service that requests
/// them, and one pool of the rest.
fn kubelet(pricing: &Pricing) -> Vec<Pool> {
    let units = pricing.units;
    let mut free: BTreeSet<usize> = (0..units.all.len()).collect();
    let mut pools = Vec::new();
    let mut shared: Members = 0;
    for (at, request) in requests(pricing) {
        // Smaller requests are for time, not for a CPU.
        let is_fractional = request < 1.0 && !pricing.demand.services[at].is_alone;
        // Fills the node with the fewest free units first.
        let taken = first_units(units, &free, request, |unit| {
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
    pools
}

/// In the order of this key, with so many CPUs.
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

/// The balloons policy of NRI: a set as large as the request, in the cache with the most room.
fn balloons(pricing: &Pricing) -> Option<Vec<Pool>> {
    let units = pricing.units;
    let mut free: BTreeSet<usize> = (0..units.all.len()).collect();
    let mut pools = Vec::new();
    for (at, request) in requests(pricing) {
        let taken = first_units(units, &free, request, |unit| {
            let cache = units.all[unit].cache;
            let room = free.iter().filter(|other| units.all[**other].cache == cache).count();
            (std::cmp::Reverse(room), cache, unit)
        })?;
        free.retain(|unit| !taken.contains(unit));
        pools.push(Pool { members: 1 << at, units: taken });
    }
    Some(pools)
}
