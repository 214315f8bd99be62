//! Computers written for these tests: cases that none of the published ones has, read by us and by
//! hwloc.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::host::judge::written::{Files, list};
use crate::host::judge::{assert_same, judgement};
use proptest::prelude::*;
use seatmap_data::machine::{CoreKind, Topology};
use seatmap_machines::host::topology::{TopologyError, read_folder};

fn read(files: &Files) -> (tempfile::TempDir, Result<Topology, TopologyError>) {
    let folder = seatmap_needs::many_files();
    files.write(folder.path()).unwrap();
    let read = read_folder(folder.path()).map(|gathered| gathered.topology);
    (folder, read)
}

fn judged(name: &str, files: &Files) -> Topology {
    let (folder, ours) = read(files);
    let ours = ours.unwrap();
    if let Some(judged) = judgement(folder.path()) {
        assert_same(name, &ours, &judged);
    }
    ours
}

fn pus(first: u32, end: u32) -> Vec<u32> {
    (first..end).collect()
}

fn two_packages() -> Files {
    let mut files = Files::of_pus(&pus(0, 8));
    files.package(0, &pus(0, 4));
    files.package(1, &pus(4, 8));
    for first in [0, 2, 4, 6] {
        files.cache(2, 2, "Unified", &[first, first + 1]);
    }
    files
}

#[test]
fn more_than_1024_sparse_pus_are_read() {
    let all: Vec<u32> = (0..1100).map(|at| at * 3).collect();
    let mut files = Files::of_pus(&all);
    for (id, package) in all.chunks(550).enumerate() {
        files.package(40 + 2 * id as u32, package);
        files.node(7 * id as u32, package, &[10, 20]);
    }
    all.chunks(2).for_each(|core| files.around("core_cpus", core));
    let topology = judged("1100 PUs", &files);
    assert_eq!((topology.pus.len(), topology.pus[1099].os), (1100, 3297));
    assert_eq!(
        (topology.count(|pu| pu.core), topology.pus[1099].package, topology.pus[1099].numa),
        (550, Some(42), Some(7))
    );
}

#[test]
fn three_core_kinds_are_read() {
    let mut files = Files::of_pus(&pus(0, 14));
    files.package(0, &pus(0, 14));
    files.around("die_cpus", &pus(0, 14));
    for (first, end) in [(0, 2), (2, 4), (4, 8), (8, 12), (12, 14)] {
        files.cache(2, 2, "Unified", &pus(first, end));
        files.around("cluster_cpus", &pus(first, end));
    }
    files.around("core_cpus", &[0, 1]);
    files.around("core_cpus", &[2, 3]);
    // The low-power island is outside the L3 cache.
    files.cache(3, 3, "Unified", &pus(0, 12));
    judged("three kinds", &files);
    // hwloc reads these lists from version 2.10 onwards; earlier versions ask the processor.
    files.put("sys/devices/cpu_core/cpus", "0-3");
    files.put("sys/devices/cpu_atom/cpus", "4-11");
    files.put("sys/devices/cpu_lowpower/cpus", "12-13");
    let topology = read(&files).1.unwrap();
    let letters: String =
        topology.pus.iter().filter_map(|pu| pu.kind).map(CoreKind::letters).collect();
    assert_eq!(letters, "PPPPEEEEEEEELPLP");
    assert_eq!((topology.pus[12].l3, topology.pus[11].l3), (None, Some(0)));
    assert_eq!(
        topology.count(|pu| pu.cluster),
        0,
        "clusters that are L2 caches are not told twice"
    );
    assert_eq!(topology.pus.iter().filter(|pu| pu.smt == Some(1)).count(), 2);
}

#[test]
fn unsized_cache_of_all_packages_is_dropped() {
    let mut files = two_packages();
    files.remove("cache");
    files.cache(2, 2, "Unified", &pus(0, 8));
    assert_eq!(read(&files).1.unwrap().count(|pu| pu.l2), 0, "as on Arm without firmware's word");
    files.put("sys/devices/system/cpu/cpu0/cache/index2/size", "4096K");
    assert_eq!(read(&files).1.unwrap().count(|pu| pu.l2), 1, "a cache that is described");
}

