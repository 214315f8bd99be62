//! hwloc's own `lstopo` loads exported files, and prints the same distances.

#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::machine::{
    CoreDistance, CoreKind, Matrix, Origin, OriginKind, Profile, Pu, Topology, export, import,
};
use std::path::PathBuf;
use std::process::Command;

fn lstopo(test: &str, profile: &Profile, arguments: &[&str]) -> Option<String> {
    let path: PathBuf = [env!("CARGO_TARGET_TMPDIR"), &format!("{test}.xml")].iter().collect();
    std::fs::write(&path, export::hwloc_xml::write(profile).unwrap()).unwrap();
    let output =
        Command::new("lstopo-no-graphics").arg("--input").arg(&path).args(arguments).output();
    let Ok(output) = output else {
        seatmap_needs::skipped!("lstopo-no-graphics (Debian package hwloc) is absent");
        return None;
    };
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{complaints}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn profile(pus: Vec<Pu>) -> Profile {
    let origin =
        Origin { kind: OriginKind::Measured, source: "test".into(), date: None, tool: None };
    let os: Vec<u32> = pus.iter().map(|pu| pu.os).collect();
    let ns = |i: usize, j: usize| {
        if i == j { 0.0 } else { 100.0 + (i.max(j) * 10 + i.min(j)) as f64 / 8.0 }
    };
    let median_ns = Matrix::from_fn(os.len(), ns);
    let mut profile = Profile::new("test", origin, Topology { pus });
    profile.core_distance = Some(CoreDistance::imported(os, median_ns));
    profile
}

fn full() -> Profile {
    let pu = |os: u32| {
        let core = os % 8;
        Pu {
            os,
            core: Some(core),
            smt: Some(os / 8),
            l2: Some(core),
            l3: Some(core / 2),
            die: Some(core / 2),
            numa: Some(core / 2),
            package: Some(core / 4),
            kind: Some(if core == 0 { CoreKind::Performance } else { CoreKind::Efficiency }),
            ..Pu::default()
        }
    };
    let mut profile = profile((0..16).map(pu).collect());
    profile.environment.cpu_model = Some("A & B \u{1}".into());
    profile
}

fn printed(output: &str) -> (Vec<u32>, Vec<Vec<u64>>) {
    let words = |line: &str| line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let mut lines = output.lines().skip_while(|line| !line.trim_start().starts_with("index"));
    let pus = words(lines.next().unwrap()).iter().map(|word| word.parse().unwrap()).collect();
    let rows =
        lines.map(|line| words(line).iter().map(|word| word.parse().unwrap()).collect()).collect();
    (pus, rows)
}

fn assert_printed(output: &str, profile: &Profile) {
    assert!(output.contains("name CoreDistanceRoundTripPicoseconds kind 6"), "{output}");
    let distances = profile.core_distance.as_ref().unwrap();
    let (pus, rows) = printed(output);
    assert_eq!(pus, distances.pus);
    let in_ps = |i: usize| {
        distances.median_ns.row(i).iter().map(|ns| (ns * 1000.0).round() as u64).collect()
    };
    let expected: Vec<Vec<u64>> = (0..pus.len()).map(in_ps).collect();
    assert_eq!(rows, expected);
}

#[test]
fn lstopo_loads_every_topology_with_distances() {
    let grouped = |os: u32| Pu { os, numa: Some(1 - os / 4), package: Some(0), ..Pu::default() };
    let sparse = |core: u32| Pu {
        os: 2 * core,
        core: Some(core),
        smt: Some(0),
        package: Some(core / 550),
        ..Pu::default()
    };
    for (name, profile) in [
        ("full-distances", full()),
        ("bare", profile(Topology::unknown([3, 8, 40, 100]).pus)),
        ("memory-in-a-group", profile((0..8).map(grouped).collect())),
        ("more-than-1024-pus", profile((0..1100).map(sparse).collect())),
    ] {
        let Some(output) = lstopo(name, &profile, &["--distances", "--physical"]) else { return };
        assert_printed(&output, &profile);
    }
}

#[test]
fn lstopo_keeps_all_levels() {
    let Some(output) = lstopo("full-levels", &full(), &["--only", "numanode", "--logical"]) else {
        return;
    };
    assert_eq!(output.lines().count(), 4, "{output}");
    for (level, count) in
        [("package", 2), ("die", 4), ("l3cache", 4), ("l2cache", 8), ("core", 8), ("pu", 16)]
    {
        let output = lstopo("full-levels", &full(), &["--only", level]).unwrap();
        assert_eq!(output.lines().count(), count, "{level}: {output}");
    }
}

#[test]
fn lstopo_output_is_imported_unchanged() {
    let profile = full();
    let Some(output) = lstopo("again", &profile, &["--of", "xml"]) else { return };
    let back = import::read(output.as_bytes(), "again.xml", None).unwrap();
    assert_eq!(back.topology, profile.topology);
    assert_eq!(back.core_distance, profile.core_distance);
    assert_eq!(
        back.environment.cpu_model.as_deref(),
        Some("A & B \\u{1}"),
        "XML knows no control characters"
    );
}
