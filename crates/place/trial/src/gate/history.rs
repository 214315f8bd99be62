//! `seatmap-bench-history/1`: results over time, one JSON document per line, and their change
//! points.
//!
//! For a repository: lines are independent and only appended. Readings are compared only between
//! equal fingerprints, except for the name, which differs for each job of a hosted runner.

use crate::gate::report::{BenchmarkResult, GateReport};
use crate::tune::document::SeatsUsed;
use crate::tune::{Better, Fingerprint};
use seatmap_data::document::{self, Failure, visible};
use seatmap_data::statistics::change_points::{self, change_points};
use seatmap_data::statistics::median;
use seatmap_os::{named_file, whole_file};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// In the `format` key of each line.
pub const FORMAT: &str = "seatmap-bench-history/1";

/// The format's name of a trend.
pub const TREND_FORMAT: &str = "seatmap-bench-trend/1";

const MOST_BYTES: u64 = 512 << 20;

/// Quadratic time limits the search to the newest results.
const MOST_POINTS: usize = 400;

/// One session in a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryEntry {
    /// Name and version of the format.
    pub format: String,
    /// Seatmap's version.
    pub tool_version: String,
    /// The start of the session, in UTC (RFC 3339).
    pub begun: String,
    /// The name of head, such as its commit; absent if unnamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The computer and its settings.
    pub fingerprint: Fingerprint,
    /// The seats, if words named them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats: Option<SeatsUsed>,
    /// The benchmarks.
    pub benchmarks: Vec<HistoryReading>,
}

/// A benchmark of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryReading {
    /// Its name.
    pub name: String,
    /// The unit of its readings; empty if unknown.
    #[serde(default)]
    pub unit: String,
    /// Whether lower or higher readings are better; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The median of head's readings.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub median: f64,
    /// The blocks behind the median.
    pub blocks: usize,
}

impl HistoryEntry {
    /// The medians of head in a report.
    pub fn of(report: &GateReport) -> Self {
        HistoryEntry {
            format: FORMAT.to_owned(),
            tool_version: report.tool_version.clone(),
            begun: report.header.begun.clone(),
            label: report.header.label.clone(),
            fingerprint: report.header.fingerprint.clone(),
            seats: Some(report.header.seats.clone()).filter(|seats| seats.words.is_some()),
            benchmarks: report.benchmarks.iter().filter_map(HistoryReading::of).collect(),
        }
    }

    /// Checks, before the runs, that a history can be appended to this file.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn check_place(path: &Path) -> Result<(), Failure> {
        let place = whole_file::behind_links(path)?;
        whole_file::check_writable(place.as_deref().unwrap_or(path))?;
        match named_file::read(path, MOST_BYTES).map(String::from_utf8) {
            Ok(Ok(text)) if text.trim().is_empty() => Ok(()),
            Ok(Ok(text)) => Ok(read(&text).map(drop)?),
            Ok(Err(error)) => Err(io::Error::new(io::ErrorKind::InvalidData, error).into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let has_folder = whole_file::folder_of(path).is_dir();
                if has_folder { Ok(()) } else { Err(error.into()) }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Appends the entry to a file, or creates it.
    ///
    /// # Errors
    /// The system's error.
    pub fn append(&self, path: &Path) -> io::Result<()> {
        let mut file = whole_file::append(path)?;
        let mut text = String::new();
        // An editor may have removed the final newline.
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                text.push('\n');
            }
        }
        text += &document::written(self);
        // One call, so that concurrent jobs do not mix lines.
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

impl HistoryReading {
    fn of(result: &BenchmarkResult) -> Option<Self> {
        Some(HistoryReading {
            name: result.name.clone(),
            unit: result.unit.clone(),
            better: result.better,
            median: result.commands[0].median?,
            blocks: result.runs.iter().filter(|run| run.again && !run.left_out).count(),
        })
    }
}

/// Reads all lines of a history, in order.
///
/// # Errors
/// [`Failure`] with the line.
pub fn read(text: &str) -> Result<Vec<HistoryEntry>, Failure> {
    let mut entries = Vec::new();
    for (at, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = at + 1;
        let entry: HistoryEntry = document::read(text, FORMAT)
            .map_err(|error| Failure::input(format!("line {line}: {error}")))?;
        let mut readings = entry.benchmarks.iter();
        if let Some(bad) = readings.find(|one| !(one.median > 0.0 && one.median.is_finite())) {
            return Err(Failure::input(format!(
                "line {line}: benchmark '{}' reads {}; readings must be above 0",
                visible(&bad.name),
                bad.median
            )));
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        let hint = "'seatmap bench --file bench.toml --history FILE' adds to it";
        return Err(Failure::input(format!("the history is empty; {hint}")));
    }
    Ok(entries)
}

/// A benchmark over time, on one kind of computer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trend {
    /// The benchmark.
    pub name: String,
    /// The unit of its readings; empty if unknown.
    pub unit: String,
    /// Whether lower or higher readings are better; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The kind of computer, from 1.
    pub computer: usize,
    /// Its results, in order.
    pub points: Vec<TrendPoint>,
    /// The changes of its level.
    pub changes: Vec<TrendChange>,
}

/// A result of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrendPoint {
    /// The start of its session.
    pub begun: String,
    /// The name of head, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The median.
    pub median: f64,
}

/// A change of a benchmark's level.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrendChange {
    /// The first point after the change, from 0.
    pub at: usize,
    /// The change of the median level, in percent of the level before.
    pub change_percent: f64,
    /// 100 minus the percentage of random orders of the results with as large a change.
    pub certainty_percent: f64,
}

