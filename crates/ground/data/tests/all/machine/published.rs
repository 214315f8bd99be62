//! The published matrices and topologies of other tools are read, each with the known facts about
//! its machine.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that finds its input broken fails the test"
)]

use seatmap_data::machine::import::{self, ImportOptions, Imported, ProfileNote};
use seatmap_data::machine::{CoreKind, Profile, Pu, export};
use seatmap_needs::published;
use std::path::Path;

fn imported(path: &Path) -> Imported {
    let bytes = std::fs::read(path).unwrap();
    let name = path.to_str().unwrap();
    import::read_with(&bytes, name, None, &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn median_ns(profile: &Profile) -> f64 {
    let mut all: Vec<f64> =
        profile.core_distance.as_ref().unwrap().median_ns.pairs().map(|pair| *pair.2).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

#[test]
fn published_matrices_have_the_named_pu_count() {
    let Some(folder) = published("core-to-core") else { return };
    let matrices = [
        ("core-i9-12900k-24", 24),
        ("epyc-7r13-2s-192", 192),
        ("epyc-9654-2s", 192),
        ("graviton3-64", 64),
        ("kunpeng-920-64", 64),
        ("ryzen-5950x-32", 32),
        ("ryzen-7950x-32-coarse-clock", 32),
        ("threadripper-3960x-48", 48),
        ("xeon-8375c-2s-128", 128),
        ("xeon-e5-2695v4-72", 72),
        ("xeon-phi-7210-64", 64),
    ];
    for (name, pus) in matrices {
        let Imported { profile, notes } = imported(&folder.join(name).with_extension("csv"));
        assert_eq!((profile.name.as_str(), profile.topology.pus.len()), (name, pus));
        let coarse = name.contains("coarse-clock");
        assert_eq!(profile.clock.quantised, coarse, "{name}: {:?}", profile.clock);
        let others =
            notes.iter().filter(|note| !matches!(note, ProfileNote::RowsInOrder { .. })).count();
        assert_eq!(others, usize::from(coarse), "{name}: {notes:?}");
        let back =
            import::read(export::csv::write(&profile).unwrap().as_bytes(), "again.csv", None)
                .unwrap();
        assert_eq!(back.core_distance, profile.core_distance, "{name}");
    }
}

#[test]
fn coarse_clock_step_is_about_ten_nanoseconds() {
    let Some(folder) = published("core-to-core") else { return };
    let clock = imported(&folder.join("ryzen-7950x-32-coarse-clock.csv")).profile.clock;
    let step_ns = clock.step_ns.unwrap();
    assert!((10.3..10.5).contains(&step_ns), "{step_ns}");
}

#[test]
fn console_log_is_refused_with_its_line() {
    let Some(folder) = published("core-to-core") else { return };
    let bytes = std::fs::read(folder.join("not-a-matrix-console-log.csv")).unwrap();
    let error = import::read(&bytes, "not-a-matrix-console-log.csv", None).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"line 1, column 1: 'Num cores: 2' is not a number; this is the tool's console log: run it with --csv and import its standard output");
}

#[test]
fn mctop_descriptions_have_their_cores_and_nodes() {
    let Some(folder) = published("mctop") else { return };
    for (name, pus, cores, nodes) in
        [("lpd48core", 48, 48, 8), ("lpdquad", 96, 48, 4), ("lpdxeon2680", 40, 20, 2)]
    {
        let Imported { profile, notes } = imported(&folder.join(name).with_extension("mct"));
        let count = |level: fn(&Pu) -> Option<u32>| profile.topology.count(level);
        assert_eq!(
            (profile.topology.pus.len(), count(|pu| pu.core), count(|pu| pu.numa)),
            (pus, cores, nodes),
            "{name}"
        );
        assert_eq!(notes, [ProfileNote::AssumedFrequency { frequency_hz: 2.5e9 }], "{name}");
    }
}

#[test]
fn mctop_cycles_are_one_way() {
    let Some(folder) = published("mctop") else { return };
    let bytes = std::fs::read(folder.join("lpdxeon2680.mct")).unwrap();
    let options = ImportOptions { frequency_hz: Some(2.8e9), ..ImportOptions::default() };
    let profile = import::read_with(&bytes, "lpdxeon2680.mct", None, &options).unwrap().profile;
    let ns = |i, j| profile.core_distance.as_ref().unwrap().median_ns[(i, j)];
    // 28, 112 and 308 cycles of 2.8 GHz: siblings, one socket, two.
    assert_eq!([ns(0, 20), ns(0, 1), ns(0, 10)].map(f64::round), [20.0, 80.0, 220.0]);
}

#[test]
fn published_topologies_have_their_levels() {
    let Some(folder) = published("hwloc-xml") else { return };
    // PUs, cores, L2, L3, NUMA nodes, packages.
    let machines = [
        ("AMD-15h-Bulldozer-4xOpteron-6272", [64, 64, 32, 8, 8, 4]),
        ("AMD-19h-Zen3-2xEpyc-7763", [128, 128, 128, 16, 2, 2]),
        ("Intel-CascadeLake-2xXeon6230", [80, 40, 40, 2, 1, 2]),
        ("Intel-KnightsCorner-XeonPhi-SE10P", [244, 61, 61, 0, 1, 1]),
        ("Intel-RaptorLake-Corei7-1370P", [20, 14, 8, 1, 1, 1]),
    ];
    for (name, expected) in machines {
        let profile = imported(&folder.join(name.to_owned() + ".xml")).profile;
        let count = |level: fn(&Pu) -> Option<u32>| profile.topology.count(level);
        let levels = [
            profile.topology.pus.len(),
            count(|pu| pu.core),
            count(|pu| pu.l2),
            count(|pu| pu.l3),
            count(|pu| pu.numa),
            count(|pu| pu.package),
        ];
        assert_eq!(levels, expected, "{name}");
        let text = export::hwloc_xml::write(&profile).unwrap();
        assert_eq!(
            import::read(text.as_bytes(), "again.xml", None).unwrap().topology,
            profile.topology,
            "{name}"
        );
    }
}

#[test]
fn siblings_and_core_kinds_are_distinguished() {
    let Some(folder) = published("hwloc-xml") else { return };
    let raptor = imported(&folder.join("Intel-RaptorLake-Corei7-1370P.xml")).profile.topology;
    let kinds = |kind| raptor.pus.iter().filter(|pu| pu.kind == Some(kind)).count();
    assert_eq!((kinds(CoreKind::Performance), kinds(CoreKind::Efficiency)), (12, 8));
    assert!(raptor.are_smt_siblings(0, 1) && !raptor.are_smt_siblings(12, 13));
    let phi = imported(&folder.join("Intel-KnightsCorner-XeonPhi-SE10P.xml")).profile.topology;
    assert!(phi.are_smt_siblings(0, 243) && phi.are_smt_siblings(1, 4));
    assert_eq!(phi.pu(243).unwrap().smt, Some(3));
}

#[test]
fn matrix_merges_with_topology_of_its_machine_only() {
    let (Some(matrices), Some(topologies)) = (published("core-to-core"), published("hwloc-xml"))
    else {
        return;
    };
    let raptor = imported(&topologies.join("Intel-RaptorLake-Corei7-1370P.xml")).profile.topology;
    let mut profile = imported(&matrices.join("core-i9-12900k-24.csv")).profile;
    let error =
        import::marry(&mut profile, raptor, import::Rows::Numbered).unwrap_err().to_string();
    assert!(error.starts_with("the matrix has 24 PUs, but the topology has 20;"), "{error}");
    assert!((70.0..80.0).contains(&median_ns(&profile)));
}
