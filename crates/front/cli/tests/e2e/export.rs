//! `seatmap export`.

use crate::common::{Json, Place, stdout};
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn every_format_writes_stdout_or_file() {
    let place = Place::new();
    for (format, start) in
        [("csv", ",,,"), ("hwloc-xml", "<?xml"), ("svg", "<svg"), ("json", "{\"format\":")]
    {
        let printed = place.stdout(format!("export --format {format} graviton3"));
        assert!(printed.starts_with(start), "{format}");
        place.stdout(format!("export --format {format} graviton3 -o out"));
        assert_eq!(place.read("out"), printed);
    }
}

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
fn closed_pipe_is_success() {
    let place = Place::new();
    let mut child = place.command("export --format json epyc-7r13-2s");
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn machine_without_distances_is_refused_as_matrix() {
    let place = Place::new();
    place.stdout("export --format hwloc-xml graviton3 -o x.xml");
    let text = place.read("x.xml");
    let (before, rest) = text.split_once("<distances2").unwrap();
    let after = rest.split_once("</distances2>").unwrap().1;
    place.file("bare.xml", format!("{before}{after}"));
    place.stdout("import bare.xml -o bare.json");
    place.refuses("export --format csv bare.json", "distances");
    assert!(place.stdout("show bare.json").contains("64 PUs"));
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
fn every_plan_format_writes_stdout_or_file() {
    let place = Place::new();
    place.file("plan.json", PLAN);
    for format in FORMATS_OF_PLANS {
        let printed = place.stdout(format!("export --format {format} plan.json"));
        let named = if format == "nginx" { ["1000", "0010"] } else { ["3", "1"] };
        let names = named.iter().all(|pu| printed.contains(pu));
        assert!(names && printed.ends_with('\n'), "{format}: {printed}");
        place.stdout(format!("export --format {format} plan.json -o out"));
        assert_eq!(place.read("out"), printed);
    }
}

#[test]
fn json_format_rewrites_the_plan() {
    let place = Place::new();
    place.file("plan.json", PLAN.replacen('{', "{\"colour\": \"red\", ", 1));
    let plan = place.json("export --format json plan.json");
    assert_eq!((&plan["machine"], &plan["placement"][0]), (&"desk".into(), &3.into()));
    assert!(plan.get("colour").is_none() && plan["cost"].is_null());
}

#[test]
fn machines_and_plans_are_read_from_stdin() {
    let place = Place::new();
    for (text, format, start) in
        [(PLAN, "gomp", "# Seatmap plan: 2 tasks on desk."), (",\n30,\n", "csv", ",\n30,\n")]
    {
        let mut child = place.command(format!("export - --format {format}"));
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = stdout(&output);
        assert!(output.status.success() && text.starts_with(start), "{format}: {text}");
    }
}

#[test]
fn format_must_match_document() {
    let place = Place::new();
    place.file("plan.json", PLAN);
    place.stdout("export --format json graviton3 -o profile.json");
    for machine in ["profile.json", "graviton3"] {
        let line = place.one_line_refusal(format!("export --format taskset {machine}"));
        let told = format!(
            "{machine} is a profile, which cannot be written as taskset; formats for it are csv, hwloc-xml, svg, json"
        );
        assert_eq!(line, format!("seatmap: {told}"));
    }
    let line = place.one_line_refusal("export --format csv plan.json");
    assert!(line.starts_with(
        "seatmap: plan.json is a plan, which cannot be written as csv; formats for it are taskset,"
    ));
    assert!(line.ends_with(&FORMATS_OF_PLANS.join(", ")), "{line}");
}

#[test]
fn inconsistent_plans_are_refused() {
    let place = Place::new();
    for (from, to, told) in [
        ("plan/1", "plan/9", "its format is 'seatmap-plan/9'"),
        ("[3, 1]", "[]", "placement is empty"),
        ("[3, 1]", "[3, 4000000000]", "placement[1]: PU 4000000000 is beyond the largest index"),
        ("[3, 1]", "[3, -1]", "line 1, column 67: invalid value: integer `-1`"),
        ("[3, 1]", "[3, 1], \"memory\": [[0]]", "memory has 1 entry for 2 tasks"),
        ("[\"left\", \"right\"]", "[\"a\"]", "names has 1 entry for 2 tasks"),
        ("[3, 1]", "[3, 1], \"pus\": [{\"os\": 3}]", "placement[1]: PU 1 is not in pus"),
        ("[3, 1]", "[3, 1], \"cost\": 1e999", "number out of range"),
    ] {
        place.file("bad.json", PLAN.replace(from, to));
        let line = place.one_line_refusal("export --format gomp bad.json");
        assert!(line.starts_with("seatmap: bad.json: ") && line.contains(told), "{line}");
    }
}

#[test]
fn shared_pus_are_refused_by_unsupporting_formats() {
    let place = Place::new();
    place.file(
        "shared.json",
        PLAN.replace("[3, 1]", "[3, 1, 3]").replace("\"right\"", "\"right\", \"middle\""),
    );
    let line = place.one_line_refusal("export --format likwid-pin shared.json");
    assert!(
        line.contains("shared.json: likwid-pin cannot pin several tasks to one PU")
            && line.contains("gomp"),
        "{line}"
    );
    for format in FORMATS_OF_PLANS.iter().filter(|format| **format != "likwid-pin") {
        place.stdout(format!("export --format {format} shared.json"));
    }
}

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

/// Each task's memory is on its CPU's node, from the search to the other tools.
#[test]
fn memory_nodes_reach_exported_formats() {
    let place = Place::new();
    let options = "--on xeon-e5-2680-2s --pattern ring:32 --use-smt --memory --kicks 1";
    place.stdout(("place", options, "-o plan.json"));
    let plan = place.read_json("plan.json");
    for (task, nodes) in plan["memory"].elements().iter().enumerate() {
        let pu =
            plan["pus"].elements().iter().find(|pu| pu["os"] == plan["placement"][task]).unwrap();
        assert_eq!(nodes.elements()[..], [pu["numa"].clone()], "task {task}");
    }
    let export = |format: &str| place.stdout(format!("export plan.json --format {format}"));
    assert!(
        export("docker").ends_with(" --cpuset-mems=0,1\n")
            && export("systemd").ends_with("NUMAMask=0 1\n")
    );
    assert!(export("slurm").contains(" --mem-bind=map_mem:"));
    assert_eq!(export("numactl").matches(" --membind=").count(), 33);
    place.stdout("place --on xeon-e5-2680-2s --pattern ring:32 --use-smt -o plan.json");
    assert!(!place.read("plan.json").contains("\"memory\""), "nobody asked");
}
