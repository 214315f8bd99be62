//! Compares our topologies with hwloc's `lstopo` on the same files.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

pub mod written;

use seatmap_data::machine::{Pu, Topology, import};
use std::path::{Path, PathBuf};
use std::process::Command;

const LSTOPO: &str = "lstopo-no-graphics";

pub fn judgement(folder: &Path) -> Option<Topology> {
    let judged = Command::new(LSTOPO)
        .args(["--no-io", "--of", "xml", "-"])
        .env("HWLOC_FSROOT", folder)
        .env("HWLOC_COMPONENTS", "linux,stop")
        .env("HWLOC_HIDE_ERRORS", "2")
        .output();
    let Ok(judged) = judged else {
        seatmap_needs::skipped!("{LSTOPO} is not installed");
        return None;
    };
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
    Some(import::read(&judged.stdout, "judge.xml", None).unwrap().topology)
}

pub fn assert_same(name: &str, ours: &Topology, judged: &Topology) {
    let os = |topology: &Topology| topology.os_indices().collect::<Vec<_>>();
    assert_eq!(os(ours), os(judged), "{name}: the PUs differ");
    for (ours, judged) in ours.pus.iter().zip(&judged.pus) {
        // hwloc's XML omits the firmware's ranking, the figures of kinds, the node used in place of
        // one without memory, and nodes whose memory the process may not use, with the nodes of
        // their CPUs.
        let numa = judged.numa.and(ours.numa);
        let Pu { priority, memory, core_type, capacity, base_khz, max_khz, .. } = *judged;
        let figures =
            Pu { priority, memory, core_type, capacity, base_khz, max_khz, ..ours.clone() };
        let ours = &Pu { numa, ..figures };
        assert_eq!(ours, judged, "{name}: ours, then the judge's");
    }
}

pub fn published() -> Vec<PathBuf> {
    let Some(folder) = seatmap_needs::published("sysfs") else { return Vec::new() };
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "bz2"));
    files.sort();
    files
}

/// Folders of devices, with most of the files and nothing about CPUs.
const DEVICES: [&str; 4] = ["/sys/bus/", "/sys/class/", "/sys/devices/pci", "/memory"];

pub fn unpacked(archive: &[u8], into: &Path) -> PathBuf {
    let mut archive = tar::Archive::new(bzip2::read::MultiBzDecoder::new(archive));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        if !DEVICES.iter().any(|device| path.contains(device)) {
            entry.unpack_in(into).unwrap();
        }
    }
    let inside = std::fs::read_dir(into).unwrap().next().unwrap().unwrap();
    inside.path()
}
