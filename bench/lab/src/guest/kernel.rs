//! Facts about this computer, read from sysfs without Seatmap's code, and hwloc's.

use crate::list::{self, CpuNumbers};
use crate::trial::{VerbFailure, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::{Duration, Instant};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// Time limit for switching a CPU: emulated CPUs are slow.
const SETTLES_WITHIN: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct NodeFacts {
    pub id: u32,
    /// Its online CPUs.
    pub cpus: CpuNumbers,
    pub memory_kib: u64,
}

#[derive(Clone, Debug)]
pub struct KernelFacts {
    pub online: CpuNumbers,
    pub offline: CpuNumbers,
    pub isolated: CpuNumbers,
    /// By level: `core`, `l2`, `l3`, `die`, `package`, `numa`; sorted by first CPU.
    pub parts: BTreeMap<&'static str, BTreeSet<CpuNumbers>>,
    pub nodes: Vec<NodeFacts>,
    /// `cpu_capacity` or CPPC's highest performance of each CPU, if the kernel reports one.
    pub ranks: BTreeMap<u32, u32>,
}

impl KernelFacts {
    pub fn read() -> Self {
        let online = list::read(&format!("{CPUS}/online"));
        let mut parts = BTreeMap::new();
        let files = [
            ("core", "topology/core_cpus_list"),
            ("die", "topology/die_cpus_list"),
            ("package", "topology/package_cpus_list"),
        ];
        for (level, file) in files {
            parts.insert(level, parts_by(&online, |cpu| Some(file_of(cpu, file))));
        }
        for (level, number) in [("l2", "2"), ("l3", "3")] {
            parts.insert(level, parts_by(&online, |cpu| cache(cpu, number)));
        }
        let nodes = nodes(&online);
        let with_cpus = nodes.iter().map(|node| node.cpus.clone()).filter(|cpus| !cpus.is_empty());
        parts.insert("numa", with_cpus.collect());
        Self {
            offline: list::read(&format!("{CPUS}/offline")),
            isolated: list::read(&format!("{CPUS}/isolated")),
            ranks: online.iter().filter_map(|cpu| Some((*cpu, rank(*cpu)?))).collect(),
            nodes,
            parts,
            online,
        }
    }

    pub fn running(&self, cpus: &CpuNumbers) -> CpuNumbers {
        cpus.intersection(&self.online).copied().collect()
    }

    /// Online and not isolated.
    pub fn usable(&self) -> CpuNumbers {
        self.online.difference(&self.isolated).copied().collect()
    }

    /// The parts of a level without isolated CPUs; empty parts are omitted.
    pub fn usable_parts(&self, level: &str) -> BTreeSet<CpuNumbers> {
        let usable = self.usable();
        let parts = self.parts.get(level).into_iter().flatten();
        let within = parts.map(|part| part.intersection(&usable).copied().collect());
        within.filter(|part: &CpuNumbers| !part.is_empty()).collect()
    }

    pub fn first_offline(&self) -> Option<u32> {
        self.offline.iter().copied().find(|cpu| exists(*cpu))
    }

    pub fn part_of(&self, level: &str, cpu: u32) -> Option<&CpuNumbers> {
        self.parts.get(level)?.iter().find(|part| part.contains(&cpu))
    }

    /// Two of one core if possible, one with another cache, and the last.
    pub fn spread(&self) -> Vec<u32> {
        let usable = self.usable();
        let Some(first) = usable.first().copied() else { return Vec::new() };
        let sibling = self.part_of("core", first).into_iter().flatten().find(|cpu| **cpu != first);
        let elsewhere = ["l3", "numa", "l2", "core"].iter().find_map(|level| {
            let own = self.part_of(level, first)?;
            usable.iter().find(|cpu| !own.contains(cpu))
        });
        let mut chosen = vec![first];
        let second = usable.iter().nth(1);
        for cpu in [sibling, elsewhere, usable.last(), second].into_iter().flatten() {
            if !chosen.contains(cpu) && usable.contains(cpu) {
                chosen.push(*cpu);
            }
        }
        chosen.truncate(4);
        chosen
    }
}

pub fn exists(cpu: u32) -> bool {
    std::path::Path::new(&format!("{CPUS}/cpu{cpu}")).exists()
}

/// Switches a CPU on or off; retries while the kernel is busy with another switch.
///
/// # Errors
/// [`VerbFailure::Wrong`] if the CPU does not switch.
pub fn set(cpu: u32, is_online: bool) -> Result<(), VerbFailure> {
    let path = format!("{CPUS}/cpu{cpu}/online");
    let word = if is_online { "1" } else { "0" };
    let begun = Instant::now();
    while std::fs::read_to_string(&path).is_ok_and(|now| now.trim() != word) {
        let _ = std::fs::write(&path, word);
        let is_late = begun.elapsed() > SETTLES_WITHIN;
        ensure(!is_late, || format!("the kernel does not switch CPU {cpu} to {word}"))?;
    }
    Ok(())
}

fn file_of(cpu: u32, file: &str) -> CpuNumbers {
    list::read(&format!("{CPUS}/cpu{cpu}/{file}"))
}

/// The different sets of CPUs, without offline ones. Linux 6.1 keeps offline CPUs in the sets of
/// caches.
fn parts_by(online: &CpuNumbers, part: impl Fn(u32) -> Option<CpuNumbers>) -> BTreeSet<CpuNumbers> {
    let sets = online.iter().filter_map(|cpu| part(*cpu));
    let running = sets.map(|set| set.intersection(online).copied().collect());
    running.filter(|set: &CpuNumbers| !set.is_empty()).collect()
}

fn cache(cpu: u32, level: &str) -> Option<CpuNumbers> {
    let entries = std::fs::read_dir(format!("{CPUS}/cpu{cpu}/cache")).ok()?;
    entries.filter_map(Result::ok).map(|entry| entry.path()).find_map(|folder| {
        let own = std::fs::read_to_string(folder.join("level")).ok()?;
        let set = list::read(&folder.join("shared_cpu_list").display().to_string());
        (own.trim() == level).then_some(set)
    })
}

fn rank(cpu: u32) -> Option<u32> {
    let files = ["cpu_capacity", "acpi_cppc/highest_perf"];
    files.iter().find_map(|file| {
        std::fs::read_to_string(format!("{CPUS}/cpu{cpu}/{file}")).ok()?.trim().parse().ok()
    })
}

fn nodes(online: &CpuNumbers) -> Vec<NodeFacts> {
    let ids = list::read(&format!("{NODES}/online"));
    ids.into_iter().map(|id| node(id, online)).collect()
}

fn node(id: u32, online: &CpuNumbers) -> NodeFacts {
    let text = std::fs::read_to_string(format!("{NODES}/node{id}/meminfo")).unwrap_or_default();
    let total = text.lines().find(|line| line.contains("MemTotal:"));
    let size = total.and_then(|line| line.split_whitespace().nth_back(1)?.parse().ok());
    let cpus = list::read(&format!("{NODES}/node{id}/cpulist"));
    let cpus = cpus.intersection(online).copied().collect();
    NodeFacts { id, cpus, memory_kib: size.unwrap_or_default() }
}

pub fn mask(pid: u32, tid: u32) -> Option<CpuNumbers> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list::parse(line).ok()?.into_iter().collect())
}

