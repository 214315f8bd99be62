//! The pretended files below `/sys` and `/proc`.
//!
//! `seatmap_machines::host` reads the same topology back from it. A file exists only if its value
//! is known, so that no guess passes for a fact: a cache of unknown size has no file `size`.

use crate::cpu_times::PretendedCpuTimes;
use crate::machine::PretendedNode;
use crate::record::ProgramRecord;
use crate::{HostFacts, PretendedMachine, cpuinfo};
use seatmap_data::machine::Pu;
use seatmap_data::words::joined;
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

mod kinds;

pub use kinds::KIND_LISTS;

/// The folder of CPUs.
pub const CPUS: &str = "sys/devices/system/cpu";
/// The folder of NUMA nodes.
pub const NODES: &str = "sys/devices/system/node";
/// The folder of control groups.
pub const GROUPS: &str = "sys/fs/cgroup";
/// CPUs by bus.
pub const CPU_DEVICES: &str = "sys/bus/cpu/devices";
/// NUMA nodes by bus.
pub const NODE_DEVICES: &str = "sys/bus/node/devices";
/// The controllers of control groups.
pub const CONTROLLERS: &str = "proc/cgroups";
/// The description of each CPU.
pub const CPUINFO: &str = "proc/cpuinfo";
/// The times of each CPU.
pub const STAT: &str = "proc/stat";

const GROUP_BITS: u32 = 32;

/// The largest CPU index: `NR_CPUS` of distribution kernels is 8192.
const KERNEL_MAX: &str = "8191";

/// One file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeFile {
    /// A file with this text.
    Text(String),
    /// A symbolic link to this path.
    Link(String),
}

/// A machine's files by path, without a leading slash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineTree {
    /// The files.
    pub files: BTreeMap<String, TreeFile>,
}

impl MachineTree {
    /// The files of a machine. Facts outside the topology, such as processor flags, are this
    /// computer's.
    pub fn of(machine: &PretendedMachine, host: &HostFacts) -> Self {
        let mut tree = MachineTree::default();
        tree.lists(machine);
        tree.topology(machine);
        tree.caches(machine);
        tree.kinds(machine);
        for node in &machine.nodes {
            tree.node(machine, node, host);
        }
        tree.devices(machine);
        tree.group(machine);
        tree.text(CPUINFO, cpuinfo::cpuinfo(machine, &host.cpuinfo));
        // Read by programs whose open is not intercepted.
        let begun =
            PretendedCpuTimes::default().stat(machine, &ProgramRecord::default(), 0.0, &host.stat);
        tree.text(STAT, begun);
        tree
    }

