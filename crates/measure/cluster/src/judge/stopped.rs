//! Nodes stopped by a used-up quota of CPU time. Each end counts its own stops.

use super::part::{FaultLocation, NetworkPart, PartDirection};
use super::{ClusterFault, ClusterFaultKind, Court};
use crate::choice::grouped;
use crate::cluster::{Cluster, QuotaStop};
use crate::topology::short;
use seatmap_data::statistics::words::counted;
use std::collections::BTreeMap;

/// A quota binds from this number and share of stopped periods. A starting program uses up a small
/// quota once.
const FEWEST_STOPS: u64 = 2;
const STOPPED_SHARE: f64 = 0.05;

impl QuotaStop {
    fn binds(&self) -> bool {
        // Without measured times, count whole periods.
        let whole_ms = self.stopped_periods as f64 * self.period_ms;
        let stopped_ms = if self.stopped_ms > 0.0 { self.stopped_ms } else { whole_ms };
        let share = stopped_ms / (self.periods.max(1) as f64 * self.period_ms);
        self.stopped_periods >= FEWEST_STOPS && share >= STOPPED_SHARE
    }

    fn words(&self) -> String {
        let QuotaStop { stopped_periods, periods, period_ms, group, cpus, .. } = self;
        let stopped_s = self.stopped_ms / 1e3;
        format!(
            "in {stopped_periods} of {periods} of {period_ms} ms ({stopped_s:.2} s), because the \
             quota of the control group {group} ({cpus}) was used up",
            periods = counted(periods, "period"),
            cpus = counted(cpus, "CPU")
        )
    }
}

pub fn stops(cluster: &Cluster) -> BTreeMap<usize, QuotaStop> {
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

impl Court<'_> {
    /// One fault for each quota.
    pub fn stopped(&self) -> Vec<ClusterFault> {
        // On two nodes the same file may hold different quotas.
        let by_quota = grouped(self.stops.iter().map(|(node, stop)| {
            ((stop.file.as_str(), format!("{} {}", stop.cpus, stop.period_ms)), *node)
        }));
        by_quota.values().map(|nodes| self.stopped_fault(nodes)).collect()
    }

    fn stopped_fault(&self, nodes: &[usize]) -> ClusterFault {
        let mut all = Vec::new();
        nodes.iter().for_each(|node| self.stops[node].add_to(&mut all));
        // These nodes share one file, so their stops add up.
        let stop = &all[0];
        let names = short(&nodes.iter().map(|node| self.name(*node)).collect::<Vec<_>>());
        let (processes, container) = match nodes {
            [_] => ("its process", "its container"),
            _ => ("their processes", "their containers"),
        };
        let remedy = if stop.is_read_only {
            format!("ask the user who started {container} to raise it")
        } else {
            format!("raise it in {} there", stop.file)
        };
        let words = stop.words();
        let sentence = format!("{names}: the kernel stopped {processes} {words}; {remedy}");
        let fault = self.fault(ClusterFaultKind::Starved, nodes, None, sentence);
        let place = match nodes {
            [node] => Some(FaultLocation {
                part: NetworkPart::Node(*node),
                direction: PartDirection::Both,
            }),
            _ => None,
        };
        ClusterFault { place, ..fault }
    }

    /// A stopped process is slow with all others but loses no packets.
    pub fn is_by_stops(&self, fault: &ClusterFault) -> bool {
        let is_of_time = matches!(
            fault.kind,
            ClusterFaultKind::Starved | ClusterFaultKind::Slow | ClusterFaultKind::Jittery
        );
        is_of_time
            && fault.place.is_some_and(|place| match place.part {
                NetworkPart::Node(node) => self.stops.contains_key(&node),
                NetworkPart::Pair(nodes) => nodes.iter().any(|node| self.stops.contains_key(node)),
                NetworkPart::Uplink(group) | NetworkPart::Switch(group) => {
                    self.are_half_stopped(group)
                }
                NetworkPart::Tier(_) => false,
            })
    }

    /// At least half: even the best path is affected.
    fn are_half_stopped(&self, group: usize) -> bool {
        let members = self.network.members(group);
        let stopped = members.iter().filter(|node| self.stops.contains_key(node)).count();
        2 * stopped >= members.len()
    }
}
