//! How much a plan could change the speed of the observed program.

use serde::{Deserialize, Serialize};

/// The time of a program's messages, compared with its own time. The costs of placements are a
/// model's and show how placements compare; this shows whether that matters to the program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// How long the program was observed, in seconds.
    pub observed_s: f64,
    /// The number of observed messages.
    pub messages: f64,
    /// Wakeups from outside the program, which no plan of the program alone can speed up.
    pub outside_wakeups: f64,
    /// Whether shared memory of the tasks was observed as well.
    pub saw_memory: bool,
    /// The measured time of a message between the nearest allowed PUs, in nanoseconds.
    pub nearest_ns: f64,
    /// The measured time of a message between the farthest allowed PUs, in nanoseconds.
    pub farthest_ns: f64,
    /// The total time of all messages on the plan's PUs, one after another, in seconds.
    pub planned_s: f64,
    /// The total time of all messages between the farthest PUs, in seconds.
    pub farthest_s: f64,
}

impl Effect {
    /// The additional time of all messages between the farthest PUs compared with the plan's, in
    /// per cent of the program's time. The plan saves at most this on the observed messages at the
    /// measured cost. Above 100 they overlap, or cost less.
    pub fn saving_percent(&self) -> f64 {
        100.0 * (self.farthest_s - self.planned_s).max(0.0) / self.observed_s
    }
}
