//! The events that the engine takes, and its decisions.

use crate::live::candidates::SeatCandidate;
use serde::{Deserialize, Serialize};

/// Rounds to three decimals, which a file stores exactly, so that a replay decides the same.
pub fn on_file(figure: f64) -> f64 {
    (figure * 1e3).round() / 1e3
}

/// An event of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ProgramEvent {
    /// The program was observed without seats.
    Observed {
        /// The messages between its threads, per second.
        messages_per_s: f64,
        /// Candidate seats, the most promising first.
        candidates: Vec<SeatCandidate>,
    },
    /// A period is over.
    Read {
        /// The work per second, in the metric's unit; null if unreadable.
        rate: Option<f64>,
        /// The user time, in seconds of CPU per second, if the rate says nothing without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        user: Option<f64>,
    },
    /// A rest is over.
    Watched {
        /// The distance from the last observed pattern: 0 is equal, 1 has no common pair.
        distance: f64,
    },
    /// The program has ended, or the user stopped the session.
    Ended,
}

/// The next thing to do, or a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Decision {
    /// Observe the program without seats.
    Observe,
    /// Run a period with or without seats, and read the metric.
    Measure {
        /// The candidate's index in the last observation; null for no seats.
        candidate: Option<usize>,
    },
    /// The trial of a candidate is complete.
    Tried {
        /// The candidate.
        candidate: usize,
        /// The verdict.
        verdict: CandidateVerdict,
        /// The difference, if there is an interval.
        #[serde(skip_serializing_if = "Option::is_none")]
        gain: Option<RateGain>,
    },
    /// Keep these seats until something changes.
    Keep {
        /// The candidate.
        candidate: usize,
    },
    /// Remove the seats: the kernel places the threads.
    PutBack {
        /// The reason.
        why: Why,
    },
    /// Change nothing for this time.
    Rest {
        /// The time, in seconds.
        seconds: f64,
    },
    /// Stop.
    Finish,
}

/// The verdict of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CandidateVerdict {
    /// Better than no seats, over the whole interval.
    Better,
    /// No difference is shown, or only a very small one.
    NotShown,
    /// Worse than no seats, over the whole interval.
    Worse,
    /// Much worse in its first periods, so the trial was cut short. This claims nothing.
    LeftEarly,
    /// The program did almost nothing in most periods, or its work was unreadable.
    Unread,
}

/// Why seats were removed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No candidate is shown to be better.
    NoneBetter,
    /// There are no candidates.
    NoCandidates,
    /// The pattern of messages has changed.
    PatternChanged,
    /// In a repeated trial the seats are worse than none.
    WorseNow,
}

/// The ratio of the rates of work with and without seats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateGain {
    /// The ratio.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The median rate without seats, per second.
    pub free: f64,
    /// The median rate with seats, per second.
    pub seated: f64,
    /// The pairs of periods behind the ratio.
    pub pairs: usize,
}
