//! Every reader of other tools' files, on small files in `tests/own`. The published measurements
//! are not in the repository.

use crate::common::{Json, Place, can_pretend, stderr};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn own(name: &str) -> String {
    PathBuf::from(crate::REPOSITORY)
        .join("crates/front/cli/tests/own")
        .join(name)
        .to_str()
        .unwrap()
        .to_owned()
}

/// Asserts that a file describes the made-up machine: CPU n and CPU n + 4 share a core, with two
/// cores per socket.
fn is_the_machine(place: &Place, file: &str) {
    let profile = place.json(["import", file, "--json"]);
    assert_eq!(profile["topology"]["pus"].elements().len(), 8, "{file}");
    assert!(place.stdout(["show", file]).contains("8 PUs"), "{file}");
}

#[test]
fn every_format_reads_as_the_same_machine() {
    let place = Place::new();
    for name in ["two-sockets.csv", "two-sockets.mct", "two-sockets.xml"] {
        is_the_machine(&place, &own(name));
    }
    let distance = |file: &str, of: usize| {
        let profile = place.json(["import", &own(file), "--frequency", "2g", "--json"]);
        profile["core_distance"]["median_ns"][0][of].number()
    };
    // One-way distances in both files: 12 ns or 30 cycles to the sibling, 180 cycles to the other
    // socket.
    assert!((distance("two-sockets.mct", 4) - 30.0).abs() < 1e-9);
    assert!((distance("two-sockets.mct", 2) - 180.0).abs() < 1e-9);
}

#[test]
fn assumed_frequency_is_reported() {
    let place = Place::new();
    let assumed = place.run(["import", &own("two-sockets.mct")]);
    assert!(stderr(&assumed).contains("--frequency"));
}

#[test]
fn matrix_shows_siblings_and_sockets() {
    let place = Place::new();
    let profile = place.json(["import", &own("two-sockets.csv"), "--json"]);
    let median = |of: usize| profile["core_distance"]["median_ns"][0][of].number();
    assert!((median(4) - 24.0).abs() < 1e-9, "one way is half of a round trip");
    assert!(median(1) > 2.0 * median(4) && median(2) > 2.0 * median(1));
    assert!(place.stdout(["show", &own("two-sockets.csv")]).contains("Groups"));
    place.stdout(["show", &own("two-sockets.csv"), "--html", "x.html"]);
    assert!(place.read("x.html").contains("<svg"));
    place.stdout([
        "place",
        "--on",
        &own("two-sockets.csv"),
        "--pattern",
        "pairs:4",
        "-o",
        "p.json",
    ]);
    let plan = place.read_json("p.json");
    assert!(plan.is_object());
    place.stdout(["model", "fit", &own("two-sockets.csv"), "-o", "twin.toml"]);
    assert!(place.stdout("import twin.toml -o twin.json").contains("with 8 PUs"));
}

#[test]
fn coarse_clock_is_reported_and_console_log_refused() {
    let place = Place::new();
    let coarse = place.run(["import", &own("coarse-clock.csv"), "-o", "x.json"]);
    assert!(coarse.status.success());
    assert!(stderr(&coarse).contains("coarse clock"), "{coarse:?}");
    let fine = place.run(["import", &own("two-sockets.csv"), "-o", "y.json"]);
    assert!(!stderr(&fine).contains("coarse clock"), "{fine:?}");
    let line = place.one_line_refusal(["import", &own("console-log.csv"), "-o", "z.json"]);
    assert!(line.contains("line 1, column 1") && line.contains("console log"), "{line}");
}

#[test]
fn qaplib_problem_is_solved() {
    let place = Place::new();
    let answer = place.json(["place", "--qaplib", &own("six.dat"), "--kicks", "50", "--json"]);
    // Three pairs of facilities, each pair on neighbouring places: 2 x 3 x 5 x 1.
    assert_eq!(answer["cost"].as_f64(), Some(30.0), "{answer}");
    let pattern = place.json(["pattern", "convert", &own("six.dat"), "--matrix", "second"]);
    assert_eq!(pattern["tasks"], 6);
}

/// A tree of two CPUs, as hwloc-gather-topology copies it.
fn gathered(place: &Place) {
    let write = |path: &str, text: &str| {
        let path = place.path("two").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let system = "sys/devices/system";
    for list in ["online", "possible", "present"] {
        write(&format!("{system}/cpu/{list}"), "0-1\n");
    }
    for cpu in 0..2 {
        let topology = format!("{system}/cpu/cpu{cpu}/topology");
        write(&format!("{topology}/physical_package_id"), "0\n");
        write(&format!("{topology}/core_id"), &format!("{cpu}\n"));
        write(&format!("{topology}/thread_siblings"), &format!("{}\n", 1 << cpu));
        write(&format!("{topology}/core_siblings"), "3\n");
    }
    write(&format!("{system}/node/online"), "0\n");
    write(&format!("{system}/node/node0/cpumap"), "3\n");
    write("proc/cpuinfo", "processor\t: 0\n\nprocessor\t: 1\n");
}

#[test]
fn gathered_computer_is_read_from_folder_and_archive() {
    let place = Place::new();
    gathered(&place);
    assert!(place.stdout("show two").contains("2 PUs"));
    assert!(place.stdout("import two -o x.json").contains("with 2 PUs"));
    if can_pretend() {
        assert_eq!(place.stdout("pretend two -q -- nproc"), "2\n");
    }
    let packed = Command::new("tar")
        .args(["-cjf", "two.tar.bz2", "two"])
        .current_dir(place.folder())
        .status();
    if !packed.is_ok_and(|status| status.success()) {
        return seatmap_needs::skipped!("no tar with bzip2 here");
    }
    assert!(place.stdout("import two.tar.bz2 -o y.json").contains("with 2 PUs"));
}
