//! `seatmap pretend --zoo`, and its machines as ordinary programs see them.

use super::{pretend, text};
use crate::common::{Json, Place};
use seatmap_data::machine::zoo;
use std::collections::BTreeSet;

/// Counts by three programs: CPUs; packages, cores and nodes of the listed CPUs; usable CPUs.
const COUNTS: &str = r#"
nproc --all
LC_ALL=C lscpu -p=CPU,SOCKET,CORE,NODE | grep -v '^#'
echo end
python3 -c 'import os; print(len(os.sched_getaffinity(0)))'
ls -d /sys/devices/system/node/node[0-9]* | wc -l
"#;

#[test]
fn zoo_machines_are_counted_as_described() {
    let place = Place::new();
    let tools = [["nproc", "--version"], ["lscpu", "--version"], ["python3", "--version"]];
    if tools.iter().any(|[tool, version]| !seatmap_needs::program(tool, &[version])) {
        return;
    }
    for name in zoo::names() {
        let sheet = zoo::find(name).unwrap().unwrap();
        let topology = sheet.topology();
        let pus = &topology.pus;
        let arguments = [name, "-q", "--", "sh", "-c", COUNTS];
        let Some(output) = pretend(&place, arguments) else { return };
        let said = text(&output.stdout);
        let (listed, counted) = said.split_once("end\n").unwrap();
        let (all, rows) = listed.split_once('\n').unwrap();
        let rows: Vec<Vec<u32>> = rows
            .lines()
            .map(|row| row.split(',').map(|number| number.parse().unwrap_or_default()).collect())
            .collect();
        let counts: Vec<usize> = counted.lines().map(|line| line.trim().parse().unwrap()).collect();
        let nodes: BTreeSet<u32> =
            pus.iter().filter_map(|pu| pu.numa).chain(sheet.nodes_without_cpus).collect();
        assert_eq!(all.parse(), Ok(pus.len()), "{name}: {said}");
        assert_eq!(counts, [pus.len(), nodes.len()], "{name}: {said}");
        let cpus: Vec<u32> = rows.iter().map(|row| row[0]).collect();
        assert!(pus.iter().map(|pu| pu.os).eq(cpus), "{name}: {said}");
        // On Arm, lscpu numbers cores and packages from 0 again after each change of their type.
        let groups = pus.chunk_by(|pu, next| pu.core_type == next.core_type).enumerate();
        let groups: Vec<usize> =
            groups.flat_map(|(group, pus)| pus.iter().map(move |_| group)).collect();
        let cores: BTreeSet<_> = rows.iter().map(|row| &row[1..3]).zip(&groups).collect();
        let expected: BTreeSet<_> = pus.iter().map(|pu| (pu.package, pu.core)).collect();
        assert_eq!(cores.len(), expected.len(), "{name}: {said}");
        let packages: BTreeSet<_> = rows.iter().map(|row| row[1]).zip(&groups).collect();
        let expected: BTreeSet<_> = pus.iter().map(|pu| pu.package).zip(&groups).collect();
        assert_eq!(packages.len(), expected.len(), "{name}: {said}");
        let own: Vec<u32> = rows.iter().map(|row| row[3]).collect();
        assert!(pus.iter().filter_map(|pu| pu.numa).eq(own), "{name}: {said}");
    }
}

/// The rows of facts that users published, and the words that must name them.
const WORDS: [(&str, &str, &str); 17] = [
    ("apple-m1", "kind:performance", "4-7"),
    ("cix-p1", "kind:efficiency", "1-4"),
    ("cix-p1", "fast:4", "0,9-11"),
    ("core-i7-1370p", "kind:performance", "0-11"),
    ("core-i7-1370p", "fast:2", "4,8"),
    ("core-i9-10920x", "fast:4", "3,5,7,9"),
    ("core-ultra-5-225u", "kind:low-power", "12,13"),
    ("core-ultra-7-258v", "kind:low-power", "4-7"),
    ("core-ultra-9-185h", "kind:efficiency", "12-19"),
    ("core-ultra-9-185h", "no-smt", "0,1,3,6,8,10,12-21"),
    ("lakefield-i5-l16g7", "kind:performance", "4"),
    ("nvidia-gb10", "kind:performance", "5-9,15-19"),
    ("odroid-n2", "kind:performance", "2-5"),
    ("ryzen-7900x3d", "cache:biggest", "0-5,12-17"),
    ("ryzen-9950x3d", "fast:4", "0-2,4"),
    ("ryzen-ai-9-hx-370", "kind:efficiency", "4-11,16-23"),
    ("snapdragon-8-gen2", "kind:efficiency", "0-2"),
];