/// The trends of a history: the result of `seatmap bench history`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trends {
    /// Name and version of the format.
    pub format: String,
    /// The kinds of computers.
    pub computers: Vec<ComputerKind>,
    /// Each benchmark on each kind of computer.
    pub trends: Vec<Trend>,
}

/// A kind of computer in a history.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComputerKind {
    /// Its fingerprint, with the name of the first such computer.
    pub fingerprint: Fingerprint,
    /// The seats of its first session, if words named them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats: Option<SeatsUsed>,
    /// The number of sessions on it.
    pub sessions: usize,
    /// The differences from the first kind, each with both values.
    pub differences: Vec<String>,
}

impl Trends {
    /// The trends of sessions in order of time; a seed makes them repeatable.
    pub fn of(entries: &[HistoryEntry], seed: u64) -> Self {
        let mut computers: Vec<ComputerKind> = Vec::new();
        let mut trends: Vec<Trend> = Vec::new();
        for entry in entries {
            let computer = kind(&mut computers, entry);
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
}

impl Trend {
    /// Another unit or direction makes another benchmark.
    fn is_of(&self, reading: &HistoryReading) -> bool {
        self.name == reading.name && self.unit == reading.unit && self.better == reading.better
    }

    /// Whether a change is for the worse; `None` without a direction.
    pub fn is_worse(&self, change: &TrendChange) -> Option<bool> {
        self.better.map(|better| (change.change_percent > 0.0) == (better == Better::Lower))
    }

    /// Whether there are too few results to find a change.
    pub fn is_too_short(&self) -> bool {
        self.points.len() < 2 * change_points::FEWEST
    }
}

fn unnamed(fingerprint: &Fingerprint) -> Fingerprint {
    Fingerprint { machine: String::new(), ..fingerprint.clone() }
}

fn kind(computers: &mut Vec<ComputerKind>, entry: &HistoryEntry) -> usize {
    let own = unnamed(&entry.fingerprint);
    if let Some(at) = computers.iter().position(|known| known.is_of(entry)) {
        computers[at].sessions += 1;
        return at + 1;
    }
    let first = computers.first();
    let differences = first.map(|first| own.differences(&unnamed(&first.fingerprint)));
    let moved = first.and_then(|first| first.word_difference(entry));
    computers.push(ComputerKind {
        fingerprint: entry.fingerprint.clone(),
        seats: entry.seats.clone(),
        sessions: 1,
        differences: differences.into_iter().flatten().chain(moved).collect(),
    });
    computers.len()
}

impl ComputerKind {
    fn is_of(&self, entry: &HistoryEntry) -> bool {
        unnamed(&self.fingerprint) == unnamed(&entry.fingerprint)
            && self.word_difference(entry).is_none()
    }

    /// The CPUs that the same words named in its first session, if they were others.
    fn word_difference(&self, entry: &HistoryEntry) -> Option<String> {
        entry.seats.as_ref()?.word_difference(self.seats.as_ref()?)
    }
}

fn changes(points: &[TrendPoint], seed: u64) -> Vec<TrendChange> {
    let logs: Vec<f64> = points.iter().map(|point| point.median.ln()).collect();
    let found = change_points(&logs, seed);
    let mut ends = vec![0];
    ends.extend(found.iter().map(|change| change.at));
    ends.push(logs.len());
    let changes = found.iter().zip(ends.windows(3)).filter_map(|(change, ends)| {
        let before = median(&logs[ends[0]..ends[1]])?;
        let after = median(&logs[ends[1]..ends[2]])?;
        Some(TrendChange {
            at: change.at,
            change_percent: 100.0 * (after - before).exp_m1(),
            certainty_percent: 100.0 * change.certainty,
        })
    });
    changes.collect()
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
            seats: None,
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
    fn history_round_trips_through_append() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        entry(0, 1.0, "6.1").append(&path).unwrap();
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
    fn slower_commit_is_found_in_history() {
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

    #[test]
    fn other_computer_is_not_reported_as_change() {
        let entries: Vec<HistoryEntry> = (0..40)
            .map(|number| {
                let (kernel, factor) = if number % 2 == 0 { ("6.1", 1.0) } else { ("6.12", 1.3) };
                entry(number, noise(number) * factor, kernel)
            })
            .collect();
        let trends = Trends::of(&entries, 1);
        assert_eq!(trends.computers.len(), 2);
        assert_eq!(trends.computers[1].differences, ["kernel: 6.12, not 6.1"]);
        assert_eq!(trends.computers.iter().map(|kind| kind.sessions).sum::<usize>(), 40);
        assert!(trends.trends.iter().all(|trend| trend.changes.is_empty()), "{trends:?}");
    }

    fn on(words: &str, cpus: &str) -> SeatsUsed {
        let words = Some(words.to_owned());
        SeatsUsed { words, cpus: cpus.to_owned(), ..SeatsUsed::default() }
    }

    #[test]
    fn moved_words_are_not_reported_as_change() {
        let entries = Vec::from_iter((0..40).map(|number| {
            let (seats, factor) = match number {
                0..20 => (on("fast:2", "0,1"), 1.0),
                _ => (on("fast:2", "8,9"), 1.3),
            };
            let entry = entry(number, noise(number) * factor, "6.1");
            HistoryEntry { seats: Some(seats), ..entry }
        }));
        let trends = Trends::of(&entries, 1);
        assert_eq!(trends.computers[1].differences, ["CPUs of 'fast:2': 8,9, not 0,1"]);
        assert!(trends.trends.iter().all(|trend| trend.changes.is_empty()), "{trends:?}");
        let line = document::written(&entries[20]);
        assert_eq!(read(&line).unwrap(), entries[20..21]);
        let other = HistoryEntry { seats: Some(on("l3:0", "0,1")), ..entries[0].clone() };
        assert_eq!(Trends::of(&[entries[20].clone(), other], 1).computers.len(), 1);
    }

    #[test]
    fn damaged_history_lines_are_named() {
        let good = document::written(&entry(0, 1.0, "6.1"));
        let refused = |text: &str| read(text).unwrap_err().to_string();
        assert!(refused("").contains("empty"));
        assert!(refused(&format!("{good}\n{{\n")).starts_with("line 3:"));
        let bad = good.replace("\"median\":1.0", "\"median\":-1.0");
        assert!(refused(&bad).contains("'parse' reads -1"), "{}", refused(&bad));
        assert!(refused(&good.replace("history/1", "history/9")).contains("history/9"));
    }
}
