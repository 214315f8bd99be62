//! Makes every string of every kind of document hostile for the verbs that read it.

use crate::auto::ALONE;
use crate::common::{Place, stderr, stdout};
use crate::hostile::{
    assert_harmless, assert_output_is_harmless, assert_shown, assert_strings_are_shown,
    hostile_text, strings,
};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::PoisonError;

#[test]
fn profile_and_plan_strings_are_escaped() {
    let place = Place::new();
    let profile = place.json("export graviton3 --format json");
    let verbs = [
        "show copy.json",
        "show copy.json --html page.html",
        "export copy.json --format hwloc-xml",
        "export copy.json --format svg -o page.html",
    ];
    assert_strings_are_shown(&place, &profile, &verbs);
    let pattern = place.json("pattern convert ring:4");
    let verbs = [
        "pattern show copy.json",
        "pattern show copy.json --svg page.html",
        "pattern show copy.json --html page.html",
    ];
    assert_strings_are_shown(&place, &pattern, &verbs);
    let on = "place --on graviton3 --pattern ring:4 --kicks 1 --json";
    let plan = place.json(on);
    let formats = ["taskset", "rankfile", "slurm", "systemd", "nginx", "redis", "hwloc"];
    let mut verbs: Vec<String> =
        formats.iter().map(|format| format!("export copy.json --format {format}")).collect();
    verbs.push("run --plan copy.json --any-machine true".to_owned());
    let verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
    assert_strings_are_shown(&place, &plan, &verbs);
}

/// A cluster with every possible text: bad-cable.json plus a missing rank and a quota.
fn cluster() -> Value {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/bad-cable.json"));
    let mut cluster: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    cluster["launcher"] = "Slurm".into();
    cluster["date"] = "2026-11-25".into();
    cluster["missing"] = json!([{ "nodes": ["gone"], "why": "it did not answer within 60 s" }]);
    let stop = json!({ "group": "/box", "file": "/sys/fs/cgroup/box/cpu.max", "cpus": 0.15, "period_ms": 100,
        "stopped_periods": 14, "periods": 75, "stopped_ms": 680.0 });
    cluster["pairs"][0]["ends"] =
        json!([{ "mtu_bytes": 1500, "stops": [stop] }, { "mtu_bytes": 1500, "stops": [] }]);
    cluster
}

#[test]
fn cluster_strings_are_escaped() {
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
    let ranks = place.json("place --on cluster.json --pattern ring:4 --kicks 1 --json");
    let verbs = [
        "show copy.json",
        "export copy.json --format openmpi",
        "export copy.json --format slurm-hostfile",
    ];
    assert_strings_are_shown(&place, &ranks, &verbs);
}

#[test]
fn seating_strings_are_escaped() {
    let place = Place::new();
    let own = std::process::id().to_string();
    let seating = place.run(format!("check --seconds 0.1 --json -p {own}"));
    let seating: Value = serde_json::from_slice(&seating.stdout).unwrap();
    let check = format!("check --seconds 0.05 --expect copy.json -p {own}");
    assert_strings_are_shown(&place, &seating, &[&check]);
}

/// Each line of this file is a document. Makes the strings of the first lines hostile.
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
fn recording_and_log_strings_are_escaped() {
    let place = Place::new();
    let own = std::process::id().to_string();
    place.stdout(format!("top --record recording.json --seconds 0.3 -p {own}"));
    assert_lines_are_shown(
        &place,
        &place.read("recording.json"),
        &["show copy.json", "show copy.json --html page.html", "observe --recording copy.json"],
    );
    let header = json!({ "format": "seatmap-auto/1", "tool_version": "0.1.0", "begun": "2026-11-25T09:41:25Z",
        "machine": "vm", "program": "sh", "metric": "switches", "means": "eBPF", "period_s": 0.5, "soft": false,
        "rules": { "confidence": 0.95, "pairs": 10, "least_gain": 0.01, "changed": 0.3, "rest_s": 2.0,
            "patience_s": 8.0, "recheck_s": 64.0 } });
    let log = [header, json!({ "at_s": 0.003, "decision": { "kind": "observe" } })]
        .map(|line| line.to_string());
    assert_lines_are_shown(&place, &log.join("\n"), &["run --replay copy.json"]);
}

