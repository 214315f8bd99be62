//! `seatmap import`.

use crate::common::{Place, data, files, published};
use serde_json::Value;

const TRIANGLE: &str = ",,,\n20,,,\n60,62,,\n61,60.5,21,\n";

#[test]
fn a_triangle_becomes_a_profile_of_round_trips() {
    let place = Place::new();
    place.file("four.csv", TRIANGLE.replace('\n', "\r\n"));
    let summary = place.stdout(&["import", "four.csv", "-o", "x.json"]);
    assert_eq!(summary, "x.json: four with 4 PUs in 2 groups of 2, R2 0.9993\n");
    let profile: Value = serde_json::from_str(&place.read("x.json")).unwrap();
    assert_eq!(profile["origin"]["kind"], "imported");
    assert_eq!(profile["core_distance"]["median_ns"][0][1], 40.0);
    assert_eq!(profile["core_distance"]["status"][3][0], "imported");
    assert_eq!(place.stdout(&["export", "--format", "csv", "x.json"]), TRIANGLE);
}

#[test]
fn a_name_and_a_topology_can_be_given() {
    let place = Place::new();
    place.stdout(&["export", "xeon-e5-2680-2s", "--format", "hwloc-xml", "-o", "lstopo.xml"]);
    place.stdout(&["export", "xeon-e5-2680-2s", "--format", "csv", "-o", "matrix.csv"]);
    let bare = place.json(&["import", "matrix.csv"]);
    assert_eq!(bare["topology"]["pus"][17]["core"], Value::Null);
    let married = place.json(&["import", "matrix.csv", "--topology", "lstopo.xml", "--name", "old server"]);
    assert_eq!(married["name"], "old server");
    assert_eq!(married["topology"]["pus"][17]["core"], married["topology"]["pus"][1]["core"]);
    place.file("four.csv", TRIANGLE);
    let line = place.one_line_refusal(&["import", "four.csv", "--topology", "lstopo.xml"]);
    assert!(line.contains('4') && line.contains("32"), "{line}");
}

#[test]
fn several_files_go_to_a_folder() {
    let place = Place::new();
    place.file("a.csv", TRIANGLE);
    place.file("b.csv", ",\n30,\n");
    assert!(place.one_line_refusal(&["import", "a.csv", "b.csv"]).contains("several files need a folder"));
    std::fs::create_dir(place.path("out")).unwrap();
    place.stdout(&["import", "a.csv", "b.csv", "-o", "out"]);
    assert!(place.path("out/a.json").exists() && place.path("out/b.json").exists());
    assert_eq!(files(&place), ["a.csv", "b.csv", "out"]);
}

#[test]
fn cycles_need_a_frequency() {
    let Some(file) = published("mctop/lpdxeon2680.mct") else { return };
    let place = Place::new();
    let median = |arguments: &[&str]| {
        let profile = place.json(&[&["import", file.to_str().unwrap(), "--json"], arguments].concat());
        profile["core_distance"]["median_ns"][0][1].as_f64().unwrap()
    };
    assert!((median(&["--frequency", "2.8g"]) - 80.0).abs() < 1e-9);
    let assumed = place.run(&["import", file.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&assumed.stderr).contains("--frequency"));
    assert!(place.refusal(&["import", "x.mct", "--frequency", "fast"]).contains("2.8g"));
}

#[test]
fn every_published_file_is_read_or_refused() {
    let Some(folder) = published("core-to-core") else { return };
    let place = Place::new();
    for folder in [folder.clone(), folder.with_file_name("hwloc-xml"), folder.with_file_name("mctop")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let output = place.run(&["import", path.to_str().unwrap(), "-o", "x.json"]);
            let readable = !name.contains("LICENSE") && !name.starts_with("not-a-matrix");
            assert_eq!(output.status.code(), Some(if readable { 0 } else { 2 }), "{name}: {output:?}");
            let quantised = String::from_utf8_lossy(&output.stderr).contains("coarse clock");
            assert_eq!(quantised, name.contains("coarse-clock"), "{name}");
        }
    }
}

#[test]
fn the_folder_gets_a_file_for_each_and_nothing_elsewhere() {
    let place = Place::new();
    for folder in ["p", "q", "out"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    place.file("p/x.csv", ",\n30,\n");
    place.file("q/x.csv", TRIANGLE);
    let line = place.one_line_refusal(&["import", "p/x.csv", "q/x.csv", "-o", "out"]);
    assert!(line.contains("p/x.csv and q/x.csv would both become out/x.json"), "{line}");
    // The name within a file is its author's choice, and must not choose where we write.
    place.stdout(&["import", "p/x.csv", "--name", "../evil", "-o", "q/a.json"]);
    place.stdout(&["import", "q/a.json", "q/x.csv", "-o", "out"]);
    assert!(place.path("out/a.json").exists() && place.path("out/x.json").exists());
    assert_eq!(files(&place), ["out", "p", "q"]);
}

#[test]
fn stdout_gets_one_document() {
    let place = Place::new();
    place.file("four.csv", TRIANGLE);
    let plain = place.stdout(&["import", "four.csv"]);
    for arguments in [&["-o", "-"][..], &["--json"], &["-o", "-", "--json"], &["-o", "x.json", "--json"]] {
        assert_eq!(place.stdout(&[&["import", "four.csv"], arguments].concat()), plain, "{arguments:?}");
    }
    assert_eq!(place.read("x.json"), plain);
}

#[test]
fn a_matrix_survives_the_way_out_and_in() {
    let place = Place::new();
    let medians = |file: &str| place.json(&["import", file])["core_distance"]["median_ns"].clone();
    place.stdout(&["measure", "--on", "epyc-7r13-2s", "--cpus", "0-9,48-57,96-99", "--quick", "-o", "x.json"]);
    place.stdout(&["export", "x.json", "--format", "csv", "-o", "x.csv"]);
    assert_eq!(medians("x.csv"), medians("x.json"));
    place.stdout(&["import", "x.csv", "-o", "again.json"]);
    assert_eq!(place.stdout(&["export", "again.json", "--format", "csv"]), place.read("x.csv"));
}

#[test]
fn a_gathered_computer_and_a_twin_are_machines_too() {
    let place = Place::new();
    let dump = data().join("sysfs/48amd64-4pa2n6c-sparse.tar.bz2");
    let Some(dump) = dump.to_str().filter(|dump| std::path::Path::new(dump).exists()) else {
        return seatmap_needs::skipped!("published dumps are absent");
    };
    assert!(place.stdout(&["import", dump, "-o", "x.json"]).contains("48amd64-4pa2n6c-sparse with 48 PUs"));
    assert!(place.stdout(&["show", dump]).contains("48 PUs"));
    place.file("bad.tar.bz2", "BZh91AY");
    assert!(place.one_line_refusal(&["import", "bad.tar.bz2"]).contains("bad.tar.bz2: "));
    std::fs::create_dir(place.path("empty")).unwrap();
    assert!(place.one_line_refusal(&["import", "empty"]).contains("hwloc-gather-topology"));
    place.stdout(&["model", "fit", "xeon-e5-2680-2s", "-o", "twin.toml"]);
    assert!(place.stdout(&["import", "twin.toml", "-o", "twin.json"]).contains("with 32 PUs"));
}