    fn text(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), TreeFile::Text(text));
    }

    fn line(&mut self, path: String, value: impl std::fmt::Display) {
        self.text(&path, format!("{value}\n"));
    }

    fn lists(&mut self, machine: &PretendedMachine) {
        let present: CpuSet = machine.topology.os_indices().collect();
        let is_active = machine.parts(|pu| pu.core).values().any(|core| core.len() > 1);
        let has_siblings = machine.topology.pus.iter().any(|pu| pu.smt.is_some_and(|smt| smt > 0));
        let [active, control] = match (is_active, has_siblings) {
            (true, _) => ["1", "on"],
            (false, true) => ["0", "off"],
            (false, false) => ["0", "notsupported"],
        };
        for (name, value) in [
            ("possible", &*ranges(&present)),
            ("present", &ranges(&present)),
            ("online", &ranges(&machine.online)),
            ("offline", &ranges(&present.without(&machine.online))),
            ("isolated", ""),
            ("kernel_max", KERNEL_MAX),
            ("smt/active", active),
            ("smt/control", control),
        ] {
            self.line(format!("{CPUS}/{name}"), value);
        }
    }

    fn topology(&mut self, machine: &PretendedMachine) {
        let ranks = core_ranks(machine);
        let around: [(&[&str], Parts); 6] = [
            (&["core_cpus", "thread_siblings"], Parts::of(machine, |pu| pu.core)),
            (&["package_cpus", "core_siblings"], Parts::of(machine, package)),
            (&["cluster_cpus"], Parts::of(machine, |pu| pu.cluster)),
            (&["die_cpus"], Parts::of(machine, |pu| pu.die)),
            (&["book_siblings"], Parts::of(machine, |pu| pu.book)),
            (&["drawer_siblings"], Parts::of(machine, |pu| pu.drawer)),
        ];
        for pu in &machine.topology.pus {
            let cpu = format!("{CPUS}/cpu{}", pu.os);
            let is_online = machine.online.contains(pu.os);
            // The first CPU of most computers cannot be switched off and lacks this file.
            if pu.os != 0 || !is_online {
                self.line(format!("{cpu}/online"), u8::from(is_online));
            }
            if !is_online {
                continue;
            }
            for (names, parts) in around.iter().filter(|(_, parts)| !parts.texts.is_empty()) {
                let [mask, list] = parts.around(pu);
                for name in *names {
                    self.line(format!("{cpu}/topology/{name}"), &mask);
                    self.line(format!("{cpu}/topology/{name}_list"), &list);
                }
            }
            let ids = [
                ("core_id", ranks.get(&pu.os).copied()),
                ("physical_package_id", package(pu)),
                ("die_id", pu.die),
                ("cluster_id", pu.cluster),
                ("book_id", pu.book),
                ("drawer_id", pu.drawer),
            ];
            for (name, id) in ids {
                id.into_iter().for_each(|id| self.line(format!("{cpu}/topology/{name}"), id));
            }
            let node = machine.node_of(pu.os);
            let link = TreeFile::Link(format!("../../node/node{node}"));
            self.files.insert(format!("{cpu}/node{node}"), link);
        }
    }

    /// Numbered without a gap, because `lscpu` stops at the first missing number.
    fn caches(&mut self, machine: &PretendedMachine) {
        let kinds: [(u32, &str, CacheBytes, Parts); 4] = [
            (1, "Data", |pu| pu.l1d_bytes, Parts::of(machine, |pu| pu.l1d_bytes.and(pu.core))),
            (
                1,
                "Instruction",
                |pu| pu.l1i_bytes,
                Parts::of(machine, |pu| pu.l1i_bytes.and(pu.core)),
            ),
            (2, "Unified", |pu| pu.l2_bytes, Parts::of(machine, |pu| pu.l2)),
            (3, "Unified", |pu| pu.l3_bytes, Parts::of(machine, |pu| pu.l3)),
        ];
        for pu in machine.running() {
            let known = kinds.iter().filter_map(|(level, kind, bytes, parts)| {
                Some((level, kind, (parts.number)(pu)?, bytes(pu), parts.around(pu)))
            });
            for (index, (level, kind, number, bytes, sharers)) in known.enumerate() {
                let cache = format!("{CPUS}/cpu{}/cache/index{index}", pu.os);
                self.line(format!("{cache}/level"), level);
                self.line(format!("{cache}/type"), kind);
                self.line(format!("{cache}/id"), number);
                self.line(format!("{cache}/coherency_line_size"), 64);
                let [mask, list] = sharers;
                self.line(format!("{cache}/shared_cpu_map"), mask);
                self.line(format!("{cache}/shared_cpu_list"), list);
                if let Some(bytes) = bytes {
                    self.line(format!("{cache}/size"), format_args!("{}K", bytes >> 10));
                }
            }
        }
    }

    fn node(&mut self, machine: &PretendedMachine, node: &PretendedNode, host: &HostFacts) {
        let all: CpuSet = machine.nodes.iter().map(|node| node.os).collect();
        let with_memory = machine.memory_nodes();
        let with_cpus =
            machine.nodes.iter().filter(|node| !node.cpus.is_empty()).map(|node| node.os);
        for (name, set) in [
            ("online", &all),
            ("possible", &all),
            ("has_cpu", &with_cpus.collect()),
            ("has_memory", &with_memory),
            ("has_normal_memory", &with_memory),
        ] {
            self.line(format!("{NODES}/{name}"), ranges(set));
        }
        let folder = format!("{NODES}/node{}", node.os);
        self.line(format!("{folder}/cpumap"), mask(&node.cpus, machine.cpu_bits()));
        self.line(format!("{folder}/cpulist"), ranges(&node.cpus));
        let distances: Vec<String> =
            machine.nodes.iter().map(|other| node.distance(other).to_string()).collect();
        self.line(format!("{folder}/distance"), distances.join(" "));
        for cpu in node.cpus.iter() {
            let link = TreeFile::Link(format!("../../cpu/cpu{cpu}"));
            self.files.insert(format!("{folder}/cpu{cpu}"), link);
        }
        let share = with_memory.len().max(1) as u64;
        let [total, free] = [host.memory_kib, host.free_kib]
            .map(|kib| if node.has_memory { kib / share } else { 0 });
        let os = node.os;
        let used = total - free.min(total);
        let memory = format!(
            "Node {os} MemTotal:       {total} kB\nNode {os} MemFree:        {free} kB\n\
             Node {os} MemUsed:        {used} kB"
        );
        self.line(format!("{folder}/meminfo"), memory);
        let counts = "numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\n\
                      other_node 0";
        self.line(format!("{folder}/numastat"), counts);
    }

    /// The CPUs and nodes once more, as devices of a bus.
    fn devices(&mut self, machine: &PretendedMachine) {
        let cpus = machine.topology.os_indices().map(|os| (CPU_DEVICES, format!("cpu/cpu{os}")));
        let nodes =
            machine.nodes.iter().map(|node| (NODE_DEVICES, format!("node/node{}", node.os)));
        for (folder, device) in cpus.chain(nodes) {
            let name = device.rsplit('/').next().unwrap_or_default();
            let link = TreeFile::Link(format!("../../../devices/system/{device}"));
            self.files.insert(format!("{folder}/{name}"), link);
        }
    }

    fn group(&mut self, machine: &PretendedMachine) {
        let group = machine.group;
        self.files.extend(group.files(machine));
        self.text(CONTROLLERS, group.controllers());
        self.text("proc/self/cgroup", group.membership());
        self.text("proc/self/cpuset", "/\n".to_owned());
    }
}

