//! `seatmap export`.

use crate::common::Place;
use std::process::{Command, Stdio};

#[test]
fn every_format_goes_to_stdout_or_a_file() {
    let place = Place::new();
    for (format, start) in [("csv", ",,,"), ("hwloc-xml", "<?xml"), ("svg", "<svg"), ("json", "{\"format\":")] {
        let printed = place.stdout(&["export", "--format", format, "graviton3"]);
        assert!(printed.starts_with(start), "{format}");
        place.stdout(&["export", "--format", format, "graviton3", "-o", "out"]);
        assert_eq!(place.read("out"), printed);
    }
}

#[test]
fn lstopo_prints_the_distances() {
    if Command::new("lstopo-no-graphics").arg("--version").output().is_err() {
        return eprintln!("skipped: lstopo is not installed");
    }
    let place = Place::new();
    place.stdout(&["export", "--format", "hwloc-xml", "xeon-e5-2680-2s", "-o", "x.xml"]);
    let lstopo = ["--input", "x.xml", "--distances"];
    let output = Command::new("lstopo-no-graphics").args(lstopo).current_dir(place.folder()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("kind 6") && text.contains("111111") && text.contains("444444"), "{text}");
}

#[test]
fn nobody_listening_is_no_failure() {
    let place = Place::new();
    let mut child = place.command(&["export", "--format", "json", "epyc-7r13-2s"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn what_has_no_distances_cannot_be_a_matrix() {
    let place = Place::new();
    place.stdout(&["export", "--format", "hwloc-xml", "graviton3", "-o", "x.xml"]);
    let text = place.read("x.xml");
    let (before, rest) = text.split_once("<distances2").unwrap();
    let after = rest.split_once("</distances2>").unwrap().1;
    place.file("bare.xml", format!("{before}{after}"));
    place.stdout(&["import", "bare.xml", "-o", "bare.json"]);
    assert!(place.one_line_refusal(&["export", "--format", "csv", "bare.json"]).contains("distances"));
    assert!(place.stdout(&["show", "bare.json"]).contains("64 PUs"));
}

#[test]
fn the_picture_in_the_readme_is_this_one() {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures/epyc-7r13-2s.svg");
    let printed = Place::new().stdout(&["export", "--format", "svg", "epyc-7r13-2s"]);
    assert!(
        printed == std::fs::read_to_string(kept).unwrap(),
        "make it anew: seatmap export --format svg epyc-7r13-2s -o {kept}"
    );
}
