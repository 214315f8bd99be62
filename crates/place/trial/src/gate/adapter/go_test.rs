//! Go: the lines of `go test -bench`, in the format of the Go project's proposal 14313.
//!
//! A line is a name, a count of iterations, and pairs of figure and unit. `ns/op` is the time of an
//! iteration; others are memory, rates and the program's own.

use super::{AdapterReadings, missing, seconds};
use crate::tune::TrialError;
use seatmap_data::document::{decimal_number, whole_number};

pub fn parse(printed: &str) -> Result<AdapterReadings, TrialError> {
    let mut found = Vec::new();
    let mut package = "";
    for line in printed.lines() {
        if let Some(name) = line.strip_prefix("pkg:") {
            package = name.trim();
        } else {
            found.extend(of_line(package, line)?);
        }
    }
    Ok(found)
}

fn of_line(package: &str, line: &str) -> Result<Option<(String, f64)>, TrialError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, iterations, ref figures @ ..] = words[..] else { return Ok(None) };
    let is_result = name.starts_with("Benchmark") && whole_number::<u64>(iterations).is_some();
    if !is_result {
        return Ok(None);
    }
    let full = if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") };
    let pair = figures.chunks(2).find(|pair| pair.get(1) == Some(&"ns/op"));
    let value = pair.and_then(|pair| decimal_number(pair[0]));
    let value = value.ok_or_else(|| missing(&full, "ns/op"))?;
    let value_s = seconds(&full, value, "ns")?;
    Ok(Some((full, value_s)))
}
