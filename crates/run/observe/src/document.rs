//! The observation as a document.

use crate::phases::sum_of;
use crate::{Method, Observation, PairMessages};
use seatmap_data::document::shell_file;
use seatmap_data::pattern::{Outsider, Pattern};
use serde::Serialize;
use std::path::Path;

/// A pattern with a note. Readers of patterns know two keys of `observation`.
#[derive(Clone, Debug, Serialize)]
pub struct ObservationDocument {
    /// The pattern.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// The note.
    pub observation: ObservationNote,
}

/// The method and circumstances of an observation.
#[derive(Clone, Debug, Serialize)]
pub struct ObservationNote {
    /// The methods.
    pub methods: Vec<Method>,
    /// The mechanism in words.
    pub means: String,
    /// The duration, in seconds.
    pub seconds: f64,
    /// The observation's CPU time in percent of the program's; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_percent: Option<f64>,
    /// Each task's path: numbers in the order of creation.
    pub paths: Vec<String>,
    /// Whether a command was observed from its first instruction, so that paths repeat in its next
    /// run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_start: bool,
    /// Messages by pair and kind of wait.
    pub kinds: Vec<PairMessages>,
    /// The phases of the pattern.
    pub phases: Vec<PhaseNote>,
    /// Outside processes that woke it, most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outsiders: Vec<Outsider>,
    /// Messages not counted or not observable.
    pub unseen: Vec<String>,
}

/// A period with a constant pattern.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseNote {
    /// The start, in seconds since the observation began.
    pub from_s: f64,
    /// The end, in the same seconds.
    pub to_s: f64,
    /// Messages.
    pub messages: f64,
}

impl ObservationDocument {
    /// The command that uses the pattern, if it has edges, with the written file or a suggested
    /// name.
    pub fn next_step(&self, file: Option<&Path>) -> Option<String> {
        let inside = sum_of(&self.pattern.edges);
        let outside: f64 = self.observation.outsiders.iter().map(|one| one.wakeups).sum();
        // If outside processes drive the program, inside messages matter little.
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
    pub fn document(&self, name: &str) -> ObservationDocument {
        // The note has this key, and contains everything there.
        let pattern = Pattern { observation: None, ..self.pattern(name) };
        let phases = self.phases().into_iter();
        let cannot = std::iter::once(self.misses().to_owned());
        let observation = ObservationNote {
            methods: self.methods.clone(),
            means: self.means.clone(),
            seconds: self.seconds(),
            overhead_percent: self.overhead.map(|share| share * 100.0),
            paths: self.tasks.iter().map(|task| task.path.clone()).collect(),
            from_start: self.from_start,
            kinds: self.shares.clone(),
            phases: phases
                .map(|phase| PhaseNote {
                    from_s: phase.from_s,
                    to_s: phase.to_s,
                    messages: phase.messages(),
                })
                .collect(),
            outsiders: self.outsiders.clone(),
            unseen: self.unseen.iter().cloned().chain(cannot).collect(),
        };
        ObservationDocument { pattern, observation }
    }
}
