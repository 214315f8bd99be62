//! hyperfine: the file of `--export-json`, with times in seconds.

use super::{Adapter, AdapterError, AdapterReading, json};
use serde::Deserialize;

#[derive(Deserialize)]
struct Report {
    results: Vec<BenchmarkResult>,
}

#[derive(Deserialize)]
struct BenchmarkResult {
    command: String,
    median: f64,
}

pub fn parse(text: &str) -> Result<Vec<AdapterReading>, AdapterError> {
    let report: Report = json(Adapter::Hyperfine, text)?;
    let readings = report
        .results
        .into_iter()
        .map(|result| AdapterReading { name: result.command, value_s: result.median });
    Ok(readings.collect())
}
