//! Snapshots of the sentences of findings.

use super::*;
use crate::profiles_for_tests::measured as profile;
use crate::regimes::judge;
use seatmap_data::machine::{Matrix, OriginKind, PairRegimes, PairStatus, Pu, Topology, import};

fn published(name: &str) -> Option<String> {
    let path = seatmap_needs::published(&format!("core-to-core/{name}.csv"))?;
    let bytes = std::fs::read(&path).unwrap();
    Some(sentences(&import::read(&bytes, path.to_str().unwrap(), None).unwrap()))
}

fn sentences(profile: &Profile) -> String {
    findings(profile).iter().map(|finding| format!("- {finding}\n")).collect()
}

#[test]
fn published_machines_have_their_findings() {
    let names = [
        // A far home is not a slow socket.
        "epyc-7r13-2s-192",
        // A mesh has no finding about pairs.
        "xeon-8375c-2s-128",
        // Symmetric sockets have no finding.
        "epyc-9654-2s",
        // Unequal complexes are named.
        "threadripper-3960x-48",
        // A coarse clock is reported first.
        "ryzen-7950x-32-coarse-clock",
        // Clusters and meshes are described.
        "kunpeng-920-64",
    ];
    let found: Option<String> =
        names.iter().map(|name| Some(format!("# {name}\n{}", published(name)?))).collect();
    let Some(found) = found else { return };
    insta::assert_snapshot!(found, @r"
    # epyc-7r13-2s-192
    - Inside the groups each distance is the sum of two figures, one per PU: this explains 97.0 % of the variance. The matrix shows how far each PU is from this line's home, and nothing about pairs. Place by group, and use --homes to choose lines near their threads.
    - PUs 48-95,144-191 look 1.8 times slower among themselves (399 ns against 216 ns between groups), but the hardware is the same. The socket is fine: the home of the measured cache line is near the other PUs. Measure with --homes before placing threads by these distances.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    # xeon-8375c-2s-128
    - Inside the groups each distance is the sum of two figures, one per PU: this explains 99.8 % of the variance. The matrix shows how far each PU is from this line's home, and nothing about pairs. Place by group, and use --homes to choose lines near their threads.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    # epyc-9654-2s
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    # threadripper-3960x-48
    - Distances in the class 'other group' differ: the groups of PUs 12 and 15 are 148 ns apart, the groups of PUs 3 and 18 200 ns. Place by the matrix, not by the class.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    # ryzen-7950x-32-coarse-clock
    - The clock is too coarse: all values are multiples of 10.4 ns, so smaller differences mean nothing. Measure again with more round trips per batch.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    # kunpeng-920-64
    - Distances in the class 'other group, far' differ: the groups of PUs 12 and 48 are 144 ns apart, the groups of PUs 28 and 60 175 ns. Place by the matrix, not by the class.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    ");
}

#[test]
fn flips_and_drifts_are_counted() {
    let mut profile = profile(Topology::unknown(0..4), |_, _| 80.0);
    let distance = profile.core_distance.as_mut().unwrap();
    let passes = [
        vec![80.0; 16],
        (0..16).map(|at| if at < 8 { 81.0 } else { 290.0 + f64::from(at) }).collect(),
    ];
    let regimes = judge(&passes).regimes;
    distance.status.set_both(0, 3, Some(PairStatus::MultiRegime));
    distance.regimes = vec![PairRegimes { pus: [0, 3], regimes }];
    distance.status.set_both(1, 2, Some(PairStatus::Drifting));
    distance.status.set_both(1, 3, Some(PairStatus::Drifting));
    distance.status.set_both(0, 1, Some(PairStatus::Stacked));
    distance.median_ns.set_both(0, 1, 3_100_000.0);
    insta::assert_snapshot!(sentences(&profile), @r"
    - 1 pair (17 %) is stacked: the host runs both vCPUs on one CPU, in turn. A round trip between PUs 0 and 1 takes 3100.0 us, as long as the host's scheduler runs one of them. Do not put communicating threads on both: request vCPUs pinned to separate CPUs, or use fewer vCPUs.
    - 1 pair (17 %) flips between several distances (PUs 0 and 3: 80 ns and 302 ns, 25 % of batches slow). In a virtual machine the cause is the host, which moves the vCPUs; one median describes neither position. Pin the vCPUs on the host, or measure on bare metal.
    - 2 pairs (33 %) drift from pass to pass. Frequency, temperature or load changed during the measurement: set the governor to a fixed frequency, let the machine settle, and measure again.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    ");
}

#[test]
fn wide_interval_is_reported() {
    let mut profile = profile(Topology::unknown(0..3), |_, _| 405.7);
    let distance = profile.core_distance.as_mut().unwrap();
    distance.status.set_both(0, 2, Some(PairStatus::Unsteady));
    distance.ci95_low_ns = Some(Matrix::filled(3, 66.7));
    distance.ci95_high_ns = Some(Matrix::filled(3, 417.0));
    insta::assert_snapshot!(sentences(&profile), @r"
    - 1 pair (33 %) has no steady distance (PUs 0 and 2: median 406 ns, 95 % confidence interval 67 to 417 ns). The passes disagree and show no levels: something else ran, or a hypervisor moved the vCPUs. Run 'seatmap doctor', then measure again with --thorough.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    ");
}

fn cores(pus: u32) -> Topology {
    Topology {
        pus: (0..pus).map(|os| Pu { os, core: Some(os), l3: Some(0), ..Pu::default() }).collect(),
    }
}

#[test]
fn siblings_presented_as_cores_are_reported() {
    let profile = profile(cores(8), |i, j| if i / 2 == j / 2 { 17.0 } else { 48.0 });
    insta::assert_snapshot!(sentences(&profile), @r"
    - The topology lists each PU as a core, but the distances show 4 cores with two hardware threads each: PUs 0 and 1 are 17 ns apart, PUs of different cores 48 ns. Two busy threads on such a pair share one core: use only one PU of each pair, or let the host expose its hardware threads to the guest.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    ");
}

#[test]
fn cores_sharing_a_cache_are_not_siblings() {
    let hidden = |profile: &Profile| {
        findings(profile).iter().any(|each| matches!(each, ProfileFinding::HiddenSiblings { .. }))
    };
    let cache = |ns: f64| profile(cores(8), move |i, j| if i / 2 == j / 2 { ns } else { 100.0 });
    assert!(
        hidden(&cache(40.0)) && !hidden(&cache(41.0)),
        "two cores on one L2 are farther than siblings"
    );
    let groups = profile(cores(8), |i, j| if i / 4 == j / 4 { 20.0 } else { 100.0 });
    assert!(!hidden(&groups), "four cores in a group");
    let mut known = cache(17.0);
    known.topology.pus.iter_mut().for_each(|pu| pu.core = Some(pu.os / 2));
    assert!(!hidden(&known), "the topology knows them");
    assert!(
        !hidden(&profile(Topology::unknown(0..8), |i, j| if i / 2 == j / 2 { 17.0 } else { 48.0 })),
        "no cores named"
    );
}

#[test]
fn topology_unlike_the_distances_is_reported() {
    let pus =
        (0..8).map(|os| Pu { os, l3: Some(0), numa: Some(os / 4), ..Pu::default() }).collect();
    let profile = profile(Topology { pus }, |i, j| if i % 4 == j % 4 { 40.0 } else { 90.0 });
    insta::assert_snapshot!(sentences(&profile), @r"
    - The distances show 4 groups, which match no level of the topology (L3: 1, NUMA node: 2). Either the topology is not the hardware's (common in virtual machines), or it omits what connects the cores. Trust the distances.
    - All distances were measured over one cache line, whose home is unknown. Other lines may give other distances: --homes 64 measures the difference.
    ");
}

#[test]
fn unknown_topology_has_no_findings() {
    let mut profile = profile(Topology::unknown(0..2), |_, _| 80.0);
    assert_eq!(findings(&profile), []);
    profile.core_distance = None;
    assert_eq!(findings(&profile), []);
}

#[test]
fn indistinguishable_homes_are_reported() {
    let told = |pus| ProfileFinding::HomesNotResolvable { lines: 64, pus }.to_string();
    insta::assert_snapshot!(told(2), @"The homes of 64 cache lines cannot be distinguished with 2 PUs: a home is found by the PU nearest to it, which takes at least three PUs.");
    insta::assert_snapshot!(told(8), @"The homes of 64 cache lines cannot be distinguished with 8 PUs: the lines differ by no more than noise. Either all have the same home, or --thorough on a quieter machine would show more.");
}

/// Two cores under one L3 cache.
fn neighbours(ns: f64) -> Profile {
    let mut topology = cores(2);
    topology.pus.iter_mut().for_each(|pu| pu.package = Some(0));
    profile(topology, |_, _| ns)
}

#[test]
fn implausibly_far_neighbours_are_reported() {
    let of = |ns: f64| sentences(&neighbours(ns));
    assert_eq!(of(63.5), "");
    let mut slow = neighbours(327.0);
    slow.origin.kind = OriginKind::Model;
    assert_eq!(sentences(&slow), "", "a model is as slow as its file says");
    insta::assert_snapshot!(of(327.0), @"- PUs under one L3 are 327 ns apart; on published machines, 20 to 180 ns. Either the topology is not the real one (common in virtual machines), or the machine was busy or throttled. Run 'seatmap doctor', then measure again.");
}

#[test]
fn stacked_pair_has_one_finding() {
    let mut profile = neighbours(3_100_000.0);
    assert!(
        matches!(findings(&profile)[..], [ProfileFinding::Implausible { .. }]),
        "{:?}",
        findings(&profile)
    );
    profile.core_distance.as_mut().unwrap().status.set_both(0, 1, Some(PairStatus::Stacked));
    assert!(
        matches!(findings(&profile)[..], [ProfileFinding::Stacked { .. }]),
        "{:?}",
        findings(&profile)
    );
}

#[test]
fn no_described_machine_is_implausible() {
    for name in seatmap_data::machine::catalog::names() {
        let Ok(mut described) = seatmap_data::machine::catalog::load(name) else { continue };
        described.origin.kind = OriginKind::Measured;
        let found = findings(&described);
        assert!(
            !found.iter().any(|finding| matches!(finding, ProfileFinding::Implausible { .. })),
            "{name}: {found:?}"
        );
    }
}
