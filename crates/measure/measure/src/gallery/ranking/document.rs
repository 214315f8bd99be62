//! `seatmap-ranking/1`: machines in the order of the time that a pattern takes on each.

use super::RankingRequest;
use seatmap_data::machine::OriginKind;
use seatmap_data::plan::Objective;
use seatmap_place::MessageWait;
use serde::Serialize;
use std::fmt;

/// The name and version of the document.
pub const FORMAT: &str = "seatmap-ranking/1";

/// The machines of a gallery ranked for a pattern: the output of `seatmap place --on gallery
/// --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineRanking {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    format: String,
    /// The pattern's name.
    pub pattern: String,
    /// The pattern's tasks.
    pub tasks: usize,
    /// The time that ranks: `distance` is the sum of the round trips of all messages, `time` that
    /// of the slowest seat, `simulated` that of a run.
    pub objective: Objective,
    /// Whether the tasks sleep until a message comes, so that a message costs a wakeup.
    pub waits: bool,
    /// The machines with all figures that the time needs, fastest first.
    pub ranked: Vec<RankedMachine>,
    /// The machines that lack some of these figures, fastest first. Their times are not those of
    /// `ranked`.
    pub incomplete: Vec<IncompleteMachine>,
    /// The machines without a time.
    pub left_out: Vec<LeftOutMachine>,
    /// How far profiles of one processor differ in this gallery; null where no two have the same.
    pub like_machines: Option<LikeDifference>,
    /// The day, as `YYYY-MM-DD`.
    pub date: String,
    /// The program that searched, with its version.
    pub tool: String,
}

/// A machine with its rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedMachine {
    /// The time and what stands beside it.
    #[serde(flatten)]
    pub time: MachineTime,
    /// How many times as long as on the fastest machine it takes.
    pub times_best: f64,
    /// Whether even its lower bound is above the time on the fastest machine. Else a longer search
    /// may change the order of the two.
    pub is_apart: bool,
}

/// A machine that is not ranked, since figures are missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncompleteMachine {
    /// The time without these figures, and what stands beside it.
    #[serde(flatten)]
    pub time: MachineTime,
    /// The figures that the time does not consider.
    pub not_considered: Vec<MissingFigure>,
}

/// The time that a pattern takes on a machine, from the figures of its profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineTime {
    /// The machine's name in the gallery.
    pub machine: String,
    /// How its figures came to be.
    pub origin: OriginKind,
    /// Its hardware threads.
    pub pus: usize,
    /// The time on the best seats that were found.
    pub time_ns: f64,
    /// The time below which no seats are.
    pub bound_ns: f64,
    /// The time with the tasks in order on the CPUs in order.
    pub in_order_ns: f64,
    /// Whether it is proven that no seats are better.
    pub is_optimal: bool,
}

/// A machine without a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutMachine {
    /// The machine's name in the gallery.
    pub machine: String,
    /// Why there is no time.
    #[serde(flatten)]
    pub reason: LeftOutReason,
}

/// Why a machine has no time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// It has fewer hardware threads than the pattern has tasks.
    TooSmall {
        /// The hardware threads whose distances are known.
        pus: usize,
    },
    /// Its profile holds no core distances.
    NoDistances,
    /// The pattern cannot be placed there.
    Refused {
        /// The error, in words.
        error: String,
    },
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftOutReason::TooSmall { pus } => {
                write!(out, "too small: {}", seatmap_data::statistics::words::counted(*pus, "PU"))
            }
            LeftOutReason::NoDistances => out.write_str("its profile holds no core distances"),
            LeftOutReason::Refused { error } => out.write_str(error),
        }
    }
}

/// A figure that a profile lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MissingFigure {
    /// How fast its CPUs are beside each other.
    Speed,
    /// The cost of waking a thread.
    Wakeups,
}

impl MissingFigure {
    /// The figure in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            MissingFigure::Speed => "the speed of its CPUs",
            MissingFigure::Wakeups => "the cost of wakeups",
        }
    }
}

/// How far two profiles of one processor differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LikeDifference {
    /// The pairs of machines with the same processor in the gallery.
    pub pairs: usize,
    /// The two that differ most.
    pub machines: [String; 2],
    /// The distance class in which they do.
    pub class: String,
    /// How many times as far apart the cores of the slower one are there.
    pub ratio: f64,
}

impl MachineRanking {
    /// A ranking without machines.
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
            // A run spins: wakeups belong to times that are added up.
            waits: waits && objective != Objective::Simulated,
            ranked: Vec::new(),
            incomplete: Vec::new(),
            left_out: Vec::new(),
            like_machines: None,
            date: request.date.clone(),
            tool: request.tool.clone(),
        }
    }

    /// Puts both lists in order, and compares each machine with the fastest.
    pub(super) fn sort(&mut self) {
        // Equal times keep the gallery's order.
        self.ranked.sort_by(|a, b| a.time.time_ns.total_cmp(&b.time.time_ns));
        self.incomplete.sort_by(|a, b| a.time.time_ns.total_cmp(&b.time.time_ns));
        let Some(best_ns) = self.ranked.first().map(|first| first.time.time_ns) else { return };
        for machine in &mut self.ranked {
            // Work that costs nothing anywhere has no ratio.
            machine.times_best = if best_ns > 0.0 { machine.time.time_ns / best_ns } else { 1.0 };
            machine.is_apart = machine.time.bound_ns > best_ns;
        }
    }
}
