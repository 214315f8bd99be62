//! The pretended machine.

use crate::PretendError;
use crate::groups::ContainerGroup;
use seatmap_data::grouped::by_key;
use seatmap_data::machine::{Pu, Topology};
use seatmap_os::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

/// Distances of nodes in firmware (ACPI's SLIT): to itself, within the package, and beyond.
const OWN_DISTANCE: u32 = 10;
const PACKAGE_DISTANCE: u32 = 12;
const FAR_DISTANCE: u32 = 32;

/// A machine as a program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PretendedMachine {
    /// Its name.
    pub name: String,
    /// All CPUs, including offline ones.
    pub topology: Topology,
    /// The online CPUs.
    pub online: CpuSet,
    /// The program's CPUs, as in a container.
    pub allowed: CpuSet,
    /// The NUMA nodes.
    pub nodes: Vec<PretendedNode>,
    /// The program's control group.
    pub group: ContainerGroup,
}

/// A NUMA node of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PretendedNode {
    /// Its OS index.
    pub os: u32,
    /// Its online CPUs.
    pub cpus: CpuSet,
    /// Whether it has memory.
    pub has_memory: bool,
    package: Option<u32>,
}

impl PretendedMachine {
    /// A machine on which the program may use `cpus`, by default all online ones.
    ///
    /// # Errors
    /// [`PretendError`]: the topology is unknown, or has no such CPUs.
    pub fn new(
        name: &str,
        topology: Topology,
        cpus: Option<&CpuSet>,
        offline: &CpuSet,
    ) -> Result<Self, PretendError> {
        let present: CpuSet = topology.os_indices().collect();
        let online = present.without(offline);
        let allowed = cpus.cloned().unwrap_or_else(|| online.clone());
        let problem = if topology.pus.iter().all(|pu| pu.core.is_none()) {
            format!(
                "{name} does not describe its cores, so it cannot be pretended; 'seatmap import \
                 --topology FILE' adds them from lstopo's output"
            )
        } else if let Some(cpu) = offline.with(&allowed).without(&present).first() {
            format!("CPU {cpu} does not exist: {name} has CPUs {present}")
        } else if let Some(cpu) = allowed.within(offline).first() {
            format!(
                "CPU {cpu} is offline, so the program cannot use it; leave it out of one of the \
                 lists"
            )
        } else if allowed.is_empty() {
            "all CPUs are offline; leave one for the program".to_owned()
        } else {
            let nodes = nodes(&topology, &online);
            return Ok(PretendedMachine {
                name: name.to_owned(),
                topology,
                online,
                allowed,
                nodes,
                group: ContainerGroup::default(),
            });
        };
        Err(PretendError::Machine(problem))
    }

    /// Adds NUMA nodes that have memory and no CPU.
    pub fn with_memory_nodes(mut self, nodes: &[u32]) -> Self {
        let added = nodes.iter().map(|os| PretendedNode {
            os: *os,
            has_memory: true,
            ..PretendedNode::default()
        });
        self.nodes.extend(added);
        self.nodes.sort_by_key(|node| node.os);
        self
    }

    /// The kernel's number of CPU bits: one more than the largest index.
    pub fn cpu_bits(&self) -> u32 {
        self.topology.os_indices().max().unwrap_or_default() + 1
    }

    /// The topology of the program's CPUs.
    pub fn usable(&self) -> Topology {
        let pus = self.topology.pus.iter().filter(|pu| self.allowed.contains(pu.os));
        Topology { pus: pus.cloned().collect() }
    }

    /// The NUMA node of a CPU.
    pub fn node_of(&self, cpu: u32) -> u32 {
        self.topology.pu(cpu).and_then(|pu| pu.numa).unwrap_or_default()
    }

    /// The nodes with memory.
    pub fn memory_nodes(&self) -> CpuSet {
        self.nodes.iter().filter(|node| node.has_memory).map(|node| node.os).collect()
    }