#[test]
fn comparison_strings_are_escaped() {
    let place = Place::new();
    let mut results = place.json("bench --runs 1 --warmup 0 --json true");
    let bench = "bench --runs 1 --warmup 0 --baseline then.json --name";
    // Each string takes a run, so only those in sentences are tried.
    for pointer in ["/commands/0/name", "/begun", "/fingerprint/seats", "/fingerprint/kernel"] {
        if let Some(string) = results.pointer_mut(pointer) {
            *string = hostile_text().into();
        }
    }
    place.file("then.json", results.to_string());
    let output = place.run((bench, &[&hostile_text().replace('\0', ""), "true"]));
    for text in [&output.stdout, &output.stderr] {
        assert_shown("bench", text);
        assert!(
            !String::from_utf8_lossy(text)
                .lines()
                .any(|line| line.starts_with("seatmap: all is well"))
        );
    }
    assert!(stdout(&output).contains("\\u{1b}[2J"), "the name is shown");
}

/// The record of a cell with all possible texts. `memory` would require a guardian.
fn cell_record() -> Value {
    json!({ "format": "seatmap-cell/1", "name": "quiet", "cpus": [0], "backend": "affinity",
        "degraded": ["v2-partition: not here"], "noise_before": 1.5, "noise_after": 0.5, "state": "ready",
        "group": "/sys/fs/cgroup/seatmap.quiet", "irqs_left": ["36"], "kernel_threads_left": 1, "threads_left": 2,
        "processes_left": ["1 init"], "expires_s": null,
        "memory": null })
}

/// The cell's journal. The computer lacks the recorded value, so nothing is restored.
fn cell_journal() -> [Value; 3] {
    let boot_id =
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned();
    [
        json!({ "boot_id": boot_id, "entry": "begin", "format": "seatmap-cell-journal/1", "cell": "quiet",
            "cpus": "0", "serial": 1 }),
        json!({ "boot_id": boot_id, "entry": "change", "what": "value", "path": "/proc/sys/vm/stat_interval",
            "old": "1", "new": "7654321" }),
        json!({ "boot_id": boot_id, "entry": "done" }),
    ]
}

fn assert_cell_is_shown(place: &Place, record: &Value, journal: &[Value], what: &str) {
    let folder = place.path("run");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    let lines: String = journal.iter().map(|line| format!("{line}\n")).collect();
    for (file, text) in [("quiet.json", record.to_string()), ("quiet.journal", lines)] {
        std::fs::write(folder.join(file), text).unwrap();
        std::fs::set_permissions(folder.join(file), Permissions::from_mode(0o600)).unwrap();
    }
    let looks = [
        "cell list",
        "cell list --json",
        "cell show quiet",
        "cell show quiet --json",
        "cell verify quiet",
    ];
    for verb in looks.iter().chain(&["cell destroy quiet", "cell restore"]) {
        assert_harmless(place, verb, what);
    }
}

#[test]
fn cell_strings_are_escaped() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let record = cell_record();
    let journal = cell_journal();
    let mut pointers = Vec::new();
    strings(&record, "", &mut pointers);
    for pointer in pointers {
        let mut copy = record.clone();
        *copy.pointer_mut(&pointer).unwrap() = hostile_text().into();
        assert_cell_is_shown(&place, &copy, &journal, &pointer);
    }
    for (at, line) in journal.iter().enumerate() {
        let mut pointers = Vec::new();
        strings(line, "", &mut pointers);
        for pointer in pointers {
            let mut copies = journal.clone();
            *copies[at].pointer_mut(&pointer).unwrap() = hostile_text().into();
            assert_cell_is_shown(&place, &record, &copies, &format!("line {at}, {pointer}"));
        }
    }
}

#[test]
fn observed_program_names_are_escaped() {
    let place = Place::new();
    let Ok(program) = std::fs::read("/bin/sh") else {
        return seatmap_needs::skipped!("no /bin/sh");
    };
    // A thread's name is the first 15 bytes of its program's name.
    let name = place.file("\u{1b}[2J\n\u{9b}1m\u{202e}x", program);
    std::fs::set_permissions(place.path(name), Permissions::from_mode(0o755)).unwrap();
    let script = "for i in 1 2 3 4 5 6 7 8; do echo $i; done | while read i; do :; done";
    for method in ["wakeups", "sockets"] {
        let words = [
            "observe",
            "--method",
            method,
            "-o",
            "own.json",
            "--",
            &format!("./{name}"),
            "-c",
            script,
        ];
        let output = place.run(words);
        assert_output_is_harmless(&output, method);
        if !output.status.success() {
            return seatmap_needs::skipped!("{}", stderr(&output));
        }
        assert!(stderr(&output).contains("\\u{1b}[2J"), "{output:?}");
        for verb in ["pattern show own.json", "pattern show own.json --html page.html"] {
            assert!(assert_harmless(&place, verb, method));
        }
    }
}
