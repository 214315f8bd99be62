//! hwloc's reading of real machines against our own reader of the same files: two arms, one truth.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use hwlocality::Topology as Hwloc;
use seatmap_host::topology::{from_hwloc, of_host};
use seatmap_machine::{Topology, import};
use std::path::{Path, PathBuf};

fn published() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/hwloc-xml"));
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("skipped: {} is absent", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    files
}

fn by_hwloc(path: &Path) -> Topology {
    from_hwloc(&Hwloc::builder().from_xml_file(path).unwrap().build().unwrap())
}

fn synthetic(description: &str) -> Topology {
    from_hwloc(&Hwloc::builder().from_synthetic(description).unwrap().build().unwrap())
}

#[test]
fn both_readers_agree_on_published_machines() {
    for path in published() {
        let ours = import::read(&std::fs::read(&path).unwrap(), "machine.xml", None).unwrap().topology;
        assert_eq!(by_hwloc(&path), ours, "{}", path.display());
    }
}

#[test]
fn a_synthetic_machine_has_every_level() {
    let topology = synthetic("pack:2 numa:1 die:2 l3:2 l2:2 core:1 pu:2");
    assert_eq!(topology.pus.len(), 32);
    assert_eq!(topology.count(|pu| pu.package), 2);
    assert_eq!(topology.count(|pu| pu.numa), 2);
    assert_eq!(topology.count(|pu| pu.die), 4);
    assert_eq!(topology.count(|pu| pu.l3), 8);
    assert_eq!(topology.count(|pu| pu.core), 16);
    assert!(topology.are_smt_siblings(0, 1) && !topology.are_smt_siblings(1, 2));
}

#[test]
fn more_than_1024_pus_are_no_matter() {
    let topology = synthetic("pack:4 core:300 pu:2");
    assert_eq!(topology.pus.len(), 2400);
    assert_eq!(topology.pus[2399].os, 2399);
}

#[test]
fn this_host_offers_what_this_process_may_use() {
    let allowed = seatmap_os::affinity::current().unwrap();
    let topology = of_host().unwrap();
    assert!(topology.os_indices().eq(allowed), "{topology:?}");
}
