//! The PUs of a computer and what they share, from `/sys` and `/proc`.
//!
//! [`of_host`] reads this computer. [`read_folder`] and [`read_gathered`] read another computer's
//! gathered files: a folder with `sys` and `proc`, or an archive of `hwloc-gather-topology`. All
//! three agree with hwloc's `lstopo` on the same files, including its numbers (tested). On this
//! computer the numbers are those of the whole machine, as in hwloc without a cpuset.
//!
//! | level | read from | numbered by |
//! |---|---|---|
//! | PU | `cpu/online`, the `cpuN` with a `topology`, the process's cgroup | the kernel |
//! | core | `core_cpus`, `thread_siblings` | a walk through the tree |
//! | cluster, die | `cluster_cpus`, `die_cpus`, if not all of a level | a walk through the tree |
//! | L2, L3 | `cache/index*`, on POWER `/proc/device-tree` | a walk through the tree |
//! | package | `package_cpus`, `core_siblings` | `physical_package_id` |
//! | book, drawer | `book_siblings`, `drawer_siblings` (IBM Z) | a walk through the tree |
//! | NUMA node | `node/nodeN`, HMAT initiators and distances for memory without CPUs | the kernel |
//! | cache sizes | `cache/index*/size` | |
//! | priority | `amd_pstate_prefcore_ranking`, `acpi_cppc/highest_perf` | the firmware |
//! | kind | `cpu_core`, `cpu_atom`, `cpu_capacity`, `cpufreq` | |
//!
//! The files are not trusted: sizes are bounded, links stay within the tree, and an unreadable file
//! counts as absent.

mod allowed;
mod archive;
mod cpus;
mod device_tree;
mod distances;
mod kinds;
mod nest;
mod nodes;
mod tree;
#[cfg(test)]
mod trees_for_tests;
mod unequal;

use allowed::Allowed;
use nest::{SetNumbers, SharingKind};
use nodes::NumaNodes;
use seatmap_data::machine::import::{MAX_PUS, ProfileNote};
use seatmap_data::machine::{Pu, Topology};
use seatmap_os::cpus::{Cpus, in_cpuset};
use seatmap_os::{CpuSet, affinity};
use std::collections::HashMap;
use std::path::Path;
use tree::FileTree;

pub use archive::MAX_UNPACKED_BYTES;

/// Why the topology could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// The affinity mask could not be read.
    #[error("cannot read the CPUs available to this process")]
    Affinity(#[from] std::io::Error),
    /// The folder does not hold the files of a Linux computer.
    #[error(
        "{0} has no folder 'sys'; give the folder from hwloc-gather-topology, with 'sys' and 'proc'"
    )]
    NoSys(String),
    /// No CPU is online.
    #[error(
        "sys/devices/system/cpu lists no online CPU; gather the files again on the computer itself \
         (hwloc-gather-topology NAME)"
    )]
    NoCpu,
    /// The process may use no online CPU.
    #[error("the files were gathered in a cpuset without online CPUs; gather them outside it")]
    NothingAllowed,
    /// More than [`MAX_PUS`] CPUs.
    #[error(
        "{count} or more CPUs are online; Seatmap reads at most {MAX_PUS}; give a smaller computer"
    )]
    TooMany {
        /// CPUs found before reading stopped.
        count: usize,
    },
}

/// Why an archive of a computer's files could not be read.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// The file is empty.
    #[error("the file is empty; gather the files again (hwloc-gather-topology NAME)")]
    Empty,
    /// The file is not a tar archive, plain or packed with bzip2.
    #[error("this is not a tar archive; give the NAME.tar.bz2 from hwloc-gather-topology")]
    NotAnArchive,
    /// The archive is truncated or damaged.
    #[error("the archive is damaged or cut off: {0}; copy it again")]
    Broken(#[source] std::io::Error),
    /// A path leads out of the archive, or is too long.
    #[error("the path '{0}' leads out of the archive or is too long; gather the files again")]
    Path(String),
    /// The archive unpacks to more than [`MAX_UNPACKED_BYTES`], or holds too many files.
    #[error(
        "the archive unpacks to more than 512 MiB or too many files; gather only 'sys' and 'proc'"
    )]
    TooLarge,
    /// The archive holds no folder `sys`.
    #[error("the archive has no folder 'sys'; give the NAME.tar.bz2 from hwloc-gather-topology")]
    NoSys,
    /// The archive does not hold the files of a computer.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}