    /// The kernel's number of node bits.
    pub fn node_bits(&self) -> u32 {
        self.nodes.iter().map(|node| node.os).max().unwrap_or_default() + 1
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = &Pu> + Clone {
        self.topology.pus.iter().filter(|pu| self.online.contains(pu.os))
    }

    pub(crate) fn parts(&self, part: fn(&Pu) -> Option<u32>) -> BTreeMap<u32, CpuSet> {
        by_key(self.running().filter_map(|pu| Some((part(pu)?, pu.os))))
    }
}

impl PretendedNode {
    pub fn distance(&self, other: &PretendedNode) -> u32 {
        if self.os == other.os {
            OWN_DISTANCE
        } else if self.package.is_some() && self.package == other.package {
            PACKAGE_DISTANCE
        } else {
            FAR_DISTANCE
        }
    }
}

/// CPUs without a known node are on node 0, as on a computer without NUMA.
fn nodes(topology: &Topology, online: &CpuSet) -> Vec<PretendedNode> {
    let mut nodes: BTreeMap<u32, PretendedNode> = BTreeMap::new();
    for pu in &topology.pus {
        let os = pu.numa.unwrap_or_default();
        let node = nodes.entry(os).or_default();
        node.os = os;
        node.has_memory |= pu.memory.is_none_or(|memory| memory == os);
        node.package = node.package.or(pu.package);
        if online.contains(pu.os) {
            node.cpus.insert(pu.os);
        }
    }
    let elsewhere = topology.pus.iter().filter_map(|pu| Some((pu.memory?, pu.package)));
    for (os, package) in BTreeSet::from_iter(elsewhere) {
        let cpus = CpuSet::default();
        let node = PretendedNode { os, package, cpus, has_memory: true };
        nodes.entry(os).or_insert(node).has_memory = true;
    }
    nodes.into_values().collect()
}

#[cfg(test)]
pub mod made {
    use super::*;

    pub fn set(list: &str) -> CpuSet {
        CpuSet::of_list(list).unwrap()
    }

    /// Two packages (nodes) of two cores with two hardware threads.
    pub fn small() -> PretendedMachine {
        with("0-7", "")
    }

    pub fn with(allowed: &str, offline: &str) -> PretendedMachine {
        let allowed = set(allowed);
        PretendedMachine::new("small", topology(), Some(&allowed), &set(offline)).unwrap()
    }

    pub fn topology() -> Topology {
        let pus = (0..8).map(|os| Pu {
            os,
            core: Some(os / 2),
            smt: Some(os % 2),
            l2: Some(os / 2),
            l3: Some(os / 4),
            numa: Some(os / 4),
            package: Some(os / 4),
            ..Pu::default()
        });
        Topology { pus: pus.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::made::set;
    use super::*;

    fn refusal(cpus: &str, offline: &str) -> String {
        let cpus = Some(set(cpus)).filter(|cpus| !cpus.is_empty());
        PretendedMachine::new("small", made::topology(), cpus.as_ref(), &set(offline))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn machine_rejects_unknown_or_offline_cpus() {
        assert!(refusal("6-9", "").starts_with("CPU 8 does not exist: small has CPUs 0-7"));
        assert!(refusal("", "9").starts_with("CPU 9 does not exist"));
        assert!(refusal("0-3", "3").starts_with("CPU 3 is offline"));
        assert!(refusal("", "0-7").starts_with("all CPUs are offline"));
        let unknown = Topology::unknown(0..4);
        let refused = PretendedMachine::new("rows", unknown, None, &CpuSet::default());
        assert!(refused.unwrap_err().to_string().contains("rows does not describe its cores"));
    }

    #[test]
    fn nodes_list_only_online_cpus() {
        let machine = made::with("0,2-3", "1,4-7");
        let cpus: Vec<String> = machine.nodes.iter().map(|node| node.cpus.to_string()).collect();
        assert_eq!(cpus, ["0,2,3", ""]);
        assert_eq!(machine.memory_nodes().to_string(), "0,1");
        assert_eq!(machine.nodes[0].distance(&machine.nodes[1]), FAR_DISTANCE);
        let machine = made::with("0-7", "").with_memory_nodes(&[255, 8]);
        assert_eq!((machine.node_bits(), machine.memory_nodes()), (256, set("0-1,8,255")));
        assert_eq!(machine.nodes[2].distance(&machine.nodes[3]), FAR_DISTANCE);
    }
}
