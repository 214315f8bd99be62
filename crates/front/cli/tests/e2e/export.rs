//! `seatmap export`.

use crate::common::{Place, stdout};
use std::process::Command;

#[test]
fn lstopo_prints_the_distances() {
    if !seatmap_needs::tool("lstopo-no-graphics") {
        return;
    }
    let place = Place::new();
    place.stdout("export --format hwloc-xml xeon-e5-2680-2s -o x.xml");
    let output = Command::new("lstopo-no-graphics")
        .args(["--input", "x.xml", "--distances"])
        .current_dir(place.folder())
        .output()
        .unwrap();
    let text = stdout(&output);
    assert!(
        text.contains("kind 6") && text.contains("111111") && text.contains("444444"),
        "{text}"
    );
}

#[test]
fn readme_picture_is_current() {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/pictures/epyc-7r13-2s.svg");
    let printed = Place::new().stdout("export --format svg epyc-7r13-2s");
    assert!(
        printed == std::fs::read_to_string(kept).unwrap(),
        "make it anew: seatmap export --format svg epyc-7r13-2s -o {kept}"
    );
}

const PLAN: &str = r#"{"format": "seatmap-plan/1", "machine": "desk", "placement": [3, 1], "names": ["left", "right"]}"#;
const FORMATS_OF_PLANS: [&str; 16] = [
    "taskset",
    "omp-places",
    "gomp",
    "kmp",
    "likwid-pin",
    "rankfile",
    "slurm",
    "systemd",
    "hwloc",
    "numactl",
    "docker",
    "podman",
    "dpdk",
    "nginx",
    "redis",
    "json",
];

#[test]
fn plan_names_are_never_executed() {
    let place = Place::new();
    let word = r"x\n touch ran\n$(touch ran)`touch ran`'\u001b[31m";
    let names = format!("[\"{word}\", \"{word}\"]");
    let pattern = format!("[3, 1], \"pattern\": \"{word}\"");
    let plan = PLAN
        .replace("desk", word)
        .replace("[\"left\", \"right\"]", &names)
        .replace("[3, 1]", &pattern);
    place.file("plan.json", plan);
    // JSON represents the names as strings.
    for format in FORMATS_OF_PLANS.iter().filter(|format| **format != "json") {
        let text = place.stdout(format!("export --format {format} plan.json"));
        assert!(!text.contains('\u{1b}'), "{format}");
        let before = |line: &str, mark: &str| {
            line.split_once(mark).is_some_and(|it| !it.0.contains("touch"))
        };
        assert!(
            text.lines().all(|line| {
                !line.contains("touch") || ["#", "<!--"].iter().any(|mark| before(line, mark))
            }),
            "{format}: {text}"
        );
    }
    let sourced = place.stdout("export --format gomp plan.json");
    place.file("seats", sourced);
    let output =
        Command::new("sh").args(["-c", ". ./seats"]).current_dir(place.folder()).output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty() && !place.path("ran").exists(),
        "{output:?}"
    );
}
