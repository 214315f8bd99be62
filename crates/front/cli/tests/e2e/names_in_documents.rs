//! Every string of every kind of document, made hostile, through the verbs that read it.

use crate::common::Place;
use crate::names::assert_shown;
use serde_json::{Value, json};
use std::path::Path;

/// Text that a terminal or a table must never get: escape sequences, line ends, C1 controls,
/// overrides, NUL, and length.
fn hostile_text() -> String {
    let script = "<script>alert(1)</script>|,\"';`";
    let long = "y".repeat(5000);
    format!("\u{1b}[2J\u{1b}]0;x\u{7}\nseatmap: all is well\r\u{9b}1m\u{202e}\u{0}{script}{long}")
}

/// The pointers to all strings of a document. Elements of one array stand for each other.
fn strings(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(pointer.to_owned()),
        Value::Array(elements) => {
            elements.iter().take(1).for_each(|element| strings(element, &format!("{pointer}/0"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| strings(member, &format!("{pointer}/{key}"), found));
        }
        _ => {}
    }
}

/// Looks at all that people see of a run, and at a page that it wrote. Whether the run succeeded.
fn assert_harmless(place: &Place, arguments: &str, what: &str) -> bool {
    let output = place.run(&arguments.split(' ').collect::<Vec<_>>());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{arguments} with {what}: {stderr}");
    for text in [&output.stdout, &output.stderr] {
        assert_shown(&format!("{arguments} with {what}"), text);
        let text = String::from_utf8_lossy(text);
        let forged = text.lines().find(|line| line.starts_with("seatmap: all is well"));
        assert_eq!(forged, None, "{arguments} with {what}");
    }
    if arguments.contains(PAGE) {
        let page = std::fs::read(place.path(PAGE)).unwrap_or_default();
        assert_shown(arguments, &page);
        assert!(!String::from_utf8_lossy(&page).contains("<script>alert"), "{arguments} with {what}");
    }
    output.status.success()
}

/// The file of a page.
const PAGE: &str = "page.html";

/// Runs verbs on copies of a document, each with one hostile string, whether they take the copy or refuse it, and on
/// one in which all strings but its format are hostile.
fn assert_strings_are_shown(place: &Place, document: &Value, verbs: &[&str]) {
    let mut pointers = Vec::new();
    strings(document, "", &mut pointers);
    assert!(pointers.len() > 1, "{verbs:?}: {pointers:?}");
    let mut all = document.clone();
    let mut taken = 0;
    for pointer in &pointers {
        let mut copy = document.clone();
        *copy.pointer_mut(pointer).unwrap() = hostile_text().into();
        if pointer != "/format" {
            *all.pointer_mut(pointer).unwrap() = hostile_text().into();
        }
        place.file("copy.json", copy.to_string());
        taken += verbs.iter().filter(|verb| assert_harmless(place, verb, pointer)).count();
    }
    assert!(taken > 0, "{verbs:?} refuse every copy, so that nothing is shown of any");
    place.file("copy.json", all.to_string());
    for verb in verbs {
        assert_harmless(place, verb, "all strings");
    }
}

#[test]
fn no_string_of_a_document_commands_a_terminal_or_forges_a_line() {
    let place = Place::new();
    let profile = place.json(&["export", "graviton3", "--format", "json"]);
    let verbs = [
        "show copy.json",
        "show copy.json --html page.html",
        "export copy.json --format hwloc-xml",
        "export copy.json --format svg -o page.html",
    ];
    assert_strings_are_shown(&place, &profile, &verbs);
    let pattern = place.json(&["pattern", "convert", "ring:4"]);
    let verbs = ["pattern show copy.json", "pattern show copy.json --html page.html"];
    assert_strings_are_shown(&place, &pattern, &verbs);
    let on = ["place", "--on", "graviton3", "--pattern", "ring:4", "--kicks", "1", "--json"];
    let plan = place.json(&on);
    let formats = ["taskset", "rankfile", "slurm", "systemd", "nginx", "redis", "libvirt", "hwloc"];
    let mut verbs: Vec<String> = formats.iter().map(|format| format!("export copy.json --format {format}")).collect();
    verbs.push("run --plan copy.json --any-machine true".to_owned());
    let verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
    assert_strings_are_shown(&place, &plan, &verbs);
}

/// A cluster with every text that one can have: bad-cable.json, with a rank that is gone and a quota.
fn cluster() -> Value {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/bad-cable.json"));
    let mut cluster: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    cluster["launcher"] = "Slurm".into();
    cluster["date"] = "2026-11-25".into();
    cluster["missing"] = json!([{ "nodes": ["gone"], "why": "it did not answer within 60 s" }]);
    let stop = json!({ "group": "/box", "file": "/sys/fs/cgroup/box/cpu.max", "cpus": 0.15, "period_ms": 100,
        "stopped_periods": 14, "periods": 75, "stopped_ms": 680.0 });
    cluster["pairs"][0]["ends"] = json!([{ "mtu_bytes": 1500, "stops": [stop] }, { "mtu_bytes": 1500, "stops": [] }]);
    cluster
}

#[test]
fn no_string_of_a_cluster_commands_a_terminal_or_forges_a_line() {
    let place = Place::new();
    let verbs = [
        "show copy.json",
        "show copy.json --html page.html",
        "cluster doctor copy.json",
        "export copy.json --format csv",
        "export copy.json --format topology-conf",
        "export copy.json --format topology-yaml",
    ];
    let cluster = cluster();
    assert_strings_are_shown(&place, &cluster, &verbs);
    place.file("cluster.json", cluster.to_string());
    let ranks = place.json(&["place", "--on", "cluster.json", "--pattern", "ring:4", "--kicks", "1", "--json"]);
    let verbs = ["show copy.json", "export copy.json --format openmpi", "export copy.json --format slurm-hostfile"];
    assert_strings_are_shown(&place, &ranks, &verbs);
}

#[test]
fn no_string_of_a_seating_commands_a_terminal_or_forges_a_line() {
    let place = Place::new();
    let own = std::process::id().to_string();
    let seating = place.run(&["check", "--seconds", "0.1", "--json", "-p", &own]);
    let seating: Value = serde_json::from_slice(&seating.stdout).unwrap();
    let check = format!("check --seconds 0.05 --expect copy.json -p {own}");
    assert_strings_are_shown(&place, &seating, &[&check]);
}

/// A file of lines, each of which is a document: hostile in each string of each of the first lines.
fn assert_lines_are_shown(place: &Place, text: &str, verbs: &[&str]) {
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate().take(4) {
        let document: Value = serde_json::from_str(line).unwrap();
        let mut pointers = Vec::new();
        strings(&document, "", &mut pointers);
        for pointer in pointers {
            let mut copy = document.clone();
            *copy.pointer_mut(&pointer).unwrap() = hostile_text().into();
            let mut copies: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            copies[at] = copy.to_string();
            place.file("copy.json", copies.join("\n") + "\n");
            for verb in verbs {
                assert_harmless(place, verb, &format!("line {at}, {pointer}"));
            }
        }
    }
}

#[test]
fn no_string_of_a_recording_or_a_log_commands_a_terminal_or_forges_a_line() {
    let place = Place::new();
    let own = std::process::id().to_string();
    place.stdout(&["top", "--record", "recording.json", "--seconds", "0.3", "-p", &own]);
    assert_lines_are_shown(
        &place,
        &place.read("recording.json"),
        &["show copy.json", "show copy.json --html page.html", "observe --recording copy.json"],
    );
    let header = json!({ "format": "seatmap-auto/1", "tool_version": "0.1.0", "begun": "2026-11-25T09:41:25Z",
        "machine": "vm", "program": "sh", "metric": "switches", "means": "eBPF", "period_s": 0.5, "soft": false,
        "rules": { "confidence": 0.95, "pairs": 10, "least_gain": 0.01, "changed": 0.3, "rest_s": 2.0,
            "patience_s": 8.0, "recheck_s": 64.0 } });
    let log = [header, json!({ "at_s": 0.003, "decision": { "kind": "observe" } })].map(|line| line.to_string());
    assert_lines_are_shown(&place, &log.join("\n"), &["run --replay copy.json"]);
}

#[test]
fn no_string_of_a_comparison_commands_a_terminal_or_forges_a_line() {
    let place = Place::new();
    let mut results = place.json(&["bench", "--runs", "1", "--warmup", "0", "--json", "true"]);
    let bench = ["bench", "--runs", "1", "--warmup", "0", "--baseline", "then.json", "--name"];
    // One string at a time takes a run each; these are the ones that sentences repeat.
    for pointer in ["/commands/0/name", "/begun", "/fingerprint/seats", "/fingerprint/kernel"] {
        if let Some(string) = results.pointer_mut(pointer) {
            *string = hostile_text().into();
        }
    }
    place.file("then.json", results.to_string());
    let output = place.run(&[&bench[..], &[&hostile_text().replace('\0', ""), "true"]].concat());
    for text in [&output.stdout, &output.stderr] {
        assert_shown("bench", text);
        assert!(!String::from_utf8_lossy(text).lines().any(|line| line.starts_with("seatmap: all is well")));
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("\\u{1b}[2J"), "the name is shown");
}
