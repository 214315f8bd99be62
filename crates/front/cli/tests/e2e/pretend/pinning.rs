//! Binding faults of other programs: right on a usual machine, wrong on another.
//!
//! `tests/programs/pinning.c` reimplements the faulty logic. Each case names the public thread in
//! which users reported it.

use super::{pretend, text};
use crate::common::Place;
use crate::run::programs;
use serde_json::json;

#[derive(Clone, Copy)]
enum Check {
    Rule(&'static str),
    Seats(&'static [u32]),
}

struct Case {
    machine: &'static str,
    workers: u32,
    check: Check,
}

struct Fault {
    name: &'static str,
    usual: Case,
    odd: Case,
    says: &'static str,
}

const fn case(machine: &'static str, workers: u32, check: Check) -> Case {
    Case { machine, workers, check }
}

const ON_ONE_CPU: &str = "share one CPU (CPU 0)";

const FAULTS: [Fault; 10] = [
    // Assumes that neighbouring numbers share a core:
    // github.com/b4rtaz/distributed-llama/issues/141
    Fault {
        name: "consecutive",
        usual: case("xeon-8375c-2s", 8, Check::Rule("one-per-core")),
        odd: case("core-i9-12900k", 8, Check::Rule("one-per-core")),
        says: "share one core (CPUs 0,1)",
    },
    // Assumes that a container's CPUs begin with 0: github.com/ROCm/mori/pull/358
    Fault {
        name: "absolute",
        usual: case("xeon-8375c-2s --cpus 0-15", 4, Check::Rule("one-per-core")),
        odd: case("xeon-8375c-2s --cpus 16-31", 4, Check::Rule("one-per-core")),
        says: "not bound to one core, but may run on CPUs 16-31",
    },
    // A mask of 32 bits wraps around: github.com/WyvernTKC/cpuminer-gr-avx2/issues/42
    Fault {
        name: "narrow",
        usual: case("xeon-e5-2680-2s", 32, Check::Rule("one-per-cpu")),
        odd: case("graviton3", 33, Check::Rule("one-per-cpu")),
        says: ON_ONE_CPU,
    },
    // Offline CPUs are gaps in the numbers: github.com/beyond-all-reason/RecoilEngine/pull/2555
    Fault {
        name: "packed",
        usual: case("graviton3", 4, Check::Seats(&[0, 1, 2, 3])),
        odd: case("graviton3 --offline 1,3,5", 4, Check::Seats(&[0, 2, 4, 6])),
        says: "may run on CPU 2, but the seat of task 2 is CPU 4",
    },
    // Core numbers restart in each package: github.com/giampaolo/psutil/issues/1620
    Fault {
        name: "cores-by-number",
        usual: case("graviton3", 8, Check::Rule("spread=package")),
        odd: case("xeon-8375c-2s", 8, Check::Rule("spread=package")),
        says: "8 on 0, 0 on 1",
    },
    // A mask of 1024 CPUs is too short: github.com/eclipse-omr/omr/issues/311
    Fault {
        name: "fixed",
        usual: case("epyc-9654-2s", 4, Check::Rule("one-per-cpu")),
        odd: case("large.json", 4, Check::Rule("one-per-cpu")),
        says: ON_ONE_CPU,
    },
    // A mask of one word ends at CPU 63: github.com/SimonKagstrom/kcov/issues/240
    Fault {
        name: "one-word",
        usual: case("epyc-9654-2s --cpus 8-11", 4, Check::Seats(&[8, 9, 10, 11])),
        odd: case("epyc-9654-2s --cpus 62-65", 4, Check::Seats(&[62, 63, 64, 65])),
        says: "may run on CPUs 62-65, but the seat of task 2 is CPU 64",
    },
    // A present CPU may be offline: github.com/firedancer-io/firedancer/issues/4428
    Fault {
        name: "present",
        usual: case("graviton3", 4, Check::Seats(&[0, 1, 2, 3])),
        odd: case("graviton3 --offline 2", 4, Check::Seats(&[0, 1, 3, 4])),
        says: "may run on CPUs 0,1,3-63, but the seat of task 2 is CPU 3",
    },
    // NUMA node numbers have gaps: github.com/kubernetes/kubernetes/pull/113788
    Fault {
        name: "dense-nodes",
        usual: case("xeon-8375c-2s", 2, Check::Seats(&[0, 32])),
        odd: case("gaps.json", 2, Check::Seats(&[0, 8])),
        says: "may run on CPUs 0-15, but the seat of task 1 is CPU 8",
    },
    // A shift by the word length loses the bit: github.com/landley/toybox/issues/577
    Fault {
        name: "shifted",
        usual: case("xeon-e5-2680-2s", 4, Check::Rule("one-per-cpu")),
        odd: case("graviton3", 4, Check::Rule("one-per-cpu")),
        says: ON_ONE_CPU,
    },
];

fn judged(place: &Place, program: &str, fault: &str, case: &Case) -> (Option<i32>, String) {
    let check = match case.check {
        Check::Rule(rule) => rule,
        Check::Seats(seats) => {
            let machine = case.machine.split(' ').next().unwrap().trim_end_matches(".json");
            let plan =
                json!({ "format": "seatmap-plan/1", "machine": machine, "placement": seats });
            place.file("plan.json", plan.to_string())
        }
    };
    let line = format!("-q --check {check} -- {program} {fault} {}", case.workers);
    let output = pretend(place, (case.machine, line)).expect("others could pretend");
    (output.status.code(), text(&output.stderr))
}

#[test]
fn known_pinning_faults_are_found() {
    let place = Place::new();
    let Some(program) = programs::pinning() else { return };
    if pretend(&place, "graviton3 -q true").is_none() {
        return;
    }
    let origin = json!({ "kind": "imported", "source": "x", "date": "2026-01-01", "tool": "x" });
    for (file, count, second_node) in [("large.json", 1280, 1), ("gaps.json", 16, 8)] {
        let pus: Vec<_> = (0..count)
            .map(|cpu| {
                let node = if cpu < count / 2 { 0 } else { second_node };
                json!({ "os": cpu, "core": cpu, "numa": node })
            })
            .collect();
        let name = file.trim_end_matches(".json");
        let topology = json!({ "pus": pus });
        let profile = json!({
            "format": "seatmap-profile/1", "name": name, "origin": origin, "topology": topology,
        });
        place.file(file, profile.to_string());
    }
    for fault in &FAULTS {
        let (code, said) = judged(&place, program, fault.name, &fault.usual);
        assert_eq!(code, Some(0), "{}: {said}", fault.name);
        let (code, said) = judged(&place, program, fault.name, &fault.odd);
        assert!(code == Some(1) && said.contains(fault.says), "{}: {said}", fault.name);
    }
}
