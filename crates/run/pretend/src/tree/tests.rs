//! Trees are read back.

use super::*;
use crate::machine::made::{self, set};
use seatmap_data::machine::{Description, Topology, catalog};
use std::collections::HashMap;
use std::path::Path;

fn written(machine: &PretendedMachine, folder: &Path) {
    let host = HostFacts { memory_kib: 1 << 20, free_kib: 1 << 19, ..HostFacts::default() };
    MachineTree::of(machine, &host).write(folder).unwrap();
}

fn read_folder(folder: &Path) -> Topology {
    seatmap_machines::host::topology::read_folder(folder).unwrap().topology
}

/// `None` if the machine cannot be pretended.
fn read_back(name: &str, topology: &Topology) -> Option<Topology> {
    let machine = PretendedMachine::new(name, topology.clone(), None, &CpuSet::default()).ok()?;
    let folder = seatmap_needs::many_files();
    written(&machine, folder.path());
    Some(read_folder(folder.path()))
}

/// Numbers parts by first appearance: their numbers have no other meaning.
fn renumbered(topology: &Topology, level: Part) -> Vec<Option<usize>> {
    let mut known: HashMap<u32, usize> = HashMap::new();
    let mut numbers = Vec::with_capacity(topology.pus.len());
    for part in topology.pus.iter().map(level) {
        let next = known.len();
        numbers.push(part.map(|part| *known.entry(part).or_insert(next)));
    }
    numbers
}

type Part = fn(&Pu) -> Option<u32>;

fn assert_same(name: &str, read: &Topology, topology: &Topology) {
    let levels: [(&str, Part); 8] = [
        ("core", |pu| pu.core),
        ("l2", |pu| pu.l2),
        ("l3", |pu| pu.l3),
        ("package", |pu| Some(pu.package.unwrap_or(0))),
        ("numa", |pu| Some(pu.numa.unwrap_or(0))),
        ("memory", |pu| pu.memory),
        ("book", |pu| pu.book),
        ("drawer", |pu| pu.drawer),
    ];
    assert!(read.os_indices().eq(topology.os_indices()), "{name}: other CPUs");
    for (level, part) in levels {
        assert_eq!(renumbered(read, part), renumbered(topology, part), "{name}: {level}");
    }
    for (read, pu) in read.pus.iter().zip(&topology.pus) {
        let has = |pu: &Pu| (pu.numa.unwrap_or(0), pu.kind, pu.l2_bytes, pu.l3_bytes);
        assert_eq!(has(read), has(pu), "{name}: CPU {}", pu.os);
        let of_core = |pu: &Pu| pu.core.map(|_| [pu.l1d_bytes, pu.l1i_bytes]);
        assert_eq!(of_core(read), of_core(pu), "{name}: CPU {}", pu.os);
    }
}

#[test]
fn catalog_machines_round_trip_through_sysfs() {
    let mut count = 0;
    for name in catalog::names() {
        let text = catalog::find(name).unwrap();
        // Models of the simulator have no topology on file.
        let Ok(description) = Description::from_toml(text) else { continue };
        let topology = description.to_profile().topology;
        assert_same(name, &read_back(name, &topology).unwrap(), &topology);
        count += 1;
    }
    assert!(count > 8, "{count}");
}

#[test]
fn published_sysfs_trees_round_trip() {
    let Some(folder) = seatmap_needs::published("sysfs") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".tar.bz2"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&file).unwrap();
        let Ok(gathered) = seatmap_machines::host::topology::read_gathered(&bytes) else {
            continue;
        };
        let topology = gathered.topology;
        if let Some(read) = read_back(&name, &topology) {
            assert_same(&name, &read, &topology);
        }
    }
}

#[test]
fn offline_cpus_have_no_topology() {
    let machine = made::with("0-2,4-7", "3");
    let folder = seatmap_needs::many_files();
    written(&machine, folder.path());
    let read = read_folder(folder.path());
    assert!(read.os_indices().eq([0, 1, 2, 4, 5, 6, 7]));
    let tree = MachineTree::of(&machine, &HostFacts::default());
    let text = |path: &str| match &tree.files[&format!("{CPUS}/{path}")] {
        TreeFile::Text(text) => text.trim().to_owned(),
        TreeFile::Link(target) => target.clone(),
    };
    assert_eq!([text("online"), text("offline"), text("present")], ["0-2,4-7", "3", "0-7"]);
    assert_eq!([text("cpu3/online"), text("cpu2/topology/core_cpus")], ["0", "04"]);
    assert!(!tree.files.contains_key(&format!("{CPUS}/cpu3/topology/core_id")));
}

#[test]
fn container_sees_only_its_cpus() {
    let folder = seatmap_needs::many_files();
    written(&made::with("2-3", ""), folder.path());
    assert!(read_folder(folder.path()).os_indices().eq([2, 3]));
}

#[test]
fn masks_have_the_width_of_the_machine() {
    let masks = [("0,33", 34), ("0,33", 64), ("", 6)].map(|(list, bits)| mask(&set(list), bits));
    assert_eq!(masks, ["2,00000001", "00000002,00000001", "00"]);
    assert_eq!(["0,33", "0-1,5"].map(|list| ranges(&set(list))), ["0,33", "0-1,5"]);
}
