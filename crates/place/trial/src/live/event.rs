//! The events that an engine is told, and the decisions that it answers.

use crate::live::candidates::SeatCandidate;
use serde::{Deserialize, Serialize};

/// A figure with three decimals: as many as a file gives back to the bit, so that a log decides the
/// same again.
#[must_use]
pub fn on_file(figure: f64) -> f64 {
    (figure * 1e3).round() / 1e3
}

/// Something that happened to the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ProgramEvent {
    /// The program was observed for a while, without seats.
    Observed {
        /// The messages between its threads in a second.
        messages_per_s: f64,
        /// Seats worth a try, the most promising first.
        candidates: Vec<SeatCandidate>,
    },
    /// A period is over.
    Read {
        /// The work done in a second, in the unit of the metric; null where it could not be read.
        rate: Option<f64>,
    },
    /// A rest is over.
    Watched {
        /// How far the pattern is from the one that was observed last: 0 is the same, 1 has no pair
        /// in common.
        distance: f64,
    },
    /// The program has ended, or the user has.
    Ended,
}

/// The next thing to do, or a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Decision {
    /// Observe the program without seats.
    Observe,
    /// Let a period pass with these seats, or without any, and read the metric.
    Measure {
        /// The candidate's place in the last observation; null for no seats.
        candidate: Option<usize>,
    },
    /// A candidate has had its periods.
    Tried {
        /// The candidate.
        candidate: usize,
        /// The judgement.
        verdict: CandidateVerdict,
        /// The difference, where an interval is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gain: Option<RateGain>,
    },
    /// Give the program these seats until something changes.
    Keep {
        /// The candidate.
        candidate: usize,
    },
    /// Take the seats away: the program is where the kernel puts it.
    PutBack {
        /// The reason.
        why: Why,
    },
    /// Leave everything as it is for this time.
    Rest {
        /// The time, in seconds.
        seconds: f64,
    },
    /// Stop.
    Finish,
}

/// The judgement of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CandidateVerdict {
    /// Better than no seats: the whole interval says so.
    Better,
    /// No difference is shown, or one that is too small to bother.
    NotShown,
    /// Worse: the whole interval says so.
    Worse,
    /// So much worse in its first periods that it was not tried to the end. Nothing is claimed of
    /// it.
    LeftEarly,
    /// The program did next to nothing in most periods, or its work could not be read.
    Unread,
}

/// Why seats were taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No candidate is shown to be better.
    NoneBetter,
    /// There is nothing to try.
    NoCandidates,
    /// The threads talk in another pattern now.
    PatternChanged,
    /// Tried again, the seats are worse than none.
    WorseNow,
}

/// A difference in the rate of work: with the seats over without.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateGain {
    /// The ratio.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The median rate without seats, a second.
    pub free: f64,
    /// The median rate with them.
    pub seated: f64,
    /// The pairs of periods behind it.
    pub pairs: usize,
}
