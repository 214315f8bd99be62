//! `seatmap-plan/1`: a placement with its provenance.

use seatmap_machine::Pu;
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-plan/1";

/// A placement with its provenance. Unknown fields on file are ignored, unknown versions refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`FORMAT`].
    pub format: String,
    /// The machine's name.
    pub machine: String,
    /// The pattern's name; null for a placement written by hand.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The OS index of the PU of each task.
    pub placement: Vec<u32>,
    /// What each task is called; empty where they have no names.
    #[serde(default)]
    pub names: Vec<String>,
    /// What the machine says of the PUs in use, by ascending OS index, so that exports need no profile.
    #[serde(default)]
    pub pus: Vec<Pu>,
    /// What the placement is judged by.
    #[serde(default)]
    pub objective: Option<Objective>,
    /// The objective's value: weight x nanoseconds for `distance`, weight for `congestion`.
    #[serde(default)]
    pub cost: Option<f64>,
    /// No placement can cost less.
    #[serde(default)]
    pub lower_bound: Option<f64>,
    /// True only where that is proven.
    #[serde(default)]
    pub optimal: bool,
    /// What the usual placements cost.
    #[serde(default)]
    pub baselines: Option<Baselines>,
    /// The line that each pair of communicating tasks should use, on machines whose homes are known.
    #[serde(default)]
    pub channels: Vec<Channel>,
    /// How it was found.
    #[serde(default)]
    pub method: Option<String>,
    /// How long that took.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Where random orders started.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The day, as `YYYY-MM-DD`.
    #[serde(default)]
    pub date: Option<String>,
    /// The program that made it, with its version.
    #[serde(default)]
    pub tool: Option<String>,
}

/// What a placement is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The sum of weight x core distance.
    Distance,
    /// The load of the most loaded link.
    Congestion,
    /// Time in the simulator.
    Simulated,
    /// Time of the real program.
    Measured,
}

/// What the usual placements cost, by the same objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baselines {
    /// Tasks in order on PUs in the order of their OS indices.
    pub os: f64,
    /// Tasks in order, each PU as near to the last as the topology allows.
    pub compact: f64,
    /// Tasks in order, each PU as far from the others as the topology allows.
    pub scatter: f64,
    /// Random placements.
    pub random: Random,
}

/// What random placements cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Random {
    /// The mean.
    pub mean: f64,
    /// The best of 1000.
    pub best: f64,
}

/// A pair of communicating tasks and the home of the line they should use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// One task.
    pub from: usize,
    /// The other.
    pub to: usize,
    /// The home: a column of the profile's `home_model.offset_ns`.
    pub home: usize,
    /// Candidate lines of that home, by their number in `home_model.lines.home_of_line`: use one of them.
    #[serde(default)]
    pub line: Option<usize>,
    /// The round trip that the model predicts for it.
    pub distance_ns: f64,
}

/// Why a plan was refused.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not JSON, or JSON of another shape.
    #[error("line {line}, column {column}: {problem}")]
    Json {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What the parser says.
        problem: String,
    },
    /// Another format, or a version of this one that is not known here.
    #[error("its format is '{0}', and this program reads {FORMAT}")]
    Format(String),
    /// The parts do not fit together.
    #[error("{0}")]
    Inconsistent(String),
}
