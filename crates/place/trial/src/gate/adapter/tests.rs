//! Valid and damaged reports.

use super::*;
use crate::tune::trial::texts;
use proptest::prelude::*;
use std::fs;

const ALL: [Adapter; 5] = [
    Adapter::Criterion,
    Adapter::PytestBenchmark,
    Adapter::GoogleBenchmark,
    Adapter::Hyperfine,
    Adapter::Go,
];

fn read(adapter: Adapter, report: &str, printed: &str) -> Result<AdapterReadings, TrialError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), report).unwrap();
    adapter.read(folder.path(), printed)
}

fn refused(adapter: Adapter, report: &str, printed: &str) -> String {
    read(adapter, report, printed).unwrap_err().to_string()
}

const PYTEST: &str = r#"{"machine_info": {}, "benchmarks": [{"group": null, "name": "test_a",
    "fullname": "t.py::test_a", "stats": {"min": 1e-6, "median": 2.5e-6, "rounds": 9}}]}"#;

const HYPERFINE: &str = r#"{"results": [{"command": "sleep 0.1", "mean": 0.1, "stddev": null,
    "median": 0.1021, "times": [0.1021], "exit_codes": [0]}]}"#;

const GOOGLE: &str = r#"{"context": {}, "benchmarks": [
    {"name": "BM_a", "run_name": "BM_a", "run_type": "iteration", "real_time": 3.0, "cpu_time": 2.0,
     "time_unit": "us"},
    {"name": "BM_a", "run_name": "BM_a", "run_type": "iteration", "real_time": 5.0, "cpu_time": 2.0,
     "time_unit": "us"},
    {"name": "BM_a_median", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "median",
     "real_time": 9.0, "time_unit": "us"},
    {"name": "BM_b_median", "run_name": "BM_b", "run_type": "aggregate", "aggregate_name": "median",
     "real_time": 9.0, "time_unit": "ms"},
    {"name": "BM_b_BigO", "run_name": "BM_b", "run_type": "aggregate",
     "aggregate_name": "BigO"}]}"#;

const GO: &str = "goos: linux\npkg: example.com/x\ncpu: y\nBenchmarkParse-8   \t  100\t  \
    250.5 ns/op\t 12.3 MB/s\t 16 B/op\t 1 allocs/op\nBenchmarkParse-8 100 300 ns/op\nPASS\n";

const CRITERION: &str = "Benchmarking fib 20\nBenchmarking fib 20: Warming up for 3.0000 s\n\
    fib 20                  time:   [26.029 \u{b5}s 26.251 \u{b5}s 26.505 \u{b5}s]\n                        \
    change: [-0.1% +0.2% +0.3%] (p = 0.5 > 0.05)\na group/with a long name/1000\n                        \
    time:   [1.0000 ms 1.1000 ms 1.2000 ms]\nFound 3 outliers among 100 measurements (3.00%)\n";

#[test]
fn adapter_reports_are_converted_to_seconds() {
    for (adapter, report, printed, expected) in [
        (Adapter::PytestBenchmark, PYTEST, "", &[("t.py::test_a", 2.5e-6)][..]),
        (Adapter::Hyperfine, HYPERFINE, "", &[("sleep 0.1", 0.1021)]),
        (Adapter::GoogleBenchmark, GOOGLE, "", &[("BM_a", 4e-6), ("BM_b", 9e-3)]),
        (Adapter::Go, "", GO, &[("example.com/x.BenchmarkParse-8", 275.25e-9)]),
        (
            Adapter::Criterion,
            "",
            CRITERION,
            &[("a group/with a long name/1000", 1.1e-3), ("fib 20", 26.251e-6)],
        ),
    ] {
        let found = read(adapter, report, printed).unwrap();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((name, value_s), (expected, expected_s)) in found.iter().zip(expected) {
            assert_eq!(name, expected);
            assert!((value_s / expected_s - 1.0).abs() < 1e-9, "{found:?}");
        }
    }
}