/// The PUs of this process's mask, with what they share.
///
/// # Errors
/// [`TopologyError`], if the kernel does not list the PUs.
pub fn of_host() -> Result<Topology, TopologyError> {
    Ok(showing(&affinity::current()?.into_iter().collect()))
}

/// The PUs that this process may use if it names them: those of its mask, and isolated ones
/// (`isolcpus=`).
///
/// # Errors
/// [`TopologyError`], if the kernel does not list the PUs.
pub fn reachable() -> Result<Topology, TopologyError> {
    Ok(showing(&Cpus::read()?.reachable().into_iter().collect()))
}

/// The PUs of this process's control group, also those outside its mask.
///
/// # Errors
/// [`TopologyError`], if the kernel does not list the PUs.
pub fn of_group() -> Result<Topology, TopologyError> {
    Ok(showing(&in_cpuset()?))
}

/// These PUs with what they share, by the numbers of the whole machine. Reading changes no thread's
/// mask.
pub fn showing(cpus: &CpuSet) -> Topology {
    let tree = FileTree::of_host();
    let mut pus: HashMap<u32, Pu> = match within(&tree, &Allowed::read(&tree), Numbered::Machine) {
        Ok(found) => found.topology.pus.into_iter().map(|pu| (pu.os, pu)).collect(),
        // A sandbox without sysfs: only the mask is known.
        Err(_) => HashMap::new(),
    };
    let pus = cpus.iter().map(|os| pus.remove(&os).unwrap_or(Pu { os, ..Pu::default() })).collect();
    Topology { pus }
}

/// A computer from its gathered files.
#[derive(Debug, PartialEq)]
pub struct Gathered {
    /// Its PUs.
    pub topology: Topology,
    /// Contradictions between the files.
    pub notes: Vec<ProfileNote>,
}

/// The PUs of the computer whose `sys` and `proc` are in this folder, as far as the gathering
/// process could use them.
///
/// # Errors
/// [`TopologyError`] with what the folder lacks.
pub fn read_folder(folder: &Path) -> Result<Gathered, TopologyError> {
    let tree = FileTree::below(folder);
    if tree.has("sys") {
        of_tree(&tree)
    } else {
        Err(TopologyError::NoSys(folder.display().to_string()))
    }
}

/// The PUs of the computer whose files are in this archive, `.tar.bz2` or `.tar`, limited to those
/// that the gathering process could use.
///
/// # Errors
/// [`GatherError`] with what is wrong with the archive.
pub fn read_gathered(archive: &[u8]) -> Result<Gathered, GatherError> {
    Ok(of_tree(&archive::unpack(archive)?)?)
}

/// All online PUs of this computer, also those outside this process's cpuset, such as a cell's.
///
/// # Errors
/// [`TopologyError`], if the kernel does not list the PUs.
pub fn whole() -> Result<Topology, TopologyError> {
    let tree = FileTree::of_host();
    let allowed = Allowed { cpus: None, ..Allowed::read(&tree) };
    Ok(within(&tree, &allowed, Numbered::Machine)?.topology)
}

fn of_tree(tree: &FileTree) -> Result<Gathered, TopologyError> {
    within(tree, &Allowed::read(tree), Numbered::Allowed)
}

#[derive(Clone, Copy, PartialEq)]
enum Numbered {
    /// All online parts, so a number means the same part under every cpuset and mask.
    Machine,
    /// Those that the process may use, as hwloc counts in gathered files.
    Allowed,
}

