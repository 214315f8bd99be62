//! Reads the reports of benchmark libraries: times in seconds by name.
//!
//! If possible, the adapter requests a report file. An unknown unit, a reading that is not above 0,
//! or a report without benchmarks is an error.

mod criterion;
mod go_test;
mod google_benchmark;
mod hyperfine;
mod pytest_benchmark;

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

/// The word in a command that stands for the report file.
pub const OUTPUT: &str = "{output}";

const FILE: &str = "report.json";

/// A kind of benchmark program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// A reading of one benchmark in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterReading {
    /// The benchmark's name in its program.
    pub name: String,
    /// Its median time, in seconds.
    pub value_s: f64,
}

/// Why a report gives no readings.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// There is no report file.
    #[error(
        "{adapter} wrote no report; Seatmap appends the report options to the command, or write \
         {OUTPUT} in place of the file name"
    )]
    NoReport {
        /// The kind of program.
        adapter: Adapter,
    },
    /// The report file is unreadable.
    #[error("cannot read the report of {adapter}")]
    Unreadable {
        /// The kind of program.
        adapter: Adapter,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The report is too long.
    #[error("the report of {adapter} is longer than 64 MiB")]
    TooLong {
        /// The kind of program.
        adapter: Adapter,
    },
    /// The report does not have the program's format.
    #[error("the report of {adapter} is invalid: {problem}")]
    Malformed {
        /// The kind of program.
        adapter: Adapter,
        /// The mistake and its position.
        problem: String,
    },
    /// The report contains no benchmarks.
    #[error("{adapter} reported no benchmark; check the filter in the command")]
    Empty {
        /// The kind of program.
        adapter: Adapter,
    },
    /// The report contains too many benchmarks.
    #[error("{adapter} reported {count} benchmarks; at most {MOST_BENCHMARKS} are compared")]
    TooMany {
        /// The kind of program.
        adapter: Adapter,
        /// The number of benchmarks.
        count: usize,
    },
    /// A reading's unit is not a time.
    #[error("benchmark '{name}' has the unit '{unit}'; expected a time in ps, ns, us, ms or s")]
    Unit {
        /// The benchmark.
        name: String,
        /// The unit.
        unit: String,
    },
    /// A benchmark has no reading.
    #[error("benchmark '{name}' has no {what}")]
    Missing {
        /// The benchmark.
        name: String,
        /// The missing figure.
        what: &'static str,
    },
    /// A reading is not above 0, so it has no ratio.
    #[error(
        "benchmark '{name}' reads {value}; readings are compared as ratios and must be above 0"
    )]
    NotPositive {
        /// The benchmark.
        name: String,
        /// The reading, in seconds.
        value: f64,
    },
    /// The program reports a failed benchmark.
    #[error("benchmark '{name}' failed: {message}")]
    Failed {
        /// The benchmark.
        name: String,
        /// The program's message.
        message: String,
    },
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

/// A command that writes a report.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportingCommand {
    /// A program that sets the command's environment; may be empty.
    pub launcher: Vec<OsString>,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

impl Adapter {
    /// The command, with the options that write its report into this folder.
    pub fn reporting(self, words: &[OsString], folder: &Path) -> ReportingCommand {
        let file = folder.join(FILE);
        let mut launcher = Vec::new();
        if self == Adapter::Criterion {
            // For criterion 0.3.4 and later, whose default folder would mix the runs of base and
            // head.
            let mut variable = OsString::from("CRITERION_HOME=");
            variable.push(folder);
            launcher = vec!["env".into(), variable];
        }
        let is_placed = words.iter().any(|word| word.to_string_lossy().contains(OUTPUT));
        let mut words: Vec<OsString> = words.iter().map(|word| placed(word, &file)).collect();
        if !is_placed {
            words.extend(self.options(&file));
        }
        ReportingCommand { launcher, words }
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
    /// [`AdapterError`].
    pub fn read(self, folder: &Path, printed: &str) -> Result<Vec<AdapterReading>, AdapterError> {
        let found = match self {
            Adapter::Criterion => criterion::read(folder, printed)?,
            Adapter::PytestBenchmark => pytest_benchmark::parse(&self.report(folder)?)?,
            Adapter::GoogleBenchmark => google_benchmark::parse(&self.report(folder)?)?,
            Adapter::Hyperfine => hyperfine::parse(&self.report(folder)?)?,
            Adapter::Go => go_test::parse(printed)?,
        };
        self.checked(found)
    }

    fn report(self, folder: &Path) -> Result<String, AdapterError> {
        read_text(self, &folder.join(FILE))?.ok_or(AdapterError::NoReport { adapter: self })
    }

    fn checked(self, found: Vec<AdapterReading>) -> Result<Vec<AdapterReading>, AdapterError> {
        let mut by_name: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for AdapterReading { name, value_s } in found {
            if !(value_s > 0.0 && value_s.is_normal()) {
                return Err(AdapterError::NotPositive { name: visible(&name), value: value_s });
            }
            by_name.entry(name).or_default().push(value_s);
        }
        match by_name.len() {
            0 => Err(AdapterError::Empty { adapter: self }),
            count if count > MOST_BENCHMARKS => Err(AdapterError::TooMany { adapter: self, count }),
            _ => Ok(by_name
                .into_iter()
                .filter_map(|(name, values)| {
                    Some(AdapterReading { name, value_s: median(&values)? })
                })
                .collect()),
        }
    }
}

fn joined(option: &str, value: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

fn placed(word: &OsString, file: &Path) -> OsString {
    let text = word.to_string_lossy();
    match text.split_once(OUTPUT) {
        None => word.clone(),
        Some((before, after)) => {
            let mut placed = OsString::from(before);
            placed.push(file);
            placed.push(after);
            placed
        }
    }
}

fn read_text(adapter: Adapter, path: &Path) -> Result<Option<String>, AdapterError> {
    let bytes = match named_file::read(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(AdapterError::TooLong { adapter });
        }
        Err(source) => return Err(AdapterError::Unreadable { adapter, source }),
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(if text.trim().is_empty() { None } else { Some(text) })
}

fn json<T: DeserializeOwned>(adapter: Adapter, text: &str) -> Result<T, AdapterError> {
    seatmap_data::document::from_json(text)
        .map_err(|error| AdapterError::Malformed { adapter, problem: json_problem(error) })
}

fn seconds(name: &str, value: f64, unit: &str) -> Result<f64, AdapterError> {
    let scale = match unit {
        "ps" => 1e-12,
        "ns" => 1e-9,
        // Both the micro sign and the Greek letter are used.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => {
            return Err(AdapterError::Unit { name: visible(name), unit: visible(unit) });
        }
    };
    Ok(value * scale)
}

#[cfg(test)]
mod tests;
