//! Criterion.rs: its folder of estimates, or its console.
//!
//! Each benchmark has a folder `GROUP/FUNCTION/PARAMETER/new` with `benchmark.json`,
//! `estimates.json` and `sample.json` (criterion's user guide, "CSV output", and the source of
//! `criterion/src/analysis/mod.rs`). The files omit the unit, so the console must show a time.

use super::{Adapter, AdapterReadings, json, missing, read_text, seconds, unreadable};
use crate::tune::TrialError;
use seatmap_data::document::decimal_number;
use seatmap_data::statistics::median;
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The deepest folder: three parts of a name, and `new`.
const DEEPEST: usize = 5;

const TIME: &str = "time:   [";

#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// From the files, or else the console.
pub fn read(folder: &Path, printed: &str) -> Result<AdapterReadings, TrialError> {
    let of_console = console(printed)?;
    let mut found = Vec::new();
    walk(folder, DEEPEST, &mut found)?;
    match found.first() {
        None => Ok(of_console),
        Some((name, _)) if of_console.is_empty() => Err(missing(name, "time on the console")),
        Some(_) => Ok(found),
    }
}

fn walk(folder: &Path, depth: usize, found: &mut AdapterReadings) -> Result<(), TrialError> {
    let unreadable = unreadable(Adapter::Criterion);
    for entry in fs::read_dir(folder).map_err(&unreadable)? {
        let entry = entry.map_err(&unreadable)?;
        // Links could form a cycle.
        if !entry.file_type().map_err(&unreadable)?.is_dir() {
            continue;
        }
        if entry.file_name() == "new" {
            found.extend(of_folder(&entry.path())?);
        } else if depth > 0 {
            walk(&entry.path(), depth - 1, found)?;
        }
    }
    Ok(())
}

fn of_folder(folder: &Path) -> Result<Option<(String, f64)>, TrialError> {
    let adapter = Adapter::Criterion;
    let Some(benchmark) = read_text(adapter, &folder.join("benchmark.json"))? else {
        return Ok(None);
    };
    let Benchmark { full_id: name } = json(adapter, &benchmark)?;
    let ns = if let Some(text) = read_text(adapter, &folder.join("estimates.json"))? {
        json::<Estimates>(adapter, &text)?.median.point_estimate
    } else if let Some(text) = read_text(adapter, &folder.join("sample.json"))? {
        sample(&name, &text)?
    } else {
        return Err(missing(&name, "estimates.json"));
    };
    Ok(Some((name, 1e-9 * ns)))
}

fn sample(name: &str, text: &str) -> Result<f64, TrialError> {
    let Sample { iters, times } = json(Adapter::Criterion, text)?;
    let each: Vec<f64> = times.iter().zip(&iters).map(|(time, count)| time / count).collect();
    median(&each)
        .filter(|_| iters.len() == times.len())
        .ok_or_else(|| missing(name, "matching iterations and times in its sample"))
}

/// The middle of three figures; a long name is on the line before.
fn console(printed: &str) -> Result<AdapterReadings, TrialError> {
    let mut found = Vec::new();
    let mut above = "";
    for line in printed.lines() {
        if let Some((name, figures)) = line.split_once(TIME) {
            let name = name.trim();
            found.push(of_line(if name.is_empty() { above } else { name }, figures)?);
        } else if !line.trim().is_empty() && !line.starts_with("Benchmarking ") {
            above = line.trim();
        }
    }
    Ok(found)
}

/// `26.029 µs 26.251 µs 26.505 µs]`: an interval with its middle.
fn of_line(name: &str, figures: &str) -> Result<(String, f64), TrialError> {
    let figures = figures.split_once(']').map_or(figures, |(within, _)| within);
    let words: Vec<&str> = figures.split_whitespace().collect();
    let [_, _, middle, unit, _, _] = words[..] else { return Err(missing(name, "three times")) };
    let value = decimal_number(middle).ok_or_else(|| missing(name, "time"))?;
    Ok((name.to_owned(), seconds(name, value, unit)?))
}
