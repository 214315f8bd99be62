//! JSON reports with a median in seconds for each benchmark: the file of pytest-benchmark's
//! `--benchmark-json`, and that of hyperfine's `--export-json`.

use super::{Adapter, AdapterReadings, json};
use crate::tune::TrialError;
use serde::Deserialize;

#[derive(Deserialize)]
struct PytestReport {
    benchmarks: Vec<PytestBenchmark>,
}

#[derive(Deserialize)]
struct PytestBenchmark {
    fullname: String,
    stats: Median,
}

#[derive(Deserialize)]
struct Median {
    median: f64,
}

#[derive(Deserialize)]
struct HyperfineReport {
    results: Vec<HyperfineResult>,
}

#[derive(Deserialize)]
struct HyperfineResult {
    command: String,
    median: f64,
}

pub fn pytest(text: &str) -> Result<AdapterReadings, TrialError> {
    let report: PytestReport = json(Adapter::PytestBenchmark, text)?;
    Ok(report.benchmarks.into_iter().map(|one| (one.fullname, one.stats.median)).collect())
}

pub fn hyperfine(text: &str) -> Result<AdapterReadings, TrialError> {
    let report: HyperfineReport = json(Adapter::Hyperfine, text)?;
    Ok(report.results.into_iter().map(|result| (result.command, result.median)).collect())
}