/// On the machine's file, and on the machine itself.
#[test]
fn words_name_the_right_cpus_of_zoo_machines() {
    let place = Place::new();
    for (machine, word, cpus) in WORDS {
        assert_eq!(place.stdout(["cpus", word, "--on", machine]).trim(), cpus, "{machine} {word}");
        let arguments = [machine, "-q", "--", crate::PROGRAM, "cpus", word];
        let Some(output) = pretend(&place, arguments) else { return };
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(said.trim(), cpus, "{machine} {word}");
    }
}

/// A program that binds itself to CPU 3, works, and prints how many CPUs it may use.
const BOUND: &str = "taskset -cp 3 $$ >/dev/null || exit 4; exec nproc --all";

#[test]
fn zoo_reports_every_situation_in_all_forms() {
    let place = Place::new();
    if !seatmap_needs::tool("taskset") {
        return;
    }
    let forms = ["--json", "--junit", "zoo.xml", "--html", "zoo.html", "--jobs", "2"];
    let program = ["--", "sh", "-c", BOUND];
    let machines = ["--zoo", "raspberry-pi-5,core-i7-1370p"];
    let Some(output) = pretend(&place, (machines, forms, program)) else { return };
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = report["runs"].elements();
    let words: Vec<String> = runs
        .iter()
        .map(|run| {
            let faults = run["faults"].elements().iter().map(|fault| fault["rule"].text());
            let faults: Vec<&str> = faults.collect();
            format!("{} {} {}", run["machine"].text(), run["situation"].text(), faults.join("+"))
        })
        .collect();
    assert_eq!(
        words,
        [
            "raspberry-pi-5 whole ",
            "raspberry-pi-5 hole ",
            "raspberry-pi-5 offline crash+refused+output",
            "raspberry-pi-5 one-cpu ",
            "raspberry-pi-5 quota ",
            "raspberry-pi-5 quota-v1 ",
            "core-i7-1370p whole ",
            "core-i7-1370p hole crash+refused+output",
            "core-i7-1370p offline crash+refused+output",
            "core-i7-1370p no-smt crash+refused+output",
            "core-i7-1370p one-cpu crash+refused+output",
            "core-i7-1370p quota ",
            "core-i7-1370p quota-v1 ",
        ]
    );
    let repeat = runs[2]["repeat"].text();
    assert!(repeat.starts_with("seatmap pretend raspberry-pi-5 --offline 3 -- sh -c "), "{repeat}");
    assert!(place.read("zoo.html").contains("core-i7-1370p"));
    let count = "import sys, xml.dom.minidom as xml; \
                 print(len(xml.parse('zoo.xml').getElementsByTagName('failure')))";
    let failures = std::process::Command::new("python3")
        .args(["-c", count])
        .current_dir(place.folder())
        .output()
        .unwrap();
    assert_eq!(text(&failures.stdout).trim(), "5", "{}", text(&failures.stderr));
}

#[test]
fn endless_programs_and_their_children_are_ended() {
    let place = Place::new();
    let line = "sleep 600 & echo $! > pid; test $(nproc) = 4 && exit; sleep 600";
    let arguments = ["--zoo", "raspberry-pi-5", "--timeout", "8s", "--jobs", "4", "--json"];
    let Some(output) = pretend(&place, (arguments, ["--", "sh", "-c", line])) else { return };
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = report["runs"].elements();
    let ended: Vec<bool> = runs.iter().map(|run| run["is_timed_out"].as_bool().unwrap()).collect();
    assert_eq!(ended, [false, true, true, true, false, false]);
    let pid = place.read("pid");
    assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists(), "{pid}");
}
