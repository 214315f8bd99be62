//! pytest-benchmark: the file of `--benchmark-json`, with times in seconds.

use super::{Adapter, AdapterError, AdapterReading, json};
use serde::Deserialize;

#[derive(Deserialize)]
struct Report {
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    fullname: String,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    median: f64,
}

pub fn parse(text: &str) -> Result<Vec<AdapterReading>, AdapterError> {
    let report: Report = json(Adapter::PytestBenchmark, text)?;
    let readings = report.benchmarks.into_iter().map(|benchmark| AdapterReading {
        name: benchmark.fullname,
        value_s: benchmark.stats.median,
    });
    Ok(readings.collect())
}
