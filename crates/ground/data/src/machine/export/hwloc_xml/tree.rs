//! Turns a flat list of PUs into hwloc's tree of objects.

use super::ProfileExportError;
use crate::machine::import::cpuset::HwlocBitmap;
use crate::machine::{Pu, Topology};
use seatmap_os::cpu_list::MAX_CPU;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

type Level = (&'static str, fn(&Pu) -> Option<u32>);

/// If two levels hold the same PUs, the earlier one is outside.
const LEVELS: [Level; 10] = [
    ("Drawer", |pu| pu.drawer),
    ("Book", |pu| pu.book),
    (ObjectTree::PACKAGE, |pu| pu.package),
    ("Die", |pu| pu.die),
    ("L3Cache", |pu| pu.l3),
    ("Cluster", |pu| pu.cluster),
    ("L2Cache", |pu| pu.l2),
    ("L1Cache", |pu| pu.l1d_bytes.and(pu.core)),
    ("L1iCache", |pu| pu.l1i_bytes.and(pu.core)),
    ("Core", |pu| pu.core),
];

/// The level of groups for NUMA nodes whose PUs do not form an object: hwloc attaches memory only
/// to objects.
const GROUP: &str = "Group";

/// Levels without a type in hwloc: name, kind and subkind of their groups, as in its Linux backend.
const GROUP_KINDS: [(&str, u32, u32); 3] =
    [("Cluster", 222, 0), ("Book", 110, 0), ("Drawer", 110, 1)];

pub struct HwlocObject {
    pub level: &'static str,
    pub os_index: Option<u32>,
    pub pus: Vec<u32>,
    /// NUMA nodes attached to it; `None` is the placeholder.
    pub numa_nodes: Vec<Option<u32>>,
    pub children: Vec<usize>,
}

impl HwlocObject {
    /// hwloc's type of this object, and for a group the attributes of its level.
    pub fn type_and_kind(&self) -> (&'static str, String) {
        let of_group = GROUP_KINDS.iter().find(|(level, ..)| *level == self.level);
        match of_group {
            Some((subtype, kind, subkind)) => {
                (GROUP, format!(" subtype=\"{subtype}\" kind=\"{kind}\" subkind=\"{subkind}\""))
            }
            None => (self.level, String::new()),
        }
    }

    /// A cache's level, its type in hwloc's numbers (0 is unified, 1 data, 2 instructions), and its
    /// size.
    pub fn cache(&self, topology: &Topology) -> Option<(u32, u32, u64)> {
        let pu = topology.pu(*self.pus.first()?)?;
        let (depth, cache_type, bytes) = match self.level {
            "L1Cache" => (1, 1, pu.l1d_bytes),
            "L1iCache" => (1, 2, pu.l1i_bytes),
            "L2Cache" => (2, 0, pu.l2_bytes),
            "L3Cache" => (3, 0, pu.l3_bytes),
            _ => return None,
        };
        Some((depth, cache_type, bytes.unwrap_or(0)))
    }

    fn new(level: &'static str, os_index: Option<u32>, pus: Vec<u32>) -> Self {
        HwlocObject { level, os_index, pus, numa_nodes: Vec::new(), children: Vec::new() }
    }
}

/// All objects, the machine first.
pub struct ObjectTree {
    pub nodes: Vec<HwlocObject>,
    innermost: HashMap<u32, usize>,
    numa_of: BTreeMap<u32, u32>,
}

impl ObjectTree {
    pub const ROOT: usize = 0;
    pub const MACHINE: &'static str = "Machine";
    pub const PACKAGE: &'static str = "Package";

    pub fn of(topology: &Topology) -> Result<Self, ProfileExportError> {
        let pus = checked_pus(topology)?;
        let mut tree = ObjectTree {
            innermost: pus.iter().map(|os| (*os, ObjectTree::ROOT)).collect(),
            numa_of: topology.pus.iter().filter_map(|pu| Some((pu.os, pu.numa?))).collect(),
            nodes: vec![HwlocObject::new(ObjectTree::MACHINE, Some(0), pus)],
        };
        tree.insert_levels(topology)?;
        for os in tree.nodes[ObjectTree::ROOT].pus.clone() {
            tree.insert(HwlocObject::new("PU", Some(os), vec![os]))?;
        }
        tree.sort_children();
        Ok(tree)
    }

    pub fn nodeset(&self, node: &HwlocObject) -> HwlocBitmap {
        if self.numa_of.is_empty() {
            HwlocBitmap::from_iter([0])
        } else {
            node.pus.iter().filter_map(|os| self.numa_of.get(os).copied()).collect()
        }
    }

    /// Inserts objects from the largest to the smallest, so each finds its parent.
    fn insert_levels(&mut self, topology: &Topology) -> Result<(), ProfileExportError> {
        let mut objects: Vec<HwlocObject> =
            LEVELS.iter().flat_map(|level| objects_of(topology, *level)).collect();
        // Before the sort: a node that fits no object adds a group, which must be inserted at its
        // size.
        self.attach_numa_nodes(topology, &mut objects);
        objects
            .sort_by_key(|node| (Reverse(node.pus.len()), rank(node), node.pus.first().copied()));
        objects.into_iter().try_for_each(|object| self.insert(object))
    }

    /// Attaches each NUMA node to the outermost object with the same PUs, other than the machine if
    /// possible.
    fn attach_numa_nodes(&mut self, topology: &Topology, objects: &mut Vec<HwlocObject>) {
        if self.numa_of.is_empty() {
            self.nodes[ObjectTree::ROOT].numa_nodes.push(None);
        }
        for numa in objects_of(topology, (GROUP, |pu| pu.numa)) {
            // `chain` puts the machine after the objects, so a node that spans a package belongs to
            // the package.
            let root = self.nodes.iter_mut().filter(|node| node.pus == numa.pus);
            match objects.iter_mut().chain(root).find(|object| object.pus == numa.pus) {
                Some(object) => object.numa_nodes.push(numa.os_index),
                None => objects.push(HwlocObject {
                    numa_nodes: vec![numa.os_index],
                    os_index: None,
                    ..numa
                }),
            }
        }
    }

    fn sort_children(&mut self) {
        let first: Vec<Option<u32>> =
            self.nodes.iter().map(|node| node.pus.first().copied()).collect();
        self.nodes.iter_mut().for_each(|node| node.children.sort_by_key(|child| first[*child]));
    }

    fn insert(&mut self, node: HwlocObject) -> Result<(), ProfileExportError> {
        let parent = node.pus.first().map_or(ObjectTree::ROOT, |os| {
            self.innermost.get(os).copied().unwrap_or(ObjectTree::ROOT)
        });
        // All PUs of an object must be in one object around it, or it crosses that one's border.
        if node
            .pus
            .iter()
            .any(|os| self.innermost.get(os).copied().unwrap_or(ObjectTree::ROOT) != parent)
        {
            return Err(ProfileExportError::Crossing { level: node.level, first_pu: node.pus[0] });
        }
        let at = self.nodes.len();
        self.innermost.extend(node.pus.iter().map(|os| (*os, at)));
        self.nodes[parent].children.push(at);
        self.nodes.push(node);
        Ok(())
    }
}

fn rank(node: &HwlocObject) -> Option<usize> {
    LEVELS.iter().position(|(level, _)| *level == node.level)
}

fn checked_pus(topology: &Topology) -> Result<Vec<u32>, ProfileExportError> {
    let indices = topology.pus.iter().flat_map(|pu| [Some(pu.os), pu.numa, pu.package]).flatten();
    if let Some(index) = indices.max().filter(|index| *index > MAX_CPU) {
        return Err(ProfileExportError::IndexTooLarge(index));
    }
    let pus: BTreeSet<u32> = topology.os_indices().collect();
    if pus.is_empty() { Err(ProfileExportError::NoPu) } else { Ok(pus.into_iter().collect()) }
}

fn objects_of(topology: &Topology, (level, number): Level) -> Vec<HwlocObject> {
    let mut pus = BTreeMap::<u32, BTreeSet<u32>>::new();
    for (number, os) in topology.pus.iter().filter_map(|pu| Some((number(pu)?, pu.os))) {
        pus.entry(number).or_default().insert(os);
    }
    pus.into_iter()
        .map(|(number, pus)| HwlocObject::new(level, Some(number), pus.into_iter().collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(tree: &ObjectTree, at: usize) -> String {
        let node = &tree.nodes[at];
        let children: Vec<String> = node.children.iter().map(|child| shape(tree, *child)).collect();
        let name = |numa: &Option<u32>| numa.map_or(" N?".to_owned(), |os| format!(" N{os}"));
        let memory: String = node.numa_nodes.iter().map(name).collect();
        match node.level {
            "PU" => node.pus[0].to_string(),
            level => format!("{level}{memory}({})", children.join(" ")),
        }
    }

    fn tree(pus: Vec<Pu>) -> Result<String, ProfileExportError> {
        ObjectTree::of(&Topology { pus }).map(|tree| shape(&tree, ObjectTree::ROOT))
    }

    #[test]
    fn objects_nest_by_their_pus() {
        let pu = |os: u32| Pu {
            os,
            core: Some(os % 4),
            l2: Some(os % 4 / 2),
            l3: Some(7),
            numa: Some(os % 4 / 2),
            package: Some(0),
            ..Pu::default()
        };
        let shape = tree((0..8).map(pu).collect()).unwrap();
        insta::assert_snapshot!(shape, @"Machine(Package(L3Cache(L2Cache N0(Core(0 4) Core(1 5)) L2Cache N1(Core(2 6) Core(3 7)))))");
    }

    #[test]
    fn memory_without_an_object_gets_a_group() {
        let pu = |os: u32| Pu { os, numa: Some(os / 2), ..Pu::default() };
        insta::assert_snapshot!(tree((0..4).map(pu).collect()).unwrap(), @"Machine(Group N0(0 1) Group N1(2 3))");
        insta::assert_snapshot!(tree(Topology::unknown([3, 1]).pus).unwrap(), @"Machine N?(1 3)");
    }

    #[test]
    fn invalid_topology_is_refused() {
        let pu = |os: u32| Pu { os, l3: Some(os / 2), l2: Some(os.div_ceil(2)), ..Pu::default() };
        assert_eq!(
            tree((0..4).map(pu).collect()),
            Err(ProfileExportError::Crossing { level: "L2Cache", first_pu: 1 })
        );
        assert_eq!(tree(Vec::new()), Err(ProfileExportError::NoPu));
        let far = Pu { numa: Some(u32::MAX), ..Pu::default() };
        assert_eq!(tree(vec![far]), Err(ProfileExportError::IndexTooLarge(u32::MAX)));
    }
}
