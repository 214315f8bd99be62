//! Sessions of commands that print fixed figures, and of simulated benchmark programs.

use super::*;
use crate::gate::file::BenchmarksFile;
use crate::tune::LimitOutcome;
use crate::tune::bench::OwnCells;
use seatmap_cell::GuardianCommand;
use seatmap_os::CpuSet;

fn session(benchmarks: &str) -> (GateReport, Result<(), SessionEnd>) {
    let text = format!("format = \"seatmap-benchmarks/1\"\nruns = 8\n{benchmarks}");
    let file = BenchmarksFile::from_toml(&text).unwrap();
    let request = GateRequest {
        benchmarks: file.planned(&BenchmarksFile::default(), 0.95).unwrap(),
        confidence: 0.95,
        seed: 1,
        room: RoomRequest {
            cpus: Some(CpuSet::of_thread(0).unwrap()),
            words: None,
            seats: None,
            is_quiet: false,
            cells: OwnCells { guardian: GuardianCommand(Vec::new()), in_cell: |_| Vec::new() },
        },
        label: None,
        machine: "box".to_owned(),
        now: || "2026-11-26T22:00:00Z".to_owned(),
    };
    run(&request, &|| false, &mut |_| {}).unwrap()
}

const PRINTED: &str = "metric = \"regex:took ([0-9]+)\"\nbetter = \"lower\"\n\
                       fail_above_percent = 3\n";

#[test]
fn session_judges_each_benchmark_by_its_limit() {
    let _turn = crate::alone();
    let (report, end) = session(&format!(
        "[[benchmark]]\nname = \"same\"\nhead = \"echo took 100\"\nbase = \"echo  took 100 x\"\n\
         {PRINTED}[[benchmark]]\nname = \"slow\"\nhead = \"echo took 110\"\n\
         base = \"echo took 100\"\n{PRINTED}"
    ));
    assert!(end.is_ok() && report.header.complete);
    let outcomes: Vec<_> = report.benchmarks.iter().map(|result| result.outcome.unwrap()).collect();
    assert_eq!(outcomes, [LimitOutcome::Within, LimitOutcome::Above]);
    assert!((report.benchmarks[1].comparison.as_ref().unwrap().ratio - 1.1).abs() < 1e-12);
    assert_eq!(report.benchmarks[1].commands[0].median, Some(110.0));
}

#[test]
fn a_setup_runs_once_before_its_benchmark() {
    let _turn = crate::alone();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    let (report, end) = session(&format!(
        "[[benchmark]]\nname = \"a\"\nhead = \"cat {at}/n\"\nbase = \"cat  {at}/n /dev/null\"\n\
         setup = \"echo took 7 >> {at}/n\"\n{PRINTED}"
    ));
    assert!(end.is_ok(), "{end:?}");
    assert_eq!(report.benchmarks[0].commands[0].median, Some(7.0));
    assert_eq!(std::fs::read_to_string(folder.path().join("n")).unwrap(), "took 7\n");
    let (_, end) = session(
        "[[benchmark]]\nname = \"a\"\nhead = \"true\"\nbase = \"true x\"\nsetup = \"exit 3\"\n",
    );
    assert_eq!(end.unwrap_err().to_string(), "the setup of benchmark 'a' failed");
}

#[test]
fn failed_run_names_benchmark_and_side() {
    let _turn = crate::alone();
    let (report, end) =
        session("[[benchmark]]\nname = \"a\"\nhead = \"true\"\nbase = \"false\"\nwarmup = 0\n");
    assert_eq!(end.unwrap_err().to_string(), "benchmark 'a', base");
    assert!(!report.header.complete);
}

#[test]
fn each_benchmark_of_adapter_report_is_compared() {
    let _turn = crate::alone();
    let side = |nanoseconds: u32, more: &str| {
        format!("sh -c 'echo BenchmarkA 9 50 ns/op; echo BenchmarkB 9 {nanoseconds} ns/op{more}'")
    };
    let (report, end) = session(&format!(
        "[[benchmark]]\nname = \"go\"\nadapter = \"go\"\nfail_above_percent = 3\n\
         head = \"{}\"\nbase = \"{}\"\n",
        side(120, "; echo BenchmarkNew 9 1 ns/op"),
        side(100, "")
    ));
    assert!(end.is_ok(), "{end:?}");
    let names: Vec<&str> = report.benchmarks.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["go: BenchmarkA", "go: BenchmarkB"]);
    assert_eq!(report.benchmarks[1].outcome, Some(LimitOutcome::Above));
    assert_eq!(report.unpaired[0].name, "go: BenchmarkNew");
}
