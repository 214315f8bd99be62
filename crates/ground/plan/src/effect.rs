//! How much a plan could change the program that its pattern was observed of.

use serde::{Deserialize, Serialize};

/// A bound on the time that a program could save by its seats, with the figures that it is made of.
/// Costs of placements are a model's and say how placements compare; this says whether that matters
/// to the program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// How long the program was observed, in seconds.
    pub observed_s: f64,
    /// The messages that were seen in that time.
    pub messages: f64,
    /// The time of a message between the nearest of the PUs that may be used, in nanoseconds.
    pub nearest_ns: f64,
    /// The time of a message between the farthest of them.
    pub farthest_ns: f64,
    /// The time of all messages, one after another, on the plan's seats, in seconds.
    pub planned_s: f64,
    /// The same between the farthest PUs.
    pub farthest_s: f64,
    /// The share of the time for which the busiest task worked, in percent, where tasks sleep while
    /// they wait: no seat makes that part shorter. Null where it is not known.
    pub busiest_percent: Option<f64>,
    /// No more than this share of the program's time can be saved, in percent: the messages of the
    /// farthest PUs without those of the plan, and no more than the busiest task leaves.
    pub saves_at_most_percent: f64,
}

impl Effect {
    /// Whether the bound is what the busiest task leaves, and not what the messages take.
    #[must_use]
    pub fn is_bound_by_work(&self) -> bool {
        let messages_percent = 100.0 * (self.farthest_s - self.planned_s) / self.observed_s;
        self.saves_at_most_percent < messages_percent
    }
}
