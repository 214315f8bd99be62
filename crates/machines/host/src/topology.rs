//! The PUs of this computer, from hwloc.

use hwlocality::Topology as Hwloc;
use hwlocality::object::TopologyObject;
use hwlocality::object::types::ObjectType;
use seatmap_machine::{CoreKind, Pu, Topology};
use seatmap_os::affinity;
use std::collections::HashSet;

/// Why the topology could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// hwloc failed.
    #[error("hwloc cannot read this machine's topology: {0}")]
    Hwloc(String),
    /// The affinity mask could not be read.
    #[error("cannot read which CPUs this process may use")]
    Affinity(#[from] std::io::Error),
}

/// The PUs that this process may use, with what they share.
///
/// # Errors
/// hwloc or the kernel failed.
pub fn of_host() -> Result<Topology, TopologyError> {
    let hwloc = Hwloc::new().map_err(|error| TopologyError::Hwloc(error.to_string()))?;
    let allowed: HashSet<u32> = affinity::current()?.into_iter().collect();
    let mut topology = from_hwloc(&hwloc);
    topology.pus.retain(|pu| allowed.contains(&pu.os));
    Ok(topology)
}

/// The PUs of a topology that hwloc has loaded, by ascending OS index. Cores and caches are numbered as hwloc numbers
/// them; NUMA nodes, dies and packages as the operating system does, where it does.
#[must_use]
pub fn from_hwloc(hwloc: &Hwloc) -> Topology {
    let kinds = kinds(hwloc);
    let kind_of = |os: u32| kinds.iter().find_map(|(pus, kind)| pus.contains(&os).then_some(*kind));
    let mut pus: Vec<Pu> = hwloc.objects_with_type(ObjectType::PU).filter_map(|object| pu(object, kind_of)).collect();
    pus.sort_by_key(|pu| pu.os);
    Topology { pus }
}

fn pu(object: &TopologyObject, kind_of: impl Fn(u32) -> Option<CoreKind>) -> Option<Pu> {
    let os = u32::try_from(object.os_index()?).ok()?;
    let core = object.first_ancestor_with_type(ObjectType::Core);
    Some(Pu {
        os,
        core: core.map(logical),
        smt: core.map(|core| rank_in(core, object)),
        l2: object.first_ancestor_with_type(ObjectType::L2Cache).map(logical),
        l3: object.first_ancestor_with_type(ObjectType::L3Cache).map(logical),
        die: object.first_ancestor_with_type(ObjectType::Die).map(logical),
        numa: nearest_node(object),
        package: object.first_ancestor_with_type(ObjectType::Package).map(by_os),
        kind: kind_of(os),
    })
}

fn logical(object: &TopologyObject) -> u32 {
    object.logical_index() as u32
}

fn by_os(object: &TopologyObject) -> u32 {
    object.os_index().unwrap_or_else(|| object.logical_index()) as u32
}

/// The rank of a PU among those of its core.
fn rank_in(core: &TopologyObject, pu: &TopologyObject) -> u32 {
    let rank = core.normal_children().position(|child| child.global_persistent_index() == pu.global_persistent_index());
    rank.unwrap_or(0) as u32
}

/// The node of the closest ancestor that has memory attached; the first one where it has several (HBM beside DRAM).
fn nearest_node(pu: &TopologyObject) -> Option<u32> {
    let memory = pu.ancestors().find_map(|ancestor| first_node(ancestor.memory_children()));
    memory.map(by_os)
}

/// The first NUMA node among memory children, looking through memory-side caches.
fn first_node<'a>(children: impl Iterator<Item = &'a TopologyObject>) -> Option<&'a TopologyObject> {
    let mut level: Vec<&TopologyObject> = children.collect();
    while !level.is_empty() {
        if let Some(node) = level.iter().find(|child| child.object_type() == ObjectType::NUMANode) {
            return Some(node);
        }
        level = level.into_iter().flat_map(TopologyObject::memory_children).collect();
    }
    None
}

/// The PUs of each kind, on processors that have two: hwloc names Intel's (`CoreType`) and ranks the others' by efficiency.
fn kinds(hwloc: &Hwloc) -> Vec<(HashSet<u32>, CoreKind)> {
    let Ok(kinds) = hwloc.cpu_kinds() else { return Vec::new() };
    if kinds.len() < 2 {
        return Vec::new();
    }
    let largest = kinds.len() - 1;
    kinds
        .filter_map(|kind| {
            let named = kind.infos.iter().find(|info| info.name().to_bytes() == b"CoreType");
            let named = named.map(|info| info.value().to_string_lossy().into_owned());
            let kind_of = match named.as_deref() {
                Some("IntelCore") => CoreKind::Performance,
                Some("IntelAtom") => CoreKind::Efficiency,
                _ if kind.efficiency? == largest => CoreKind::Performance,
                _ => CoreKind::Efficiency,
            };
            let pus = kind.cpuset.iter_set().map(|bit| usize::from(bit) as u32).collect();
            Some((pus, kind_of))
        })
        .collect()
}
