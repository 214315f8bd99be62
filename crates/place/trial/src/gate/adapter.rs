//! Reads the reports of benchmark libraries: times in seconds by name.
//!
//! If possible, the adapter requests a report file. Unknown units, readings not above 0, and
//! reports without benchmarks are errors.

mod criterion;
mod go_test;
mod google_benchmark;
mod json_times;

use crate::tune::program_race::placeholders::{holds, replaced};
use crate::tune::{Contestant, TrialError};
use seatmap_data::document::{json_problem, visible};
use seatmap_data::statistics::median;
use seatmap_os::named_file;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;

/// In bytes; reports with every sample have some megabytes.
const MOST_BYTES: u64 = 64 << 20;

/// The most benchmarks in one report.
pub const MOST_BENCHMARKS: usize = 10_000;

/// Stands for the report file in a command.
pub const OUTPUT: &str = "{output}";

const FILE: &str = "report.json";

/// A kind of benchmark program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Adapter {
    /// Criterion.rs: a benchmark's binary, or `cargo bench`.
    Criterion,
    /// pytest with pytest-benchmark.
    PytestBenchmark,
    /// A Google Benchmark program.
    GoogleBenchmark,
    /// hyperfine.
    Hyperfine,
    /// `go test -bench`, or the binary that `go test -c` builds.
    Go,
}

/// The readings of one run: names in the program, with times in seconds.
pub type AdapterReadings = Vec<(String, f64)>;

fn invalid<T>(why: String) -> Result<T, TrialError> {
    Err(TrialError::NoReading(why))
}

fn unreadable(adapter: Adapter) -> impl Fn(io::Error) -> TrialError {
    move |source| TrialError::System(format!("cannot read the report of {adapter}"), source)
}

fn missing(name: &str, what: &str) -> TrialError {
    TrialError::NoReading(format!("benchmark '{}' has no {what}", visible(name)))
}

impl fmt::Display for Adapter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Adapter::Criterion => "criterion",
            Adapter::PytestBenchmark => "pytest-benchmark",
            Adapter::GoogleBenchmark => "Google Benchmark",
            Adapter::Hyperfine => "hyperfine",
            Adapter::Go => "go test",
        })
    }
}

impl Adapter {
    /// The command with options that write its report into this folder.
    pub fn reporting(self, command: &Contestant, folder: &Path) -> Contestant {
        let file = folder.join(FILE);
        let mut launcher = command.launcher.clone();
        if self == Adapter::Criterion {
            // For criterion 0.3.4 and later, whose default folder would mix the runs of base and
            // head.
            launcher.extend(["env".into(), joined("CRITERION_HOME=", folder)]);
        }
        let is_placed = holds(&command.command, OUTPUT);
        let mut words =
            replaced(&command.command, OUTPUT, &[file.clone().into()], &file.to_string_lossy());
        if !is_placed {
            words.extend(self.options(&file));
        }
        Contestant { command: words, launcher, ..command.clone() }
    }

    fn options(self, file: &Path) -> Vec<OsString> {
        match self {
            Adapter::Criterion | Adapter::Go => Vec::new(),
            Adapter::PytestBenchmark => vec![joined("--benchmark-json=", file)],
            Adapter::GoogleBenchmark => {
                vec![joined("--benchmark_out=", file), "--benchmark_out_format=json".into()]
            }
            Adapter::Hyperfine => vec!["--export-json".into(), file.into()],
        }
    }

    /// The median reading of each name in a finished run's report.
    ///
    /// # Errors
    /// [`TrialError`].
    pub fn read(self, folder: &Path, printed: &str) -> Result<AdapterReadings, TrialError> {
        let found = match self {
            Adapter::Criterion => criterion::read(folder, printed)?,
            Adapter::PytestBenchmark => json_times::pytest(&self.report(folder)?)?,
            Adapter::GoogleBenchmark => google_benchmark::parse(&self.report(folder)?)?,
            Adapter::Hyperfine => json_times::hyperfine(&self.report(folder)?)?,
            Adapter::Go => go_test::parse(printed)?,
        };
        self.checked(found)
    }

    fn report(self, folder: &Path) -> Result<String, TrialError> {
        read_text(self, &folder.join(FILE))?.ok_or_else(|| {
            TrialError::NoReading(format!(
                "{self} wrote no report; Seatmap appends the report options to the command, or \
                 write {OUTPUT} in place of the file name"
            ))
        })
    }

    fn checked(self, found: AdapterReadings) -> Result<AdapterReadings, TrialError> {
        let mut by_name: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (name, value_s) in found {
            if !(value_s > 0.0 && value_s.is_normal()) {
                return invalid(format!(
                    "benchmark '{}' reads {value_s}; readings are compared as ratios and must be \
                     above 0",
                    visible(&name)
                ));
            }
            by_name.entry(name).or_default().push(value_s);
        }
        let count = by_name.len();
        match count {
            0 => invalid(format!("{self} reported no benchmark; check the filter in the command")),
            1..=MOST_BENCHMARKS => {
                let medians = by_name.into_iter();
                Ok(medians.filter_map(|(name, values)| Some((name, median(&values)?))).collect())
            }
            _ => invalid(format!(
                "{self} reported {count} benchmarks; at most {MOST_BENCHMARKS} are compared"
            )),
        }
    }
}

fn joined(option: &str, value: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

fn read_text(adapter: Adapter, path: &Path) -> Result<Option<String>, TrialError> {
    let bytes = match named_file::read(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return invalid(format!("the report of {adapter} is longer than 64 MiB"));
        }
        Err(source) => return Err(unreadable(adapter)(source)),
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(if text.trim().is_empty() { None } else { Some(text) })
}

fn json<T: DeserializeOwned>(adapter: Adapter, text: &str) -> Result<T, TrialError> {
    seatmap_data::document::from_json(text).map_err(|error| {
        let problem = json_problem(error);
        TrialError::NoReading(format!("the report of {adapter} is invalid: {problem}"))
    })
}

fn seconds(name: &str, value: f64, unit: &str) -> Result<f64, TrialError> {
    let scale = match unit {
        "ps" => 1e-12,
        "ns" => 1e-9,
        // The micro sign and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => {
            return invalid(format!(
                "benchmark '{}' has the unit '{}'; expected a time in ps, ns, us, ms or s",
                visible(name),
                visible(unit)
            ));
        }
    };
    Ok(value * scale)
}

#[cfg(test)]
mod tests;
