//! Google Benchmark: the JSON of `--benchmark_out`, whose entries have their own units
//! (`docs/user_guide.md` of that project, "Output Formats").

use super::{Adapter, AdapterReadings, invalid, json, missing, seconds};
use crate::tune::TrialError;
use seatmap_data::document::visible;
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct Report {
    benchmarks: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    aggregate_name: Option<String>,
    real_time: Option<f64>,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
}

impl Entry {
    fn is_aggregate(&self) -> bool {
        self.run_type.as_deref() == Some("aggregate")
    }

    fn benchmark(&self) -> &str {
        self.run_name.as_deref().unwrap_or(&self.name)
    }
}

/// Reads every repetition, or the program's own median if the report omits them.
pub fn parse(text: &str) -> Result<AdapterReadings, TrialError> {
    let report: Report = json(Adapter::GoogleBenchmark, text)?;
    let entries = &report.benchmarks;
    if let Some(failed) = entries.iter().find(|entry| entry.error_occurred) {
        return invalid(format!(
            "benchmark '{}' failed: {}",
            visible(failed.benchmark()),
            visible(failed.error_message.as_deref().unwrap_or("no message"))
        ));
    }
    let repetitions = entries.iter().filter(|entry| !entry.is_aggregate());
    let repeated: BTreeSet<&str> = repetitions.map(Entry::benchmark).collect();
    // With `--benchmark_report_aggregates_only`, only the median is a reading.
    let counting = entries.iter().filter(|entry| {
        let is_median = entry.aggregate_name.as_deref() == Some("median");
        !entry.is_aggregate() || is_median && !repeated.contains(entry.benchmark())
    });
    counting.map(reading).collect()
}

fn reading(entry: &Entry) -> Result<(String, f64), TrialError> {
    let name = entry.benchmark();
    let value = entry.real_time.ok_or_else(|| missing(name, "real_time"))?;
    let unit = entry.time_unit.as_deref().ok_or_else(|| missing(name, "time_unit"))?;
    Ok((name.to_owned(), seconds(name, value, unit)?))
}
