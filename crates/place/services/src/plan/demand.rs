//! The services from the view of the search.

use super::Members;
use super::cost::SMALL_CPUS;
use super::memory::NodeMemory;
use super::units::Units;
use crate::ServicesRecord;
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

/// The largest load represents each group, because bursts matter most.
const MOST_SLICES: usize = 600;

/// One service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceDemand {
    /// Its name.
    pub name: String,
    /// The CPUs that it wants in each slice of time, with head-room.
    pub cpus: Vec<f64>,
    /// Their mean.
    pub mean_cpus: f64,
    /// The cost of losing one CPU's time, in percent.
    pub percent_per_cpu: f64,
    /// The fewest CPUs that it may get.
    pub least_cpus: u32,
    /// The most CPUs that it may get.
    pub most_cpus: Option<u32>,
    /// Whether it needs its CPUs for itself.
    pub is_alone: bool,
    /// The NUMA node that it should be on.
    pub near_node: Option<u32>,
    /// The memory that it needs, in bytes.
    pub memory_bytes: u64,
    /// The NUMA nodes that it must be on; `None` if any will do.
    pub memory_nodes: Option<CpuSet>,
    /// The CPUs that its set must be within; `None` if any will do.
    pub bound: Option<CpuSet>,
}

/// All services, and the length of a slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// The services.
    pub services: Vec<ServiceDemand>,
    /// The share of the machine that other programs use, in each slice.
    pub others_share: Vec<f64>,
    /// Messages per second between two services, at index `a * services + b` with `a <= b`.
    pub talk_per_s: Vec<f64>,
    /// The mean of the smaller load, in CPUs, at the same index.
    pub overlap_cpus: Vec<f64>,
    /// The mean product of the loads, in CPUs squared, at the same index.
    pub meeting_cpus2: Vec<f64>,
    /// The length of a slice, in seconds.
    pub slice_s: f64,
    /// The memory of the machine's nodes.
    pub node_memory: NodeMemory,
}

impl Demand {
    /// The demand of a record's services. `node_bytes` has the known memory of nodes, `bounds` the
    /// CPUs of services by name.
    pub fn of(
        record: &ServicesRecord,
        units: &Units,
        node_bytes: &BTreeMap<u32, u64>,
        bounds: &BTreeMap<String, CpuSet>,
    ) -> Self {
        let head_room = 1.0 + record.computer.head_room_percent / 100.0;
        let wanted: Vec<Vec<f64>> =
            record.services.iter().map(|service| service.wanted_cpus()).collect();
        let slices = chosen_slices(&wanted, record.samples());
        let capacity = units.capacity().max(1e-9);
        let services: Vec<ServiceDemand> = record
            .services
            .iter()
            .zip(&wanted)
            .map(|(recorded, wanted)| {
                let cpus: Vec<f64> = slices.iter().map(|at| wanted[*at] * head_room).collect();
                let mean_cpus = mean(cpus.iter().copied());
                ServiceDemand {
                    name: recorded.service.name.clone(),
                    percent_per_cpu: 100.0
                        / record.services.len() as f64
                        / f64::max(mean_cpus, SMALL_CPUS),
                    mean_cpus,
                    cpus,
                    least_cpus: recorded.service.least_cpus.unwrap_or(0),
                    most_cpus: recorded.service.most_cpus,
                    is_alone: recorded.service.is_alone(),
                    near_node: recorded.near_node,
                    memory_bytes: recorded.service.memory_bytes(),
                    memory_nodes: recorded.service.memory_node_set(),
                    bound: bounds.get(&recorded.service.name).cloned(),
                }
            })
            .collect();
        let others = slices.iter().map(|at| (record.others_cpus[*at] / capacity).min(0.9));
        let mut demand = Demand {
            others_share: others.collect(),
            slice_s: record.interval_s * record.samples() as f64 / slices.len().max(1) as f64,
            services,
            node_memory: NodeMemory::of(units, node_bytes),
            ..Demand::default()
        };
        demand.fill_pairs(record);
        demand
    }

    fn fill_pairs(&mut self, record: &ServicesRecord) {
        let count = self.services.len();
        self.talk_per_s = vec![0.0; count * count];
        self.overlap_cpus = vec![0.0; count * count];
        self.meeting_cpus2 = vec![0.0; count * count];
        for talk in &record.talk {
            let at = self.pair(talk.from, talk.to);
            self.talk_per_s[at] += talk.per_s;
        }
        for a in 0..count {
            for b in a + 1..count {
                let of_a = &self.services[a].cpus;
                let of_b = &self.services[b].cpus;
                let at = a * count + b;
                self.overlap_cpus[at] = mean(of_a.iter().zip(of_b).map(|(a, b)| a.min(*b)));
                self.meeting_cpus2[at] = mean(of_a.iter().zip(of_b).map(|(a, b)| a * b));
            }
        }
    }

    /// The index of two services in lists of pairs.
    pub fn pair(&self, a: usize, b: usize) -> usize {
        a.min(b) * self.services.len() + a.max(b)
    }

    /// All services, as bits.
    pub fn everybody(&self) -> Members {
        match self.services.len() {
            64.. => Members::MAX,
            count => (1 << count) - 1,
        }
    }

    /// The mean total load, in CPUs.
    pub fn mean_cpus(&self) -> f64 {
        self.services.iter().map(|service| service.mean_cpus).sum()
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn chosen_slices(wanted: &[Vec<f64>], samples: usize) -> Vec<usize> {
    let group = samples.div_ceil(MOST_SLICES).max(1);
    let mut chosen = Vec::new();
    for start in (0..samples).step_by(group) {
        let of_group = start..(start + group).min(samples);
        let heaviest = of_group.max_by(|a, b| sum_at(wanted, *a).total_cmp(&sum_at(wanted, *b)));
        chosen.extend(heaviest);
    }
    chosen
}

fn sum_at(wanted: &[Vec<f64>], sample: usize) -> f64 {
    wanted.iter().map(|service| service[sample]).sum()
}