type CacheBytes = fn(&Pu) -> Option<u64>;

/// The CPUs of each part, as a mask and as a list. Written once, because there may be thousands.
struct Parts {
    number: fn(&Pu) -> Option<u32>,
    bits: u32,
    texts: BTreeMap<u32, [String; 2]>,
}

impl Parts {
    fn of(machine: &PretendedMachine, number: fn(&Pu) -> Option<u32>) -> Self {
        let bits = machine.cpu_bits();
        let parts = machine.parts(number).into_iter();
        let texts = parts.map(|(number, set)| (number, [mask(&set, bits), ranges(&set)]));
        Parts { number, bits, texts: texts.collect() }
    }

    fn around(&self, pu: &Pu) -> [String; 2] {
        let texts = (self.number)(pu).and_then(|number| self.texts.get(&number));
        texts.cloned().unwrap_or_else(|| {
            let single = CpuSet::single(pu.os);
            [mask(&single, self.bits), ranges(&single)]
        })
    }
}

fn package(pu: &Pu) -> Option<u32> {
    Some(pu.package.unwrap_or(0))
}

/// Within the package, as processors count.
pub fn core_ranks(machine: &PretendedMachine) -> BTreeMap<u32, u32> {
    let mut cores: BTreeMap<Option<u32>, Vec<Option<u32>>> = BTreeMap::new();
    let mut ranks = BTreeMap::new();
    for pu in &machine.topology.pus {
        let of_package = cores.entry(pu.package).or_default();
        let known = of_package.iter().position(|core| *core == pu.core && core.is_some());
        let rank = known.unwrap_or_else(|| {
            of_package.push(pu.core);
            of_package.len() - 1
        });
        ranks.insert(pu.os, rank as u32);
    }
    ranks
}

/// Two adjacent CPUs are also a range.
pub fn ranges(set: &CpuSet) -> String {
    let members = set.list().0;
    let runs = members.chunk_by(|cpu, next| cpu + 1 == *next).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        single => joined(single, ""),
    });
    joined(runs, ",")
}

/// A mask as the kernel writes it, with all leading zeros: libnuma counts CPUs by its length.
pub fn mask(set: &CpuSet, bits: u32) -> String {
    let groups = bits.div_ceil(GROUP_BITS);
    let own = set.to_mask();
    let missing = (groups as usize).saturating_sub(own.split(',').count());
    let text = format!("{}{own}", "00000000,".repeat(missing));
    text[(groups * GROUP_BITS - bits) as usize / 4..].to_owned()
}

#[cfg(test)]
mod tests;
