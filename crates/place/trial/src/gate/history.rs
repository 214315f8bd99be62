//! `seatmap-bench-history/1`: results over time, one JSON document a line, and their change points.
//!
//! The file is made to live in a repository: lines are only appended, and each one stands for
//! itself. Readings of different computers are never set beside each other; two lines are of the
//! same kind of computer where their fingerprints agree but for the name, which hosted runners
//! change with every job.

use crate::gate::report::{BenchmarkResult, GateReport};
use crate::tune::{Better, Fingerprint};
use seatmap_data::document::Blame;
use seatmap_data::statistics::change_points::{self, change_points};
use seatmap_data::statistics::median;
use seatmap_os::{named_file, whole_file};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The format's name, in the `format` key of each line.
pub const FORMAT: &str = "seatmap-bench-history/1";

/// The format's name of a trend.
pub const TREND_FORMAT: &str = "seatmap-bench-trend/1";

/// The largest history that is read, in bytes.
const MOST_BYTES: u64 = 512 << 20;

/// The newest results of one benchmark that are searched for changes: the search grows with the
/// square of their number.
const MOST_POINTS: usize = 400;

/// The benchmarks of one session in a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryEntry {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The version of Seatmap.
    pub tool_version: String,
    /// When the session began, as RFC 3339 has it, in UTC.
    pub begun: String,
    /// The name of head, such as its commit; absent where it was given none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The computer and its settings.
    pub fingerprint: Fingerprint,
    /// The benchmarks.
    pub benchmarks: Vec<HistoryReading>,
}

/// A benchmark of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryReading {
    /// Its name.
    pub name: String,
    /// The unit of its readings; empty where it is not known.
    #[serde(default)]
    pub unit: String,
    /// The better readings; absent where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The median of head's readings.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub median: f64,
    /// The blocks that it is of.
    pub blocks: usize,
}

/// Why a history cannot be read or continued.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A line is not such a document.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The mistake.
        problem: String,
    },
    /// The file has no line.
    #[error("the history is empty; 'seatmap bench --file bench.toml --history FILE' adds to it")]
    Empty,
    /// A reading has no logarithm.
    #[error("line {line}: benchmark '{name}' reads {value}, and readings are above 0")]
    NotPositive {
        /// The line, from 1.
        line: usize,
        /// The benchmark.
        name: String,
        /// The reading.
        value: f64,
    },
}

/// Why no history can be appended to a file.
#[derive(Debug, thiserror::Error)]
pub enum HistoryPlaceError {
    /// It cannot be read or written.
    #[error(transparent)]
    System(#[from] io::Error),
    /// It holds something else.
    #[error(transparent)]
    Content(#[from] HistoryError),
}

impl Blame for HistoryError {
    fn is_input(&self) -> bool {
        true
    }
}

impl HistoryEntry {
    /// The medians of head.
    #[must_use]
    pub fn of(report: &GateReport) -> Self {
        HistoryEntry {
            format: FORMAT.to_owned(),
            tool_version: report.tool_version.clone(),
            begun: report.header.begun.clone(),
            label: report.header.label.clone(),
            fingerprint: report.header.fingerprint.clone(),
            benchmarks: report.benchmarks.iter().filter_map(HistoryReading::of).collect(),
        }
    }

    /// Checks that a history can be appended to this file, before the work that it is of.
    ///
    /// # Errors
    /// [`HistoryError`] of a file that is something else, and the system's error.
    pub fn check_place(path: &Path) -> Result<(), HistoryPlaceError> {
        let place = whole_file::behind_links(path)?;
        whole_file::check_writable(place.as_deref().unwrap_or(path))?;
        match named_file::read(path, MOST_BYTES).map(String::from_utf8) {
            Ok(Ok(text)) if text.trim().is_empty() => Ok(()),
            Ok(Ok(text)) => Ok(read(&text).map(drop)?),
            Ok(Err(error)) => Err(io::Error::new(io::ErrorKind::InvalidData, error).into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A missing folder would come up after all runs, which would be lost.
                let has_folder = whole_file::folder_of(path).is_dir();
                if has_folder { Ok(()) } else { Err(error.into()) }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Appends it to a file, which is created where it is absent.
    ///
    /// # Errors
    /// The system's error.
    pub fn append(&self, path: &Path) -> io::Result<()> {
        let mut file = whole_file::append(path)?;
        let mut text = String::new();
        // An editor may have left the last line without its end.
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                text.push('\n');
            }
        }
        text += &seatmap_data::document::written(self);
        // In one call, so that two jobs at once do not mix their lines.
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

impl HistoryReading {
    /// The median of head; `None` where it never ran to an end.
    fn of(result: &BenchmarkResult) -> Option<Self> {
        Some(HistoryReading {
            name: result.name.clone(),
            unit: result.unit.clone(),
            better: result.better,
            median: result.commands[0].median?,
            blocks: result.runs.iter().filter(|run| run.again && !run.left_out).count(),
        })
    }

    /// Whether it has a logarithm.
    fn is_positive(&self) -> bool {
        self.median > 0.0 && self.median.is_finite()
    }
}

/// Reads all lines of a history, in their order.
///
/// # Errors
/// [`HistoryError`] with the line.
pub fn read(text: &str) -> Result<Vec<HistoryEntry>, HistoryError> {
    let mut entries = Vec::new();
    for (at, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = at + 1;
        let entry: HistoryEntry = seatmap_data::document::read(text, FORMAT)
            .map_err(|error| HistoryError::Line { line, problem: error.to_string() })?;
        if let Some(bad) = entry.benchmarks.iter().find(|reading| !reading.is_positive()) {
            let name = seatmap_data::document::visible(&bad.name);
            return Err(HistoryError::NotPositive { line, name, value: bad.median });
        }
        entries.push(entry);
    }
    if entries.is_empty() { Err(HistoryError::Empty) } else { Ok(entries) }
}

/// A benchmark over time, on one kind of computer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trend {
    /// The benchmark.
    pub name: String,
    /// The unit of its readings; empty where it is not known.
    pub unit: String,
    /// The better readings; absent where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The kind of computer, from 1 in the order of the history.
    pub computer: usize,
    /// Its results, in the order of the history.
    pub points: Vec<TrendPoint>,
    /// The changes of its level.
    pub changes: Vec<TrendChange>,
}

/// A result of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrendPoint {
    /// When its session began.
    pub begun: String,
    /// The name of head, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The median.
    pub median: f64,
}

/// A change of a benchmark's level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrendChange {
    /// The first point after it, counted from 0.
    pub at: usize,
    /// The change of the median from the level before to the level after, in percent.
    pub change_percent: f64,
    /// How sure it is, in percent: 100 less the share of random orders of the same results that
    /// would look as changed.
    pub certainty_percent: f64,
}

/// The benchmarks of a history over time: the result of `seatmap bench history`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trends {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = TREND_FORMAT)))]
    pub format: String,
    /// The kinds of computers, each with the facts in which it differs from the first one.
    pub computers: Vec<ComputerKind>,
    /// Each benchmark on each kind of computer.
    pub trends: Vec<Trend>,
}

/// A kind of computer in a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComputerKind {
    /// Its fingerprint; the name is that of the first such computer.
    pub fingerprint: Fingerprint,
    /// The sessions on it.
    pub sessions: usize,
    /// The facts in which it differs from the first kind, each with both values.
    pub differences: Vec<String>,
}