pub fn threads(pid: u32) -> Vec<u32> {
    let mut tids = numbers(&format!("/proc/{pid}/task"));
    tids.sort_unstable();
    tids
}

/// Without kernel threads.
pub fn processes() -> Vec<u32> {
    numbers("/proc").into_iter().filter(|pid| is_program(*pid)).collect()
}

fn is_program(pid: u32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    text.contains("VmSize:")
}

fn numbers(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

pub fn all_masks() -> BTreeMap<(u32, u32), CpuNumbers> {
    let own = std::process::id();
    let tasks = processes().into_iter().filter(|pid| *pid != own);
    let tasks = tasks.flat_map(|pid| threads(pid).into_iter().map(move |tid| (pid, tid)));
    tasks.filter_map(|(pid, tid)| Some(((pid, tid), mask(pid, tid)?))).collect()
}

/// `None` if the guest has no `lstopo`.
pub fn hwloc() -> Option<BTreeMap<String, BTreeSet<CpuNumbers>>> {
    let output = Command::new("lstopo-no-graphics")
        .args(["--no-io", "--filter", "all:all", "--of", "xml", "-"])
        .output()
        .ok()?;
    output.status.success().then(|| parts_of_xml(&String::from_utf8_lossy(&output.stdout)))
}

fn parts_of_xml(text: &str) -> BTreeMap<String, BTreeSet<CpuNumbers>> {
    let mut parts = BTreeMap::<String, BTreeSet<CpuNumbers>>::new();
    for object in text.split("<object ").skip(1) {
        let object = object.split('>').next().unwrap_or_default();
        let kind = attribute(object, "type").unwrap_or_default();
        let cpus = attribute(object, "cpuset").map(list::mask).unwrap_or_default();
        if !cpus.is_empty() {
            parts.entry(kind.to_owned()).or_default().insert(cpus);
        }
    }
    parts
}

fn attribute<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let start = object.find(&format!("{name}=\""))? + name.len() + 2;
    object[start..].split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_from_hwloc_xml() {
        let text = "<object type=\"Core\" os_index=\"0\" cpuset=\"0x00000003\" gp_index=\"2\">\n\
                    <object type=\"PU\" cpuset=\"0x00000001\"/>\n<object type=\"Core\" cpuset=\"0x0000000c\">";
        let parts = parts_of_xml(text);
        assert_eq!(
            parts["Core"],
            BTreeSet::from([CpuNumbers::from([0, 1]), CpuNumbers::from([2, 3])])
        );
    }
}
