//! How much a plan could change the program that its pattern was observed of.

use serde::{Deserialize, Serialize};

/// The time that a program's messages take, held against its own. Costs of placements are a
/// model's and say how placements compare; this says whether that can matter to the program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// How long the program was observed, in seconds.
    pub observed_s: f64,
    /// The messages that were seen in that time.
    pub messages: f64,
    /// Wakeups from outside the program, which no plan of the program alone can bring nearer.
    pub outside_wakeups: f64,
    /// Whether memory that tasks share was observed as well.
    pub saw_memory: bool,
    /// The time of a message between the nearest of the PUs that may be used, in nanoseconds, as
    /// the machine was measured.
    pub nearest_ns: f64,
    /// The time of a message between the farthest of them.
    pub farthest_ns: f64,
    /// The time of all messages, one after another, on the plan's seats, in seconds.
    pub planned_s: f64,
    /// The same between the farthest PUs.
    pub farthest_s: f64,
}

impl Effect {
    /// The share of the program's time, in percent, that all messages take longer between the
    /// farthest PUs than on the plan's seats: the most that the plan saves by the messages that
    /// were seen, if each costs what was measured. Above 100 they overlap, or cost less.
    #[must_use]
    pub fn saving_percent(&self) -> f64 {
        100.0 * (self.farthest_s - self.planned_s).max(0.0) / self.observed_s
    }
}
