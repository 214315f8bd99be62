//! The observation as a pattern, with a note on how it was made.

use crate::{Method, Observation};
use seatmap_data::document::shell_file;
use seatmap_data::pattern::{Outsider, Pattern};
use serde::Serialize;
use std::path::Path;

/// A pattern, and how it was observed. Readers of patterns know two keys of `observation`.
#[derive(Clone, Debug, Serialize)]
pub struct ObservationDocument {
    /// The pattern.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// How it was observed.
    pub observation: ObservationNote,
}

/// How a pattern was observed.
#[derive(Clone, Debug, Serialize)]
pub struct ObservationNote {
    /// The methods.
    pub methods: Vec<Method>,
    /// How the method did it.
    pub means: String,
    /// How long, in seconds.
    pub seconds: f64,
    /// The CPU time that the observation took, in percent of the program's; absent where it was not
    /// measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_percent: Option<f64>,
    /// For each task how it came to be: numbers in the order of creation.
    pub paths: Vec<String>,
    /// Whether a command was observed from its first instruction, so that its next run has the same
    /// paths.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_start: bool,
    /// Messages by pair and kind of wait.
    pub kinds: Vec<KindOfPair>,
    /// When the pattern changed.
    pub phases: Vec<PhaseNote>,
    /// Processes outside the program that woke it, who woke it most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outsiders: Vec<Outsider>,
    /// Talk that was not counted or cannot be seen.
    pub unseen: Vec<String>,
}

/// Messages of one pair by one kind of wait.
#[derive(Clone, Debug, Serialize)]
pub struct KindOfPair {
    /// The task that sent.
    pub from: usize,
    /// The task that received.
    pub to: usize,
    /// The kind of wait.
    pub kind: &'static str,
    /// The messages.
    pub messages: f64,
}

/// A stretch of time in which the pattern does not change.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseNote {
    /// When it began, in seconds since the observation began.
    pub from_s: f64,
    /// When it ended.
    pub to_s: f64,
    /// Its messages.
    pub messages: f64,
}

impl ObservationDocument {
    /// The command that uses the pattern, if it has edges: of the file that it was
    /// written to, or else with a name for one.
    #[must_use]
    pub fn next_step(&self, file: Option<&Path>) -> Option<String> {
        let inside: f64 = self.pattern.edges.iter().map(|edge| edge.messages).sum();
        let outside: f64 = self.observation.outsiders.iter().map(|one| one.wakeups).sum();
        // The messages inside say little of the seats of a program that others drive.
        let is_useful = inside >= outside && !self.pattern.edges.is_empty();
        is_useful.then(|| match file {
            Some(path) => {
                let file = shell_file(&path.display().to_string());
                format!("next: seatmap place --pattern {file}")
            }
            None => "next: -o app.pattern.json keeps the pattern for seatmap place".to_owned(),
        })
    }
}

impl Observation {
    /// The document.
    #[must_use]
    pub fn document(&self, name: &str) -> ObservationDocument {
        // The note has the key `observation`, with all that the pattern knows of it.
        let pattern = Pattern { observation: None, ..self.pattern(name) };
        ObservationDocument { pattern, observation: self.note() }
    }

    fn note(&self) -> ObservationNote {
        let cannot = std::iter::once(self.misses().to_owned());
        ObservationNote {
            methods: self.methods.clone(),
            means: self.means.clone(),
            seconds: self.seconds(),
            overhead_percent: self.overhead.map(|share| share * 100.0),
            paths: self.tasks.iter().map(|task| task.path.clone()).collect(),
            from_start: self.from_start,
            kinds: self
                .shares
                .iter()
                .map(|share| KindOfPair {
                    from: share.from,
                    to: share.to,
                    kind: share.kind.word(),
                    messages: share.messages,
                })
                .collect(),
            phases: self
                .phases()
                .iter()
                .map(|phase| PhaseNote {
                    from_s: phase.from_s,
                    to_s: phase.to_s,
                    messages: phase.messages(),
                })
                .collect(),
            outsiders: self.outsiders.clone(),
            unseen: self.unseen.iter().cloned().chain(cannot).collect(),
        }
    }
}
