//! `seatmap-auto/1`: the engine's events and decisions, one per line, and their replay.
//!
//! The first line is the header. A cut last line, after a full disk or a kill, is ignored.

use crate::live::engine::{DecisionRules, LiveEngine};
use crate::live::event::{Decision, ProgramEvent};
use seatmap_data::document::{Failure, from_json, json_problem, with_causes};
use seatmap_os::whole_file;
use serde::{Deserialize, Serialize};
use std::fmt::{Debug, Display};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The format's name, in the header's `format` key.
pub const FORMAT: &str = "seatmap-auto/1";

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogHeader {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// Seatmap's version.
    pub tool_version: String,
    /// The start time, in UTC (RFC 3339).
    pub begun: String,
    /// The computer's name.
    pub machine: String,
    /// The program: its command, or `process 4711`.
    pub program: String,
    /// The metric: `instructions`, `wakeups`, `switches`, `bytes`, `command:LINE`; `switches and
    /// user time` also if bytes replace them.
    pub metric: String,
    /// How the program was observed.
    pub means: String,
    /// The length of a period, in seconds.
    pub period_s: f64,
    /// Whether seats are the CPUs of a cache.
    pub soft: bool,
    /// The parameters of the decisions.
    pub rules: DecisionRules,
}

/// A line after the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogLine {
    /// Seconds since the program was first observed.
    pub at_s: f64,
    /// The event or decision.
    #[serde(flatten)]
    pub said: LogContent,
}

/// An event or a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LogContent {
    /// An event of the program.
    Event(ProgramEvent),
    /// A decision after the event.
    Decision(Decision),
}

/// A log written line by line, so that a kill loses nothing.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    failure: Option<io::Error>,
}

impl LogFile {
    /// Creates the file, or replaces an existing one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = whole_file::create(path)?;
        Ok(LogFile { path: path.to_owned(), file, failure: None })
    }

    /// The program already runs, so an error is reported with the first line.
    pub(crate) fn begin(&mut self, header: &LogHeader) {
        self.failure = self.write(header).err();
    }

    pub(crate) fn add(&mut self, line: &LogLine) -> io::Result<()> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.write(line),
        }
    }

    fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.file.write_all(written(line)?.as_bytes()).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("{}: {}", self.path.display(), with_causes(&error)),
            )
        })
    }
}

/// A parsed log.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The first line.
    pub header: LogHeader,
    /// The other lines.
    pub lines: Vec<LogLine>,
    /// Whether the last line was cut off.
    pub is_cut_off: bool,
}

fn wrong<T>(line: usize, problem: impl Display) -> Result<T, Failure> {
    Err(Failure::input(format!("line {line}: {problem}")))
}

impl Log {
    /// Parses a log.
    ///
    /// # Errors
    /// [`Failure`] with the line.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let mut rows = text.lines().enumerate();
        let Some((_, first)) = rows.next() else {
            return Err(Failure::input("the log is empty".to_owned()));
        };
        let Ok(header) = from_json::<LogHeader>(first) else {
            return wrong(1, "this is not a log of 'seatmap run --auto'");
        };
        if header.format != FORMAT {
            let format = header.format;
            let what = format!("the format is '{format}', but this version reads '{FORMAT}'");
            return wrong(1, what);
        }
        let mut lines = Vec::new();
        let mut is_cut_off = false;
        for (at, row) in rows {
            match from_json(row) {
                Ok(line) => lines.push(line),
                Err(_) if at + 1 == text.lines().count() && !text.ends_with('\n') => {
                    is_cut_off = true
                }
                Err(error) => return wrong(at + 1, json_problem(error)),
            }
        }
        Ok(Log { header, lines, is_cut_off })
    }

    /// Passes the events to a new engine, and checks that it decides the same.
    ///
    /// # Errors
    /// [`Failure`] at the first different decision.
    pub fn replay(&self) -> Result<(), Failure> {
        let mut engine = LiveEngine::new(self.header.rules);
        let mut expected = vec![Decision::Observe];
        for (at, line) in self.lines.iter().enumerate() {
            match &line.said {
                LogContent::Decision(logged) if expected.is_empty() => {
                    return differs(at, logged, &"nothing");
                }
                LogContent::Decision(logged) if *logged == expected[0] => drop(expected.remove(0)),
                LogContent::Decision(logged) => return differs(at, logged, &expected[0]),
                LogContent::Event(event) if expected.is_empty() => expected = engine.take(event),
                LogContent::Event(event) => return differs(at, event, &expected[0]),
            }
        }
        Ok(())
    }
}