#[test]
fn old_file_names_and_missing_files_are_handled() {
    let mut files = two_packages();
    files.remove("package_cpus");
    files.around("core_siblings", &pus(0, 4));
    files.around("core_siblings", &pus(4, 8));
    files.remove("core_cpus");
    (0..8).step_by(2).for_each(|first| files.around("thread_siblings", &[first, first + 1]));
    let topology = judged("old names", &files);
    assert_eq!((topology.count(|pu| pu.package), topology.count(|pu| pu.core)), (2, 4));
    files.remove("shared_cpu_map");
    files.remove("physical_package_id");
    assert_eq!(judged("no maps", &files).count(|pu| pu.l2), 0);
    files.remove("core_siblings");
    assert_eq!(judged("no packages", &files).count(|pu| pu.package), 0);
}

#[test]
fn lists_replace_missing_masks() {
    let masks = two_packages();
    let mut lists = Files::default();
    for (path, text) in &masks.0 {
        match path.rsplit_once('/') {
            Some((folder, name @ ("core_cpus" | "package_cpus"))) => {
                lists.put(&format!("{folder}/{name}_list"), list_of(text));
            }
            Some((folder, "shared_cpu_map")) => {
                lists.put(&format!("{folder}/shared_cpu_list"), list_of(text))
            }
            _ => lists.put(path, text.trim()),
        }
    }
    assert_eq!(read(&lists).1.unwrap(), read(&masks).1.unwrap());
}

fn list_of(mask: &str) -> String {
    let bits = u32::from_str_radix(mask.trim(), 16).unwrap();
    list(&(0..32).filter(|bit| bits >> bit & 1 == 1).collect::<Vec<_>>())
}

#[test]
fn first_cpu_can_be_offline() {
    let mut files = two_packages();
    files.put("sys/devices/system/cpu/online", "1-7");
    files.remove("cpu0/topology");
    files.remove("cpu0/cache");
    files.put("sys/devices/system/cpu/cpu0/online", "0");
    let topology = judged("CPU 0 is offline", &files);
    assert!(topology.os_indices().eq(1..8));
    files.remove("cpu/online");
    files.put("sys/devices/system/cpu/cpu5/online", "0");
    let (_folder, ours) = read(&files);
    assert!(
        ours.unwrap().os_indices().eq([1, 2, 3, 4, 6, 7]),
        "each CPU says so itself on old kernels"
    );
}

#[test]
fn die_equal_to_its_package_is_dropped() {
    let mut files = two_packages();
    files.around("die_cpus", &pus(0, 4));
    files.around("die_cpus", &[4, 5]);
    files.around("die_cpus", &[6, 7]);
    files.remove("cache");
    let topology = judged("dies", &files);
    assert_eq!(
        (topology.pus[0].die, topology.pus[4].die, topology.pus[6].die),
        (None, Some(0), Some(1))
    );
}

#[test]
fn clusters_are_kept_if_they_divide_a_package() {
    let mut files = two_packages();
    files.remove("cache");
    files.around("cluster_cpus", &pus(0, 4));
    files.around("cluster_cpus", &[4, 5]);
    files.around("cluster_cpus", &[6, 7]);
    let topology = judged("clusters", &files);
    assert_eq!(
        (topology.pus[0].cluster, topology.pus[4].cluster, topology.pus[6].cluster),
        (None, Some(0), Some(1))
    );
    for first in [4, 6] {
        files.cache(3, 3, "Unified", &[first, first + 1]);
    }
    assert_eq!(judged("clusters that are L3 caches", &files).count(|pu| pu.cluster), 0);
}

#[test]
fn single_cluster_in_a_package_is_dropped() {
    let mut files = two_packages();
    files.remove("cache");
    [0, 2, 4, 6].into_iter().for_each(|first| files.around("cluster_cpus", &[first, first + 1]));
    assert_eq!(judged("four clusters", &files).count(|pu| pu.cluster), 4);
    files.put("proc/mounts", "none /sys/fs/cgroup cgroup2 rw 0 0");
    files.put("proc/self/cgroup", "0::/job");
    files.put("sys/fs/cgroup/cgroup.controllers", "cpuset cpu");
    files.put("sys/fs/cgroup/cpuset.cpus.effective", "0-7");
    files.put("sys/fs/cgroup/job/cpuset.cpus.effective", "2-5");
    assert_eq!(judged("a cluster in each package", &files).count(|pu| pu.cluster), 0);
    files.put("sys/fs/cgroup/job/cpuset.cpus.effective", "2-7");
    assert_eq!(judged("three clusters", &files).count(|pu| pu.cluster), 3);
}