impl Trends {
    /// The trends of these sessions, which are in the order of time. The same seed gives the same
    /// changes.
    #[must_use]
    pub fn of(entries: &[HistoryEntry], seed: u64) -> Self {
        let mut computers: Vec<ComputerKind> = Vec::new();
        let mut trends: Vec<Trend> = Vec::new();
        for entry in entries {
            let computer = kind(&mut computers, &entry.fingerprint);
            for reading in &entry.benchmarks {
                let point = TrendPoint {
                    begun: entry.begun.clone(),
                    label: entry.label.clone(),
                    median: reading.median,
                };
                let own = trends
                    .iter_mut()
                    .find(|trend| trend.computer == computer && trend.is_of(reading));
                match own {
                    Some(trend) => trend.points.push(point),
                    None => trends.push(Trend {
                        name: reading.name.clone(),
                        unit: reading.unit.clone(),
                        better: reading.better,
                        computer,
                        points: vec![point],
                        changes: Vec::new(),
                    }),
                }
            }
        }
        for trend in &mut trends {
            let skipped = trend.points.len().saturating_sub(MOST_POINTS);
            trend.points.drain(..skipped);
            trend.changes = changes(&trend.points, seed);
        }
        Trends { format: TREND_FORMAT.to_owned(), computers, trends }
    }

    /// As JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        seatmap_data::document::written(self)
    }
}

impl Trend {
    /// Whether a reading continues it: of another unit or direction it is another benchmark.
    fn is_of(&self, reading: &HistoryReading) -> bool {
        self.name == reading.name && self.unit == reading.unit && self.better == reading.better
    }

    /// Whether a change is for the worse; `None` where nobody said which readings are better.
    #[must_use]
    pub fn is_worse(&self, change: &TrendChange) -> Option<bool> {
        self.better.map(|better| (change.change_percent > 0.0) == (better == Better::Lower))
    }

    /// The results that a change needs on both sides, where there are too few.
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        self.points.len() < 2 * change_points::FEWEST
    }
}

/// A fingerprint without the computer's name, which hosted runners change with every job.
fn unnamed(fingerprint: &Fingerprint) -> Fingerprint {
    Fingerprint { machine: String::new(), ..fingerprint.clone() }
}

