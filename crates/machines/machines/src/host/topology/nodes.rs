//! NUMA nodes, and the CPUs near the memory of each.

use super::tree::FileTree;
use seatmap_os::CpuSet;
use std::collections::HashSet;

const FOLDER: &str = "sys/devices/system/node";

/// The most nodes: Linux supports 1024 (`NODES_SHIFT`).
const MAX_NODES: usize = 1024;

#[derive(Clone)]
pub struct NodeCpus {
    pub os: u32,
    pub cpus: CpuSet,
}

#[derive(Default)]
pub struct NumaNodes {
    pub nodes: Vec<NodeCpus>,
    /// Distances between these nodes from the firmware (SLIT), if known for all nodes.
    pub distances: Option<Vec<Vec<u64>>>,
}

impl NumaNodes {
    /// The nodes that the kernel lists, or one node with all CPUs.
    pub fn read(tree: &FileTree, cpus: &CpuSet) -> Self {
        let numbers = numbers(tree);
        let mut found =
            without_overlaps(numbers.iter().filter_map(|os| node(tree, *os, cpus)).collect());
        let distances = distances(tree, &numbers, &found);
        // A kernel without NUMA has one memory for all.
        if found.is_empty() {
            let nodes = vec![NodeCpus { os: 0, cpus: cpus.clone() }];
            return NumaNodes { nodes, distances: None };
        }
        // As the kernel lists them, so a node which gains CPUs below does not pass them on.
        let known = found.clone();
        for node in &mut found {
            initiators(tree, node.os, &known).for_each(|near| node.cpus.extend(&near.cpus));
        }
        if let Some(distances) = &distances {
            settle(&mut found, distances, numbers.len());
        }
        NumaNodes { nodes: found, distances }
    }

    /// The local node of a CPU: its smallest, and the first among equals. Additional faster memory
    /// is a later node, which a CPU does not use by default. Usable memory is preferred, but not
    /// required.
    pub fn of_cpu(&self, cpu: u32, allowed: &CpuSet, usable: Option<&CpuSet>) -> Option<u32> {
        let local = self.nodes.iter().filter(|node| node.cpus.contains(cpu));
        local
            .min_by_key(|node| {
                (
                    usable.is_some_and(|usable| !usable.contains(node.os)),
                    node.cpus.within(allowed).len(),
                    node.os,
                )
            })
            .map(|node| node.os)
    }

    /// The nearest node with memory, if this one has none; `None` also if the kernel does not list
    /// the nodes with memory.
    pub fn instead(&self, tree: &FileTree, own: u32) -> Option<u32> {
        let have_memory =
            tree.set(&format!("{FOLDER}/has_memory")).filter(|nodes| !nodes.is_empty())?;
        if have_memory.contains(own) {
            return None;
        }
        let at = self.nodes.iter().position(|node| node.os == own)?;
        let others =
            self.nodes.iter().enumerate().filter(|(_, node)| have_memory.contains(node.os));
        others
            .min_by_key(|(other, node)| {
                (self.distances.as_ref().map(|rows| rows[at][*other]), node.os)
            })
            .map(|(_, node)| node.os)
    }
}

fn numbers(tree: &FileTree) -> Vec<u32> {
    tree.set(&format!("{FOLDER}/online"))
        .filter(|online| !online.is_empty())
        .unwrap_or_else(|| -> CpuSet {
            let names = tree.list(FOLDER);
            names
                .iter()
                .filter_map(|name| name.strip_prefix("node")?.parse().ok())
                .filter(|os| *os < 1 << 20)
                .collect()
        })
        .iter()
        .take(MAX_NODES)
        .collect()
}

fn node(tree: &FileTree, os: u32, cpus: &CpuSet) -> Option<NodeCpus> {
    let map =
        tree.text(&format!("{FOLDER}/node{os}/cpumap")).and_then(|text| CpuSet::of_mask(&text));
    let near = map.or_else(|| tree.set(&format!("{FOLDER}/node{os}/cpulist")))?;
    Some(NodeCpus { os, cpus: near.within(cpus) })
}

/// Omits nodes that claim a CPU of an earlier node, as hwloc does. No machine has such nodes, so
/// the firmware is wrong.
fn without_overlaps(nodes: Vec<NodeCpus>) -> Vec<NodeCpus> {
    let mut taken = CpuSet::default();
    nodes
        .into_iter()
        .filter(|node| {
            let fits = !node.cpus.meets(&taken);
            if fits {
                taken.extend(&node.cpus);
            }
            fits
        })
        .collect()
}

/// The other nodes whose CPUs reach this node's memory best (HMAT). Class 1 covers only CPUs, class
/// 0 also devices.
fn initiators<'a>(
    tree: &FileTree,
    os: u32,
    nodes: &'a [NodeCpus],
) -> impl Iterator<Item = &'a NodeCpus> {
    let names = [1, 0]
        .into_iter()
        .map(|class| format!("{FOLDER}/node{os}/access{class}/initiators"))
        .find(|folder| tree.has(folder))
        .map_or_else(Vec::new, |folder| tree.list(&folder));
    let near: HashSet<u32> =
        names.iter().filter_map(|name| name.strip_prefix("node")?.parse().ok()).collect();
    nodes.iter().filter(move |node| node.os != os && near.contains(&node.os))
}

