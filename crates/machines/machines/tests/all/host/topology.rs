//! Compares our reading of sysfs with hwloc's, for published computers and this one.

use crate::host::judge::{assert_same, judgement, published, unpacked};
use seatmap_machines::host::topology::{
    of_host, reachable, read_folder, read_gathered, showing, whole,
};
use seatmap_os::cpus::in_cpuset;
use seatmap_os::{CpuSet, affinity};
use std::path::Path;

#[test]
fn published_computers_match_hwloc() {
    for path in published() {
        let name = path.display().to_string();
        let archive = std::fs::read(&path).unwrap();
        let folder = seatmap_needs::many_files();
        let root = unpacked(&archive, folder.path());
        let ours = read_folder(&root).unwrap().topology;
        assert_same(&name, &read_gathered(&archive).unwrap().topology, &ours);
        let Some(judged) = judgement(&root) else { return };
        assert_same(&name, &ours, &judged);
    }
}

#[test]
fn this_computer_matches_hwloc() {
    let Some(judged) = judgement(Path::new("/")) else { return };
    // In a cpuset hwloc counts the remaining parts, and Seatmap those of the machine.
    if !whole().unwrap().os_indices().eq(in_cpuset().unwrap().iter()) {
        return seatmap_needs::skipped!("a cpuset leaves this process a part of the machine");
    }
    let mut ours = of_host().unwrap();
    let allowed: Vec<u32> = ours.os_indices().collect();
    let mut judged = judged;
    judged.pus.retain(|pu| allowed.contains(&pu.os));
    // hwloc asks the processor itself for the kinds if it can.
    ours.pus.iter_mut().chain(&mut judged.pus).for_each(|pu| pu.kind = None);
    assert_same("this computer", &ours, &judged);
}

#[test]
fn host_topology_has_the_permitted_cpus() {
    let allowed = seatmap_os::affinity::current().unwrap();
    let topology = of_host().unwrap();
    assert!(topology.os_indices().eq(allowed), "{topology:?}");
}

/// A reading thread and others may be pinned.
#[test]
fn reading_the_topology_changes_no_mask() {
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let seat = CpuSet::of_thread(0).unwrap().last().unwrap();
            affinity::pin(&[seat]).unwrap();
            let of_cpuset = in_cpuset().unwrap();
            assert!(showing(&of_cpuset).os_indices().eq(of_cpuset.iter()));
            assert!(of_host().unwrap().os_indices().eq([seat]), "the mask was widened");
            reachable().unwrap();
            whole().unwrap();
            assert_eq!(CpuSet::of_thread(0).unwrap().only(), Some(seat));
            of_cpuset
        });
        let of_cpuset = reader.join().unwrap();
        assert!(CpuSet::of_thread(0).unwrap().is_subset(&of_cpuset));
    });
}
