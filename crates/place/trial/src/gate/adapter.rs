//! The reports of other benchmark programs, read as seconds by name.
//!
//! A program that measures itself prints one reading for each of its benchmarks. An adapter asks it
//! for its own file where it writes one, and reads that. Nothing is guessed: a unit that is not
//! known, a reading that is not above 0 and a report without a benchmark are errors.
//!
//! | module | reads |
//! |---|---|
//! | `criterion` | criterion's folder of estimates, or its console |
//! | `google_benchmark` | the JSON of Google Benchmark |
//! | `go_test` | the lines of `go test -bench` |
//! | `hyperfine` | the JSON of hyperfine |
//! | `pytest_benchmark` | the JSON of pytest-benchmark |

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

/// The most of a report that is read, in bytes. The largest ones that programs write hold every
/// sample, and are some megabytes.
const MOST_BYTES: u64 = 64 << 20;

/// The most benchmarks of one report.
pub const MOST_BENCHMARKS: usize = 10_000;

/// The word in a command that stands for the file of its report.
pub const OUTPUT: &str = "{output}";

/// The name of a report's file in the folder of its run.
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
    /// A program of Google Benchmark.
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
    /// Its typical time, in seconds: the program's own median where it states one.
    pub value_s: f64,
}

/// Why a report has no readings.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// The file of the report is absent.
    #[error(
        "{adapter} wrote no report; the options that ask for it stand at the end of the command, \
         or write {OUTPUT} where the file's name belongs"
    )]
    NoReport {
        /// The kind of program.
        adapter: Adapter,
    },
    /// The report cannot be read.
    #[error("the report of {adapter} cannot be read")]
    Unreadable {
        /// The kind of program.
        adapter: Adapter,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The report is longer than any that is read.
    #[error("the report of {adapter} is longer than 64 MiB")]
    TooLong {
        /// The kind of program.
        adapter: Adapter,
    },
    /// The report is not what such a program writes.
    #[error("the report of {adapter} cannot be understood: {problem}")]
    Malformed {
        /// The kind of program.
        adapter: Adapter,
        /// The mistake, with its place.
        problem: String,
    },
    /// The report lists nothing.
    #[error("{adapter} reported no benchmark; check the filter in the command")]
    Empty {
        /// The kind of program.
        adapter: Adapter,
    },
    /// The report lists more than is compared.
    #[error("{adapter} reported {count} benchmarks, and at most {MOST_BENCHMARKS} are compared")]
    TooMany {
        /// The kind of program.
        adapter: Adapter,
        /// How many.
        count: usize,
    },
    /// A reading has another unit than a time, or none.
    #[error(
        "benchmark '{name}' has the unit '{unit}', and times are compared in ps, ns, us, ms, s"
    )]
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
        /// The figure that it lacks.
        what: &'static str,
    },
    /// A reading that has no ratio.
    #[error(
        "benchmark '{name}' reads {value}; readings are compared as ratios and must be above 0"
    )]
    NotPositive {
        /// The benchmark.
        name: String,
        /// The reading, in seconds.
        value: f64,
    },
    /// The program says that a benchmark failed.
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
    /// The program that runs the command with another environment; empty for none.
    pub launcher: Vec<OsString>,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

impl Adapter {
    /// The command, asked to write its report into this folder.
    #[must_use]
    pub fn reporting(self, words: &[OsString], folder: &Path) -> ReportingCommand {
        let file = folder.join(FILE);
        let mut launcher = Vec::new();
        if self == Adapter::Criterion {
            // Read by criterion 0.3.4 and later; its folder is otherwise below `target`, where the
            // runs of base and head would meet.
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

    /// The options that ask for a report in this file.
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

    /// The readings of a run that has ended: from the folder of its report, or from what it printed
    /// on stdout. Each name is there once; of several readings it is the median.
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

    /// Readings above 0, one for each name, in the order of names.
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

/// An option with its value in one word.
fn joined(option: &str, value: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

/// A word of a command, with the file in its place.
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

/// The text of a file; `None` where it is absent or empty.
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

/// A report's JSON as the keys that matter here.
fn json<T: DeserializeOwned>(adapter: Adapter, text: &str) -> Result<T, AdapterError> {
    seatmap_data::document::from_json(text)
        .map_err(|error| AdapterError::Malformed { adapter, problem: json_problem(error) })
}

/// A time in seconds, by the unit behind it; an error for every other unit.
fn seconds(name: &str, value: f64, unit: &str) -> Result<f64, AdapterError> {
    let scale = match unit {
        "ps" => 1e-12,
        "ns" => 1e-9,
        // Two characters that look the same, the micro sign and the Greek letter, are both in use.
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