fn differs(at: usize, logged: &dyn Debug, decided: &dyn Debug) -> Result<(), Failure> {
    // Lines count from 1, and the first is the header.
    wrong(at + 2, format!("the log has {logged:?}, but the engine decides {decided:?}"))
}

/// A header or line as text for the file.
///
/// # Errors
/// A number that JSON cannot represent.
pub fn written(line: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(line).map(|text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::candidates::SeatCandidate;

    fn header() -> LogHeader {
        LogHeader {
            format: FORMAT.to_owned(),
            tool_version: "0".to_owned(),
            begun: "2026-11-23T10:00:00Z".to_owned(),
            machine: "m".to_owned(),
            program: "p".to_owned(),
            metric: "wakeups".to_owned(),
            means: "eBPF".to_owned(),
            period_s: 0.5,
            soft: false,
            rules: DecisionRules::default(),
        }
    }

    /// With seats, the program's rate changes by this factor.
    fn log(gain: f64) -> String {
        let mut engine = LiveEngine::new(DecisionRules::default());
        let mut text = written(&header()).unwrap();
        let mut decisions = vec![Decision::Observe];
        for at in 0..60 {
            for decision in &decisions {
                text += &written(&LogLine {
                    at_s: f64::from(at),
                    said: LogContent::Decision(decision.clone()),
                })
                .unwrap();
            }
            let event = match decisions.last().unwrap() {
                Decision::Observe => {
                    let seats = vec![Some("0".to_owned()), None];
                    let candidates = vec![SeatCandidate { name: "together".to_owned(), seats }];
                    ProgramEvent::Observed { messages_per_s: 9.0, candidates }
                }
                Decision::Measure { candidate } => ProgramEvent::Read {
                    rate: Some(if candidate.is_some() { gain } else { 1.0 + f64::from(at) / 1e4 }),
                    user: None,
                },
                _ => ProgramEvent::Watched { distance: 0.0 },
            };
            text +=
                &written(&LogLine { at_s: f64::from(at), said: LogContent::Event(event.clone()) })
                    .unwrap();
            decisions = engine.take(&event);
        }
        text
    }

    #[test]
    fn recorded_log_replays_identically() {
        for gain in [0.5, 1.0, 1.5] {
            let log = Log::read(&log(gain)).unwrap();
            log.replay().unwrap();
            assert!(!log.is_cut_off && log.lines.len() > 60);
        }
    }

    #[test]
    fn replay_detects_changed_decision() {
        let text = log(1.5).replace("{\"kind\":\"keep\",\"candidate\":0}", "{\"kind\":\"finish\"}");
        assert!(Log::read(&text).unwrap().replay().unwrap_err().to_string().contains("Keep"));
    }

    #[test]
    fn damaged_log_is_rejected_with_line() {
        let text = log(1.0);
        let cut = &text[..text.len() - 5];
        assert!(Log::read(cut).is_ok_and(|log| log.is_cut_off && log.replay().is_ok()));
        let broken = text.replacen("\"at_s\"", "\"at\"", 1);
        assert!(Log::read(&broken).unwrap_err().to_string().contains("line 2"));
        assert!(Log::read("").unwrap_err().to_string().contains("empty"));
        assert!(Log::read("{}\n").unwrap_err().to_string().contains("not a log"));
        assert!(
            Log::read(&text.replace("auto/1", "auto/9"))
                .unwrap_err()
                .to_string()
                .contains("auto/9")
        );
    }

    #[test]
    fn log_lines_match_schema() {
        let text = include_str!("../../../../../docs/formats/seatmap-auto-1.schema.json");
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        let nothing: Vec<String> = Vec::new();
        for line in log(1.5).lines() {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                seatmap_data::document::schema::refused(&schema, &document),
                nothing,
                "{line}"
            );
        }
    }
}
