//! Processes that get too little of their CPUs, by the figures of their own ends.

use super::part::NetworkPart;
use super::{ClusterFault, ClusterFaultKind, fault};
use crate::choice::grouped;
use crate::cluster::{Cluster, QuotaStop};
use seatmap_data::statistics::median;
use seatmap_data::statistics::words::{agreeing, counted};
use std::collections::{BTreeMap, BTreeSet};

/// A quota binds from this number and share of stopped periods. A starting program uses up a small
/// quota once.
const FEWEST_STOPS: u64 = 2;
const STOPPED_SHARE: f64 = 0.05;

/// A process is starved if it waits for a CPU this share of the time, and this many times as long
/// as others.
const WAITS: f64 = 0.25;
const WAITS_FACTOR: f64 = 3.0;

/// These nodes and their faults.
pub fn starved(cluster: &Cluster) -> (BTreeSet<usize>, Vec<ClusterFault>) {
    let stops = stops(cluster);
    let waits = waits(cluster).into_iter().filter(|(node, _)| !stops.contains_key(node));
    let (waiting, waits): (Vec<usize>, Vec<ClusterFault>) = waits.unzip();
    let faults = stop_faults(cluster, &stops).into_iter().chain(waits).collect();
    (stops.into_keys().chain(waiting).collect(), faults)
}

fn waits(cluster: &Cluster) -> Vec<(usize, ClusterFault)> {
    let share = |node| {
        let own = cluster.pairs.iter().filter_map(move |pair| pair.end_of(node)?.wait_share);
        Some((node, median(own)?))
    };
    let shares: Vec<(usize, f64)> = (0..cluster.nodes.len()).filter_map(share).collect();
    let usual = median(shares.iter().map(|(_, share)| share)).unwrap_or(0.0);
    let long = shares.into_iter().filter(|(_, share)| *share >= WAITS.max(WAITS_FACTOR * usual));
    let faults = long.map(|(node, share)| {
        let what = format!(
            "its process waits for a CPU {:.0} % of the time, those of the others {:.0} %: a quota \
             limits it, or another program uses its CPUs",
            100.0 * share,
            100.0 * usual
        );
        let fault = fault(cluster, ClusterFaultKind::Starved, &[node], &what);
        (node, ClusterFault { part: Some(NetworkPart::Node(node)), ..fault })
    });
    faults.collect()
}

impl QuotaStop {
    fn binds(&self) -> bool {
        self.stopped_periods >= FEWEST_STOPS
            && self.stopped_periods as f64 >= STOPPED_SHARE * self.periods as f64
    }

    fn what(&self, nodes: usize) -> String {
        let QuotaStop { stopped_periods, period_ms, group, file, .. } = self;
        let remedy = if self.is_read_only {
            "ask the user who started the container to raise it".to_owned()
        } else {
            format!("raise it in {file} there")
        };
        format!(
            "the kernel stopped {} in {stopped_periods} of {} of {period_ms} ms ({:.2} s), because \
             the quota of the control group {group} ({}) was used up; {remedy}",
            agreeing(nodes, "its process", "their processes"),
            counted(self.periods, "period"),
            self.stopped_ms / 1e3,
            counted(self.cpus, "CPU")
        )
    }
}

/// The quota that stopped each node most.
fn stops(cluster: &Cluster) -> BTreeMap<usize, QuotaStop> {
    let mut all = BTreeMap::<usize, Vec<QuotaStop>>::new();
    for pair in &cluster.pairs {
        for (node, end) in pair.nodes.iter().zip(pair.ends.iter().flatten()) {
            let own = all.entry(*node).or_default();
            end.stops.iter().flatten().for_each(|stop| stop.add_to(own));
        }
    }
    all.into_iter()
        .filter_map(|(node, stops)| {
            let binding = stops.into_iter().filter(QuotaStop::binds);
            Some((node, binding.max_by_key(|stop| stop.stopped_periods)?))
        })
        .collect()
}

/// One fault for each quota.
fn stop_faults(cluster: &Cluster, stops: &BTreeMap<usize, QuotaStop>) -> Vec<ClusterFault> {
    // On two nodes the same file may hold different quotas.
    let by_quota =
        grouped(stops.iter().map(|(node, stop)| {
            ((&stop.file, format!("{} {}", stop.cpus, stop.period_ms)), *node)
        }));
    let faults = by_quota.values().map(|nodes| {
        let mut all = Vec::new();
        nodes.iter().for_each(|node| stops[node].add_to(&mut all));
        // These nodes share one file, so their stops add up.
        fault(cluster, ClusterFaultKind::Starved, nodes, &all[0].what(nodes.len()))
    });
    faults.collect()
}
