//! `seatmap bench --file`, `--base`, `--markdown`, `--strict` and `bench history`, on commands that
//! print fixed figures and on installed benchmark programs.

use crate::common::{Json, Place, assert_contains, stderr, stdout};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

const HEAD: &str = "format = \"seatmap-benchmarks/1\"\nruns = 8\n";

fn printed(name: &str, base: u32, head: u32) -> String {
    format!(
        "[[benchmark]]\nname = \"{name}\"\nbase = \"echo took {base}\"\n\
         head = \"echo took {head} now\"\nmetric = \"regex:took ([0-9]+)\"\nbetter = \"lower\"\n"
    )
}

pub fn script(place: &Place, name: &str, line: &str) {
    place.file(name, format!("#!/bin/sh\n{line}\n"));
    std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn slower_benchmark_fails_and_equal_one_passes() {
    let place = Place::new();
    place.file("bench.toml", format!("{HEAD}{}{}", printed("a", 100, 100), printed("b", 100, 110)));
    let files = "--markdown s.md --html p.html -o r.json";
    let options =
        format!("bench --file bench.toml --fail-above 3% {files} --history h.jsonl --label abc");
    // A session shows nothing if others used the CPUs.
    let mut output = place.run(&options);
    for _ in 0..5 {
        if code(&output) != Some(0) {
            break;
        }
        std::fs::remove_file(place.path("h.jsonl")).unwrap();
        output = place.run(&options);
    }
    let error = stderr(&output);
    assert_eq!(code(&output), Some(1), "{error}");
    assert_contains(&error, "'b' is at least 10.0 % worse (limit: 3 %)");
    let report = place.read_json("r.json");
    assert_eq!((&report["format"], &report["label"]), (&"seatmap-gate/1".into(), &"abc".into()));
    let outcomes = [0, 1].map(|at| report["benchmarks"][at]["outcome"].text());
    assert_eq!(outcomes, ["within", "above"]);
    let summary = place.read("s.md");
    assert!(summary.starts_with("**Failed: 'b' is at least"), "{summary}");
    assert_contains(&summary, "```text\ndifference, %, from -10.0 to +10.0\n");
    assert_contains(&summary, "| benchmark | base | head |");
    assert!(place.read("p.html").contains("worse by more than 3 %"));
    assert_eq!(place.read("h.jsonl").lines().count(), 1);
    let passed = place.run(options.replace(files, "").replace("3%", "20% --strict"));
    assert_eq!(code(&passed), Some(0), "{}", stderr(&passed));
    assert!(stdout(&passed).starts_with("Passed: 2 benchmarks"));
    assert_eq!(place.read("h.jsonl").lines().count(), 2);
}

#[test]
fn base_and_head_options_need_no_file() {
    let place = Place::new();
    for (name, took) in [("base", 100), ("head", 90)] {
        script(&place, name, &format!("echo took {took} $1"));
    }
    let line = [
        "bench",
        "--base",
        "./base",
        "--head",
        "./head",
        "--runs",
        "8",
        "--fail-above",
        "3%",
        "--metric",
        "regex:took ([0-9]+)",
        "--lower-is-better",
        "--json",
        "--",
        "{binary}",
        "x",
    ];
    let report = place.json(line);
    let found = &report["benchmarks"][0];
    assert_eq!((&found["name"], &found["outcome"]), (&"{binary} x".into(), &"within".into()));
    assert_eq!(found["comparison"]["verdict"], "better");
}

#[test]
fn inconclusive_session_fails_only_if_strict() {
    let place = Place::new();
    // An interval of 99.9 % needs 11 blocks, and repetitions at most double them.
    let options = [
        "bench",
        "--runs",
        "5",
        "--confidence",
        "0.999",
        "--metric",
        "regex:([0-9]+)",
        "--lower-is-better",
        "--fail-above",
        "3%",
        "--markdown",
        "s.md",
        "--compare",
        "echo 100",
    ];
    let lenient = place.run((options, "-- echo 110"));
    assert_eq!(code(&lenient), Some(0));
    let said = stderr(&lenient);
    assert_contains(&said, "cannot tell whether 'echo 110' is more than 3 % worse than 'echo 100'");
    let strict = place.run((options, "--strict -- echo 110"));
    assert_eq!(code(&strict), Some(1));
    assert!(place.read("s.md").starts_with("**Too few blocks"), "{}", place.read("s.md"));
}

#[test]
fn history_shows_where_benchmark_changed() {
    let place = Place::new();
    place.file("bench.toml", format!("{HEAD}{}", printed("a", 1, 1)));
    place.stdout("bench --file bench.toml --history h.jsonl --label first");
    let line = place.read("h.jsonl");
    let session = |number: u32| {
        let level = if number < 15 { 100 } else { 108 };
        let median = format!("\"median\":{}.0", level + number % 3);
        line.replace("\"median\":1.0", &median).replace("first", &format!("commit-{number}"))
    };
    place.file("long.jsonl", (0..21).map(session).collect::<String>());
    let text = place.stdout("bench history long.jsonl --html p.html");
    assert!(text.contains("'a' became worse") && text.contains("(commit-15)"), "{text}");
    assert!(place.read("p.html").contains("commit-15"));
    let trend = place.json("bench history long.jsonl --json");
    assert_eq!(trend["trends"][0]["changes"][0]["at"], 15);
}

/// Runs a gate with real benchmark programs; head does twice the work of base.
fn of_adapter(place: &Place, adapter: &str, base: &str, head: &str) {
    let text = format!(
        "{HEAD}fail_above_percent = 20\n[[benchmark]]\nname = \"x\"\nadapter = \"{adapter}\"\n\
         warmup = 0\nbase = '''{base}'''\nhead = '''{head}'''\n"
    );
    place.file("bench.toml", text);
    let output = place.run("bench --file bench.toml --json");
    let error = stderr(&output);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &report["benchmarks"][0];
    assert_eq!(
        (found["unit"].as_str(), report["complete"].as_bool()),
        (Some("s"), Some(true)),
        "{error}"
    );
    // The slowdown depends on the computer.
    assert!(found["commands"][1]["median"].number() > 0.0, "{report}");
    assert!(found["comparison"]["ratio_low"].is_f64(), "{report}");
}

#[test]
fn hyperfine_reports_are_compared() {
    if !seatmap_needs::tool("hyperfine") {
        return;
    }
    let side = |count: u32| format!("hyperfine -N --warmup 0 --runs 2 -n seq 'seq {count}'");
    of_adapter(&Place::new(), "hyperfine", &side(1000), &side(2000));
}

#[test]
fn pytest_benchmark_reports_are_compared() {
    if !seatmap_needs::program("python3", &["-c", "import pytest_benchmark"]) {
        return;
    }
    let place = Place::new();
    for (folder, count) in [("base", 1000), ("head", 2000)] {
        std::fs::create_dir(place.path(folder)).unwrap();
        let test = format!("def test_sum(benchmark):\n    benchmark(sum, range({count}))\n");
        std::fs::write(place.path(&format!("{folder}/test_x.py")), test).unwrap();
    }
    let options = "-q -p no:cacheprovider --benchmark-max-time=0.01 --benchmark-min-rounds=2";
    let side =
        |folder: &str| format!("python3 -m pytest --rootdir={folder} {options} {folder}/test_x.py");
    of_adapter(&place, "pytest-benchmark", &side("base"), &side("head"));
}

#[test]
fn google_benchmark_reports_are_compared() {
    let place = Place::new();
    let source = |count: u32| {
        format!(
            "#include <benchmark/benchmark.h>\nstatic void BM_x(benchmark::State &state) {{\n\
             for (auto _ : state) for (int i = 0; i < {count}; i++)\n\
             benchmark::DoNotOptimize(i); }}\n\
             BENCHMARK(BM_x);\nBENCHMARK_MAIN();\n"
        )
    };
    for (name, count) in [("base", 1000), ("head", 2000)] {
        place.file("x.cc", source(count));
        let mut compiler = Command::new("g++");
        compiler.args(["-O1", "x.cc", "-o", name, "-lbenchmark", "-lpthread"]);
        let built = compiler.current_dir(place.folder()).output();
        if !built.is_ok_and(|built| built.status.success()) {
            return seatmap_needs::skipped!("g++ with Google Benchmark is absent");
        }
    }
    let side = |name: &str| format!("./{name} --benchmark_min_time=0.01");
    of_adapter(&place, "google-benchmark", &side("base"), &side("head"));
}

#[test]
fn go_benchmark_lines_are_compared() {
    if !seatmap_needs::tool("go") {
        return;
    }
    let place = Place::new();
    for (folder, count) in [("base", 1000), ("head", 2000)] {
        std::fs::create_dir(place.path(folder)).unwrap();
        let test = format!(
            "package x\nimport \"testing\"\nvar sum int\nfunc BenchmarkSum(b *testing.B) {{\n\
             for n := 0; n < b.N; n++ {{ for i := 0; i < {count}; i++ {{ sum += i }} }} }}\n"
        );
        std::fs::write(place.path(&format!("{folder}/x_test.go")), test).unwrap();
        std::fs::write(place.path(&format!("{folder}/go.mod")), "module example.com/x\n").unwrap();
        let built = Command::new("go")
            .args(["test", "-c", "-o", "x.test"])
            .current_dir(place.path(folder))
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", stderr(&built));
    }
    let side =
        |folder: &str| format!("{folder}/x.test -test.run=^$ -test.bench=. -test.benchtime=100x");
    of_adapter(&place, "go", &side("base"), &side("head"));
}