/// The number of the kind of this computer, which is added where it is new.
fn kind(computers: &mut Vec<ComputerKind>, fingerprint: &Fingerprint) -> usize {
    let own = unnamed(fingerprint);
    if let Some(at) = computers.iter().position(|known| unnamed(&known.fingerprint) == own) {
        computers[at].sessions += 1;
        return at + 1;
    }
    let first = computers.first().map(|first| unnamed(&first.fingerprint));
    let differences = first.map(|first| own.differences(&first)).unwrap_or_default();
    let fingerprint = fingerprint.clone();
    computers.push(ComputerKind { fingerprint, sessions: 1, differences });
    computers.len()
}

fn changes(points: &[TrendPoint], seed: u64) -> Vec<TrendChange> {
    let logs: Vec<f64> = points.iter().map(|point| point.median.ln()).collect();
    let found = change_points(&logs, seed);
    let places: Vec<usize> = found.iter().map(|change| change.at).collect();
    found
        .iter()
        .enumerate()
        .filter_map(|(number, change)| {
            let before = if number == 0 { 0 } else { places[number - 1] };
            let after = places.get(number + 1).copied().unwrap_or(logs.len());
            let levels = [&logs[before..change.at], &logs[change.at..after]].map(median);
            let [Some(before), Some(after)] = levels else { return None };
            Some(TrendChange {
                at: change.at,
                change_percent: 100.0 * (after - before).exp_m1(),
                certainty_percent: 100.0 * change.certainty,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: usize, median: f64, kernel: &str) -> HistoryEntry {
        HistoryEntry {
            format: FORMAT.to_owned(),
            tool_version: "0.1.0".to_owned(),
            begun: format!("2026-11-{:02}T00:00:00Z", number % 30 + 1),
            label: Some(format!("commit-{number}")),
            fingerprint: Fingerprint {
                machine: format!("runner-{number}"),
                kernel: Some(kernel.to_owned()),
                ..Fingerprint::default()
            },
            benchmarks: vec![HistoryReading {
                name: "parse".to_owned(),
                unit: "s".to_owned(),
                better: Some(Better::Lower),
                median,
                blocks: 15,
            }],
        }
    }

    fn noise(number: usize) -> f64 {
        1.0 + 0.002 * ((number * 7) % 5) as f64
    }

    #[test]
    fn a_history_is_appended_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        entry(0, 1.0, "6.1").append(&path).unwrap();
        // Without the end of its line, as an editor may leave it.
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.trim_end()).unwrap();
        entry(1, 2.0, "6.1").append(&path).unwrap();
        let read = read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(read, [entry(0, 1.0, "6.1"), entry(1, 2.0, "6.1")]);
        assert!(HistoryEntry::check_place(&path).is_ok());
        assert!(HistoryEntry::check_place(&folder.path().join("new.jsonl")).is_ok());
        assert!(HistoryEntry::check_place(&folder.path().join("no/new.jsonl")).is_err());
    }

    #[test]
    fn a_slower_commit_is_found_and_named() {
        let entries: Vec<HistoryEntry> = (0..26)
            .map(|number| {
                entry(number, noise(number) * if number < 20 { 1.0 } else { 1.05 }, "6.1")
            })
            .collect();
        let trends = Trends::of(&entries, 1);
        let trend = &trends.trends[0];
        let change = &trend.changes[0];
        assert_eq!((trend.changes.len(), change.at), (1, 20));
        assert_eq!(trend.points[change.at].label.as_deref(), Some("commit-20"));
        assert!((change.change_percent - 5.0).abs() < 0.5 && change.certainty_percent >= 99.0);
        assert_eq!(trend.is_worse(change), Some(true));
    }

    /// Another kernel is another computer, and a runner with another name is not.
    #[test]
    fn another_computer_is_not_a_change() {
        let entries: Vec<HistoryEntry> = (0..40)
            .map(|number| {
                let (kernel, factor) = if number % 2 == 0 { ("6.1", 1.0) } else { ("6.12", 1.3) };
                entry(number, noise(number) * factor, kernel)
            })
            .collect();
        let trends = Trends::of(&entries, 1);
        assert_eq!(trends.computers.len(), 2);
        assert_eq!(trends.computers[1].differences, ["kernel: 6.12, then 6.1"]);
        assert_eq!(trends.computers.iter().map(|kind| kind.sessions).sum::<usize>(), 40);
        assert!(trends.trends.iter().all(|trend| trend.changes.is_empty()), "{trends:?}");
    }

    #[test]
    fn damaged_lines_are_named() {
        let good = seatmap_data::document::written(&entry(0, 1.0, "6.1"));
        let refused = |text: &str| read(text).unwrap_err().to_string();
        assert!(refused("").contains("empty"));
        assert!(refused(&format!("{good}\n{{\n")).starts_with("line 3:"));
        let bad = good.replace("\"median\":1.0", "\"median\":-1.0");
        assert!(refused(&bad).contains("'parse' reads -1"), "{}", refused(&bad));
        assert!(refused(&good.replace("history/1", "history/9")).contains("history/9"));
    }
}