#[test]
fn criterion_files_take_precedence_over_console() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("group/fib/20/new");
    fs::create_dir_all(&new).unwrap();
    fs::create_dir_all(folder.path().join("report")).unwrap();
    fs::write(new.join("benchmark.json"), r#"{"full_id": "group/fib/20"}"#).unwrap();
    fs::write(new.join("sample.json"), r#"{"iters": [1.0, 2.0], "times": [10.0, 22.0]}"#).unwrap();
    let sampled = Adapter::Criterion.read(folder.path(), CRITERION).unwrap();
    assert!((sampled[0].1 - 10.5e-9).abs() < 1e-15, "{sampled:?}");
    let estimates = r#"{"mean": {"point_estimate": 9.0}, "median": {"point_estimate": 8.0}}"#;
    fs::write(new.join("estimates.json"), estimates).unwrap();
    let estimated = Adapter::Criterion.read(folder.path(), CRITERION).unwrap();
    assert_eq!(estimated, [("group/fib/20".to_owned(), 8e-9)]);
    let silent = Adapter::Criterion.read(folder.path(), "").unwrap_err().to_string();
    assert!(silent.contains("no time on the console"), "{silent}");
}

#[test]
fn ambiguous_reports_are_rejected() {
    let cycles = CRITERION.replace("ms", "Kcycles");
    assert!(refused(Adapter::Criterion, "", &cycles).contains("unit 'Kcycles'"));
    let odd = GOOGLE.replace("\"us\"", "\"fortnights\"");
    assert!(refused(Adapter::GoogleBenchmark, &odd, "").contains("fortnights"));
    let unitless = GOOGLE.replace("\"time_unit\"", "\"unit\"");
    assert!(refused(Adapter::GoogleBenchmark, &unitless, "").contains("no time_unit"));
    let failed =
        r#"{"benchmarks": [{"name": "BM_a", "error_occurred": true, "error_message": "no"}]}"#;
    assert_eq!(refused(Adapter::GoogleBenchmark, failed, ""), "benchmark 'BM_a' failed: no");
    assert!(refused(Adapter::Go, "", "BenchmarkA-2 100 12 MB/s\n").contains("no ns/op"));
    assert!(refused(Adapter::Go, "", "PASS\n").contains("reported no benchmark"));
    assert!(refused(Adapter::Hyperfine, "", "").contains("wrote no report"));
    let zero = HYPERFINE.replace("0.1021", "0.0");
    assert!(refused(Adapter::Hyperfine, &zero, "").contains("above 0"));
    assert!(refused(Adapter::PytestBenchmark, "{", "").contains("is invalid"));
}

#[test]
fn commands_get_report_options_of_their_adapter() {
    let asked = |adapter: Adapter, text: &str| {
        let command = text.split(' ').map(Into::into).collect();
        let command = Contestant { command, ..Contestant::default() };
        let Contestant { launcher, command, .. } = adapter.reporting(&command, Path::new("/f"));
        texts(&[launcher, command].concat()).join(" ")
    };
    assert_eq!(asked(Adapter::Criterion, "b --bench"), "env CRITERION_HOME=/f b --bench");
    assert_eq!(asked(Adapter::PytestBenchmark, "pytest"), "pytest --benchmark-json=/f/report.json");
    assert_eq!(
        asked(Adapter::GoogleBenchmark, "bm"),
        "bm --benchmark_out=/f/report.json --benchmark_out_format=json"
    );
    assert_eq!(
        asked(Adapter::Hyperfine, "hyperfine x"),
        "hyperfine x --export-json /f/report.json"
    );
    assert_eq!(asked(Adapter::Hyperfine, "sh -c a>{output}"), "sh -c a>/f/report.json");
    assert_eq!(asked(Adapter::Go, "go test"), "go test");
}

fn damaged(text: &str, places: &[(usize, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, byte) in places {
        let at = at % bytes.len();
        bytes[at] = *byte;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_reports_yield_only_positive_unique_readings(
        report in ".{0,200}",
        printed in "(Benchmark|time:   \\[|pkg:|[0-9.]+|ns/op|ns|\\]|[ \\n\\t]|.){0,60}",
        places in prop::collection::vec((any::<usize>(), any::<u8>()), 0..6),
    ) {
        let reports = [PYTEST, HYPERFINE, GOOGLE, GO, CRITERION].map(|text| damaged(text, &places));
        for adapter in ALL {
            for text in reports.iter().chain([&report, &printed]) {
                let Ok(readings) = read(adapter, text, text) else { continue };
                prop_assert!(!readings.is_empty());
                prop_assert!(readings.iter().all(|(_, value_s)| *value_s > 0.0));
                prop_assert!(readings.windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
        }
    }
}
