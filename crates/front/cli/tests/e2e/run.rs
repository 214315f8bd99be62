//! `seatmap run` with unmodified programs in C, Go, Java and Rust that print their own CPUs.

mod daemons;
mod fit;
mod memory;
mod passing;
pub mod programs;
mod ranks;
mod refusals;
pub mod running;
mod seats;
mod sizes;
mod stopping;

use crate::common::{Arguments, Json, Place};
use serde_json::Value;
use std::process::Output;

struct Told {
    output: Output,
    report: Value,
}

impl Told {
    fn lines(&self) -> Vec<&str> {
        std::str::from_utf8(&self.output.stdout).unwrap().lines().collect()
    }

    fn stderr(&self) -> &str {
        std::str::from_utf8(&self.output.stderr).unwrap()
    }

    fn threads(&self) -> &[Value] {
        self.report["threads"].elements()
    }

    fn seats(&self) -> Vec<Option<u32>> {
        self.threads().iter().map(seat).collect()
    }

    /// Asserts that every seated thread kept its seat, without an error.
    fn assert_verified(&self) {
        for thread in self.threads() {
            let cpus = thread["cpus"].elements();
            let is_seated = !cpus.is_empty() && thread["waiting"] == false;
            assert_eq!(thread["verified"].as_bool(), Some(is_seated), "{thread}");
            let strayed = thread["seen_on"].elements().iter().any(|cpu| !cpus.contains(cpu));
            assert!(!strayed && thread["trouble"].is_null(), "{thread}");
        }
        assert!(!self.stderr().contains("seatmap: thread "), "{}", self.stderr());
    }
}

#[expect(clippy::panic, reason = "helpers of tests fail as tests do")]
fn seat(thread: &Value) -> Option<u32> {
    match &thread["cpus"].elements()[..] {
        [] => None,
        [cpu] => Some(cpu.whole() as u32),
        several => panic!("a seat of {} CPUs", several.len()),
    }
}

/// Runs a program with `--strict`: each thread and process is seated when it is created.
fn run(place: &Place, options: impl Arguments, program: impl Arguments) -> Told {
    run_with(place, options, program, &[])
}

fn run_with(
    place: &Place,
    options: impl Arguments,
    program: impl Arguments,
    variables: &[(&str, &str)],
) -> Told {
    run_as_usual(place, ("--strict", options), program, variables)
}

/// Runs a program without `--strict`: its processes start on the whole set.
fn run_as_usual(
    place: &Place,
    options: impl Arguments,
    program: impl Arguments,
    variables: &[(&str, &str)],
) -> Told {
    let arguments = (("run --report seating.json", options), "--", program);
    let output = place.command(arguments).envs(variables.iter().copied()).output().unwrap();
    let report = std::fs::read_to_string(place.path("seating.json")).unwrap_or_default();
    let report = serde_json::from_str(&report).unwrap_or_else(|_| output_as_report(&output));
    Told { output, report }
}

#[expect(clippy::panic, reason = "helpers of tests fail as tests do")]
fn output_as_report(output: &Output) -> Value {
    panic!("no report was written: {output:?}")
}