#[test]
fn books_and_drawers_are_read() {
    let mut files = Files::of_pus(&pus(0, 16));
    let groups = |files: &mut Files, kind: &str, size: usize| {
        (0..).zip(pus(0, 16).chunks(size)).for_each(|(id, part)| files.group(kind, id, part));
    };
    (0..).zip(pus(0, 16).chunks(2)).for_each(|(id, package)| files.package(id, package));
    groups(&mut files, "book", 4);
    groups(&mut files, "drawer", 8);
    let topology = judged("drawers", &files);
    assert_eq!((topology.count(|pu| pu.book), topology.count(|pu| pu.drawer)), (4, 2));
    groups(&mut files, "drawer", 16);
    assert_eq!(judged("one drawer", &files).count(|pu| pu.drawer), 0);
    groups(&mut files, "drawer", 4);
    assert_eq!(judged("drawers that are books", &files).count(|pu| pu.drawer), 0);
    groups(&mut files, "book", 2);
    let topology = judged("books that are packages", &files);
    assert_eq!((topology.count(|pu| pu.book), topology.count(|pu| pu.drawer)), (0, 4));
}

#[test]
fn memory_follows_the_cpuset() {
    let mut files = two_packages();
    files.node(0, &pus(0, 4), &[10, 20, 14]);
    files.node(3, &pus(4, 8), &[20, 10, 24]);
    files.node(9, &[], &[14, 24, 10]);
    assert_eq!(judged("memory without CPUs", &files).count(|pu| pu.numa), 2);
    files.put("proc/mounts", "none /cpusets cgroup rw,cpuset 0 0");
    files.put("proc/self/cpuset", "/outer/inner");
    files.put("cpusets/outer/cpuset.cpus", "0-7");
    files.put("cpusets/outer/inner/cpuset.cpus", "1,6-7");
    files.put("cpusets/outer/inner/cpuset.mems", "3");
    let topology = judged("a nested cpuset of version 1", &files);
    assert!(topology.os_indices().eq([1, 6, 7]));
    assert_eq!(
        (topology.pus[0].numa, topology.pus[1].numa),
        (Some(0), Some(3)),
        "a CPU keeps its node"
    );
    files.put("cpusets/outer/inner/cpuset.cpus", "7");
    files.put("cpusets/outer/inner/cpuset.mems", "0,3");
    let topology = judged("memory keeps a package in the count", &files);
    assert_eq!((topology.pus[0].l2, topology.pus[0].core), (Some(0), Some(0)));
}

#[test]
fn linked_packages_are_numbered_together() {
    let mut files = Files::of_pus(&pus(0, 8));
    for node in 0..4 {
        let near = [node, node + 4];
        files.package(node, &near);
        let distance = |other: u32| {
            if other == node {
                10
            } else if other % 2 == node % 2 {
                20
            } else {
                30
            }
        };
        files.node(node, &near, &[0, 1, 2, 3].map(distance));
    }
    let topology = judged("pairs of packages", &files);
    assert_eq!(
        topology.pus[..4].iter().map(|pu| pu.core.unwrap()).collect::<Vec<_>>(),
        [0, 4, 2, 6]
    );
}

#[test]
fn bulldozer_siblings_are_separate_cores() {
    let mut files = two_packages();
    (0..8).step_by(2).for_each(|first| files.around("core_cpus", &[first, first + 1]));
    files.put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 21\n");
    files.put("proc/hwloc-nofile-info", "Architecture: x86_64");
    assert_eq!(judged("Bulldozer", &files).count(|pu| pu.core), 8);
    files.put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 23\n");
    assert_eq!(judged("Zen", &files).count(|pu| pu.core), 4);
}

#[test]
fn group_without_controller_inherits_unlike_hwloc() {
    let mut files = two_packages();
    files.put("proc/self/cgroup", "0::/slice/job");
    files.put("sys/fs/cgroup/cpuset.cpus.effective", "0-7");
    files.put("sys/fs/cgroup/slice/cpuset.cpus.effective", "4-5");
    let (_folder, ours) = read(&files);
    // The kernel limits the process to the slice's CPUs (cgroup-v2, "Cpuset Interface Files");
    // hwloc only looks at the group itself.
    assert!(ours.unwrap().os_indices().eq([4, 5]));
}

