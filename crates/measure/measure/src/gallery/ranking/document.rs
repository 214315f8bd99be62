//! `seatmap-ranking/1`: machines ranked by the time of a pattern.

use super::RankingRequest;
use seatmap_data::machine::OriginKind;
use seatmap_data::plan::Objective;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::words::counted;
use seatmap_place::MessageWait;
use serde::Serialize;

/// Name and version of the format.
pub const FORMAT: &str = "seatmap-ranking/1";

/// The machines of a gallery ranked for a pattern: the output of `seatmap place --on gallery
/// --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineRanking {
    /// Name and version of the format.
    format: String,
    /// The pattern's name.
    pub pattern: String,
    /// The number of tasks.
    pub tasks: usize,
    /// The time for the ranking: `distance` is the sum of the round trips of all messages, `time`
    /// that of the slowest seat, `simulated` that of a run.
    pub objective: Objective,
    /// Whether tasks sleep until a message arrives, so that each message costs a wakeup.
    pub waits: bool,
    /// The machines with all required figures, fastest first.
    pub ranked: Vec<RankedMachine>,
    /// The machines that lack some of these figures, fastest first. Their times are not comparable
    /// with those of `ranked`.
    pub incomplete: Vec<IncompleteMachine>,
    /// The machines without a time.
    pub left_out: Vec<LeftOutMachine>,
    /// How far profiles of one processor differ in this gallery; null if all processors differ.
    pub like_machines: Option<LikeDifference>,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// The searching program with its version.
    pub tool: String,
}

/// A machine with its rank.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedMachine {
    /// The time and its details.
    #[serde(flatten)]
    pub time: MachineTime,
    /// The time relative to the fastest machine's.
    pub times_best: f64,
    /// Whether its lower bound exceeds the time on the fastest machine. If not, a longer search may
    /// change their order.
    pub is_apart: bool,
}

/// A machine not ranked because figures are missing.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncompleteMachine {
    /// The time without these figures, and its details.
    #[serde(flatten)]
    pub time: MachineTime,
    /// The missing figures.
    pub not_considered: Vec<MissingFigure>,
}

/// The time of a pattern on a machine, from the figures of its profile.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineTime {
    /// The machine's name in the gallery.
    pub machine: String,
    /// The origin of its figures.
    pub origin: OriginKind,
    /// The number of its hardware threads.
    pub pus: usize,
    /// The time on the best seats found.
    pub time_ns: f64,
    /// A lower bound on the time for all seats.
    pub bound_ns: f64,
    /// The time with tasks in order on CPUs in order.
    pub in_order_ns: f64,
    /// Whether the seats are proven optimal.
    pub is_optimal: bool,
}

/// A machine without a time.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutMachine {
    /// The machine's name in the gallery.
    pub machine: String,
    /// Why there is no time.
    #[serde(flatten)]
    pub reason: LeftOutReason,
}

/// Why a machine has no time.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// The pattern has more tasks than the machine has hardware threads.
    #[error("too small: {}", counted(*.pus, "PU"))]
    TooSmall {
        /// The number of hardware threads with known distances.
        pus: usize,
    },
    /// The profile has no core distances.
    #[error("its profile has no core distances")]
    NoDistances,
    /// The pattern cannot be placed there.
    #[error("{error}")]
    Refused {
        /// The error message.
        error: String,
    },
}

/// A figure missing in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MissingFigure {
    /// The relative speed of its CPUs.
    Speed,
    /// The cost of waking a thread.
    Wakeups,
}

impl MissingFigure {
    /// The figure in words.
    pub fn words(self) -> &'static str {
        match self {
            MissingFigure::Speed => "the speed of its CPUs",
            MissingFigure::Wakeups => "the cost of wakeups",
        }
    }
}

/// How far two profiles of one processor differ.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LikeDifference {
    /// The number of pairs of machines with the same processor.
    pub pairs: usize,
    /// The two that differ most.
    pub machines: [String; 2],
    /// The distance class in which they differ most.
    pub class: String,
    /// The ratio of the larger distance to the smaller one in this class.
    pub ratio: f64,
}

impl MachineRanking {
    pub(super) fn new(request: &RankingRequest, objective: Objective) -> Self {
        let waits = match request.waiting {
            MessageWait::AsObserved => request.pattern.waits(),
            MessageWait::Asleep => true,
            MessageWait::Spinning => false,
        };
        MachineRanking {
            format: FORMAT.to_owned(),
            pattern: request.pattern.name.clone(),
            tasks: request.pattern.tasks,
            objective,
            // A run spins: wakeups belong only to added times.
            waits: waits && objective != Objective::Simulated,
            ranked: Vec::new(),
            incomplete: Vec::new(),
            left_out: Vec::new(),
            like_machines: None,
            date: request.date.clone(),
            tool: request.tool.clone(),
        }
    }

    pub(super) fn sort(&mut self) {
        self.ranked.sort_by_key(|it| Ordered(it.time.time_ns));
        self.incomplete.sort_by_key(|it| Ordered(it.time.time_ns));
        let Some(best_ns) = self.ranked.first().map(|first| first.time.time_ns) else { return };
        for machine in &mut self.ranked {
            // Free work has no ratio.
            machine.times_best = if best_ns > 0.0 { machine.time.time_ns / best_ns } else { 1.0 };
            machine.is_apart = machine.time.bound_ns > best_ns;
        }
    }
}