fn within(
    tree: &FileTree,
    allowed: &Allowed,
    numbered: Numbered,
) -> Result<Gathered, TopologyError> {
    let running = cpus::running(tree)?;
    let mut nest = cpus::TopologyReader::new(tree, &running).nest();
    device_tree::add(tree, &running, &mut nest);
    let nodes = NumaNodes::read(tree, &running);
    nodes.nodes.iter().for_each(|node| nest.insert(SharingKind::Memory, node.cpus.clone(), None));
    if let Some(distances) = &nodes.distances {
        let groups = distances::groups(&nodes.nodes, distances);
        groups.into_iter().for_each(|set| nest.insert(SharingKind::Memory, set, None));
    }
    let notes = nest.notes();
    let pus = allowed.cpus.as_ref().map_or_else(|| running.clone(), |cpus| cpus.within(&running));
    if pus.is_empty() {
        return Err(TopologyError::NothingAllowed);
    }
    // A CPU keeps its node even if the cpuset allows none of its memory. Only hwloc's numbers of
    // the parts depend on the allowed nodes.
    let is_machine = numbered == Numbered::Machine;
    let counted: Vec<&CpuSet> = nodes
        .nodes
        .iter()
        .filter(|node| {
            is_machine || allowed.nodes.as_ref().is_none_or(|allowed| allowed.contains(node.os))
        })
        .map(|node| &node.cpus)
        .collect();
    let numbers = nest.numbers(if is_machine { &running } else { &pus }, &counted);
    let mut all: Vec<Pu> = pus
        .iter()
        .map(|os| pu(os, &numbers, nodes.of_cpu(os, &pus, allowed.nodes.as_ref())))
        .collect();
    for pu in &mut all {
        pu.memory = pu.numa.and_then(|own| nodes.instead(tree, own));
    }
    rank_threads(&mut all);
    kinds::add(tree, &running, &mut all);
    unequal::add(tree, &mut all);
    Ok(Gathered { topology: Topology { pus: all }, notes })
}

fn pu(os: u32, numbers: &SetNumbers, numa: Option<u32>) -> Pu {
    Pu {
        os,
        core: number(numbers, os, SharingKind::Core),
        l2: number(numbers, os, SharingKind::L2),
        cluster: number(numbers, os, SharingKind::Cluster),
        l3: number(numbers, os, SharingKind::L3),
        die: number(numbers, os, SharingKind::Die),
        numa,
        package: number(numbers, os, SharingKind::Package),
        book: number(numbers, os, SharingKind::Book),
        drawer: number(numbers, os, SharingKind::Drawer),
        ..Pu::default()
    }
}

fn number(numbers: &SetNumbers, os: u32, kind: SharingKind) -> Option<u32> {
    numbers.get(&(os, kind)).copied()
}

fn rank_threads(pus: &mut [Pu]) {
    let mut threads_of_core = HashMap::<u32, u32>::new();
    for pu in pus {
        pu.smt = pu.core.map(|core| {
            let threads = threads_of_core.entry(core).or_default();
            *threads += 1;
            *threads - 1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::trees_for_tests::tree_of;
    use super::*;

    #[test]
    fn cpuset_keeps_the_machines_numbering() {
        let files = [
            ("proc/self/cgroup", "3:cpuset:/job\n"),
            ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-3"),
            ("sys/fs/cgroup/cpuset/job/cpuset.cpus", "3"),
            ("sys/devices/system/cpu/online", "0-3"),
            ("sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0-1"),
            ("sys/devices/system/cpu/cpu1/topology/core_cpus_list", "0-1"),
            ("sys/devices/system/cpu/cpu2/topology/core_cpus_list", "2"),
            ("sys/devices/system/cpu/cpu3/topology/core_cpus_list", "3"),
        ];
        let tree = tree_of(&files);
        let cores = |numbered| -> Vec<(u32, Option<u32>)> {
            let found = within(&tree, &Allowed::read(&tree), numbered).unwrap();
            found.topology.pus.iter().map(|pu| (pu.os, pu.core)).collect()
        };
        assert_eq!(cores(Numbered::Machine), [(3, Some(2))]);
        assert_eq!(cores(Numbered::Allowed), [(3, Some(0))], "as hwloc counts");
    }

    #[test]
    fn overlapping_packages_are_noted() {
        let tree = tree_of(&[
            ("sys/devices/system/cpu/online", "0-3"),
            ("sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0-2"),
            ("sys/devices/system/cpu/cpu1/topology/package_cpus_list", "0-2"),
            ("sys/devices/system/cpu/cpu2/topology/package_cpus_list", "2-3"),
            ("sys/devices/system/cpu/cpu3/topology/package_cpus_list", "2-3"),
        ]);
        let notes = of_tree(&tree).unwrap().notes;
        let told: Vec<String> = notes.iter().map(ToString::to_string).collect();
        let what = "the files contradict each other: the package of CPUs 2,3 and the package of \
                    CPUs 0-2 overlap; the first one was left out";
        assert_eq!(told, [what]);
    }
}