#[test]
fn node_across_packages_is_kept_unlike_hwloc() {
    let mut files = two_packages();
    files.node(0, &[0, 1], &[10, 20]);
    files.node(1, &pus(2, 8), &[20, 10]);
    let (folder, ours) = read(&files);
    let nodes = |topology: Topology| topology.pus.iter().map(|pu| pu.numa).collect::<Vec<_>>();
    // The kernel allocates by these nodes, whatever else it reports. hwloc attaches memory to an
    // object, but none can hold PUs 2-7 and cut package 0 in two: node 1 becomes local to all PUs.
    let told = [0, 0, 1, 1, 1, 1, 1, 1].map(Some);
    assert_eq!(nodes(ours.unwrap()), told);
    let Some(judged) = judgement(folder.path()) else { return };
    assert_eq!(nodes(judged), told, "here the smaller node decides");
}

#[test]
fn invalid_computer_is_refused() {
    let nothing = Files::default();
    let message = |files: &Files| read(files).1.unwrap_err().to_string();
    assert!(message(&nothing).contains("lists no online CPU"));
    let mut files = two_packages();
    files.put("proc/self/cpuset", "/job");
    files.put("dev/cpuset/cpus", "0-7");
    files.put("dev/cpuset/job/cpus", "64");
    assert!(message(&files).contains("without online CPUs"));
    let folder = seatmap_needs::many_files();
    assert!(read_folder(folder.path()).unwrap_err().to_string().contains("has no folder 'sys'"));
    let mut many = Files::default();
    many.put("sys/devices/system/cpu/online", "0-100000");
    assert!(message(&many).starts_with("100001 or more CPUs"));
}

fn any_computer() -> impl Strategy<Value = Files> {
    let shape = (1u32..4, 1u32..3, 1u32..3, 1u32..4, 1u32..3);
    let order = prop::collection::vec(any::<u32>(), 120);
    (shape, 0u32..128, order, prop::option::of(prop::collection::vec(any::<bool>(), 120)))
        .prop_map(computer)
}

type Drawn = ((u32, u32, u32, u32, u32), u32, Vec<u32>, Option<Vec<bool>>);

fn computer(((packages, dies, caches, cores, threads), bits, order, allowed): Drawn) -> Files {
    let count = packages * dies * caches * cores * threads;
    let mut names: Vec<u32> = (0..count).collect();
    names.sort_by_key(|at| order[*at as usize]);
    let mut files = Files::of_pus(&(0..count).collect::<Vec<_>>());
    let parts = |size: u32| names.chunks(size as usize).map(sorted).enumerate().collect::<Vec<_>>();
    let is_told = |bit: u32| bits >> bit & 1 == 1;
    let core = threads;
    let l3 = core * cores;
    let die = l3 * caches;
    parts(core).iter().for_each(|(_, part)| files.around("core_cpus", part));
    let told = |bit: u32, size: u32| if is_told(bit) { parts(size) } else { Vec::new() };
    told(0, core).iter().for_each(|(_, part)| files.cache(2, 2, "Unified", part));
    let cluster = if cores.is_multiple_of(2) { core * 2 } else { l3 };
    told(1, cluster).iter().for_each(|(_, part)| files.around("cluster_cpus", part));
    told(2, l3).iter().for_each(|(_, part)| files.cache(3, 3, "Unified", part));
    told(3, die).iter().for_each(|(_, part)| files.around("die_cpus", part));
    told(4, die * dies).iter().for_each(|(id, part)| files.package(*id as u32, part));
    let nodes = told(5, if is_told(6) { l3 } else { die * dies });
    for (node, part) in &nodes {
        let distances =
            nodes.iter().map(|(other, _)| if other == node { 10 } else { 20 }).collect::<Vec<_>>();
        files.node(*node as u32, part, &distances);
    }
    if let Some(allowed) = allowed {
        let open: Vec<u32> = (0..count).filter(|pu| *pu == 0 || allowed[*pu as usize]).collect();
        files.put("proc/mounts", "none /dev/cpuset cpuset rw 0 0");
        files.put("proc/self/cpuset", "/job");
        files.put("dev/cpuset/cpus", list(&names));
        files.put("dev/cpuset/job/cpus", list(&open));
    }
    files
}

fn sorted(part: &[u32]) -> Vec<u32> {
    let mut part = part.to_vec();
    part.sort_unstable();
    part
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_computers_match_hwloc(files in any_computer()) {
        judged("a drawn computer", &files);
    }
}