/// The kernel writes the distances row by row, in the order of all nodes, even if their numbers
/// have gaps.
fn distances(tree: &FileTree, numbers: &[u32], nodes: &[NodeCpus]) -> Option<Vec<Vec<u64>>> {
    let places = nodes.iter().map(|node| numbers.binary_search(&node.os).ok());
    let places = places.collect::<Option<Vec<usize>>>()?;
    let rows = nodes.iter().map(|node| {
        let text = tree.text(&format!("{FOLDER}/node{}/distance", node.os))?;
        let row: Vec<u64> =
            text.split_whitespace().map(|value| value.parse().ok()).collect::<Option<_>>()?;
        (row.len() == numbers.len()).then(|| places.iter().map(|at| row[*at]).collect())
    });
    rows.collect()
}

/// Gives nodes without CPUs the CPUs of the nearest nodes, unless all other nodes of the computer
/// are equally near.
fn settle(nodes: &mut [NodeCpus], distances: &[Vec<u64>], count: usize) {
    for at in 0..nodes.len() {
        let others = (0..nodes.len()).filter(|other| *other != at);
        let Some(least) = others.clone().map(|other| distances[at][other]).min() else { return };
        let nearest: Vec<usize> = others.filter(|other| distances[at][*other] == least).collect();
        // Equal distances, or a distance to itself as large as to others, show no nearest node.
        let tells = least > distances[at][at] && nearest.len() < count - 1;
        if nodes[at].cpus.is_empty() && tells {
            for other in nearest {
                let near = nodes[other].cpus.clone();
                nodes[at].cpus.extend(&near);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trees_for_tests::tree_of;
    use super::*;

    fn tree(files: &[(&str, &str)]) -> FileTree {
        let files = files.iter().map(|(path, text)| (format!("{FOLDER}/{path}"), *text));
        tree_of(&files.collect::<Vec<_>>())
    }

    fn read(files: &[(&str, &str)]) -> Vec<(u32, Vec<u32>)> {
        let nodes = NumaNodes::read(&tree(files), &(0..8).collect()).nodes;
        nodes.into_iter().map(|node| (node.os, node.cpus.iter().collect())).collect()
    }

    #[test]
    fn sparse_nodes_are_read_from_maps_and_lists() {
        let files = [
            ("online", "0,33\n"),
            ("node0/cpumap", "0f"),
            ("node33/cpulist", "4-9"),
            ("node7/cpumap", "1"),
        ];
        assert_eq!(read(&files), [(0, vec![0, 1, 2, 3]), (33, vec![4, 5, 6, 7])]);
        assert_eq!(read(&files[1..3]), [(0, vec![0, 1, 2, 3]), (33, vec![4, 5, 6, 7])]);
    }

    #[test]
    fn nearest_node_replaces_one_without_memory() {
        let mut files = vec![
            ("node0/cpumap", "03"),
            ("node1/cpumap", "0c"),
            ("node2/cpumap", "30"),
            ("node0/distance", "10 21 17"),
            ("node1/distance", "21 10 28"),
            ("node2/distance", "17 28 10"),
        ];
        let instead = |files: &[(&str, &str)]| {
            let tree = tree(files);
            let nodes = NumaNodes::read(&tree, &(0..8).collect());
            [0, 1, 2].map(|own| nodes.instead(&tree, own))
        };
        assert_eq!(instead(&files), [None; 3], "the kernel says nothing of memory");
        files.push(("has_memory", "1-2"));
        assert_eq!(instead(&files), [Some(2), None, None]);
    }

    #[test]
    fn machine_without_nodes_has_one() {
        assert_eq!(read(&[]), [(0, (0..8).collect())]);
        assert_eq!(read(&[("node1/cpumap", "nonsense")]), [(0, (0..8).collect())]);
    }

    #[test]
    fn node_with_anothers_cpus_is_omitted() {
        assert_eq!(read(&[("node0/cpumap", "ff"), ("node1/cpumap", "3")]), [(0, (0..8).collect())]);
    }

    #[test]
    fn node_without_cpus_belongs_to_the_nearest() {
        let nodes = [("node0/cpumap", "0f"), ("node1/cpumap", "f0"), ("node2/cpumap", "0")];
        let distances = |last| {
            [
                ("node0/distance", "10 21 17"),
                ("node1/distance", "21 10 28"),
                ("node2/distance", last),
            ]
        };
        let near = read(&[&nodes[..], &distances("17 28 10")].concat());
        assert_eq!(near[2], (2, vec![0, 1, 2, 3]));
        let anywhere = read(&[&nodes[..], &distances("28 28 10")].concat());
        assert_eq!(anywhere[2], (2, vec![]));
        let told = read(&[&nodes[..], &[("node2/access0/initiators/node1", "")]].concat());
        assert_eq!(told[2], (2, vec![4, 5, 6, 7]));
    }
}
