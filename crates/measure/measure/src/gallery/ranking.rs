//! Ranks the machines of a gallery by the time of a pattern.
//!
//! Each message therefore counts with a round trip, whatever its bytes, and loads with their time;
//! a machine without a required figure is listed separately.

mod document;
#[cfg(test)]
mod tests;

pub use document::{
    FORMAT, IncompleteMachine, LeftOutMachine, LeftOutReason, LikeDifference, MachineRanking,
    MachineTime, MissingFigure, RankedMachine,
};

use crate::appraise::{Appraisal, AppraisalRequest};
use crate::gallery::{Gallery, GalleryMachine, like_pairs};
use seatmap_data::document::Blame;
use seatmap_data::machine::CoreKind;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Objective;
use seatmap_data::statistics::Ordered;
use seatmap_place::search::SearchTime;
use seatmap_place::{MessageWait, PlaceRequest, SmtUse, Weight, knows_wakeups};

/// A request for the machine that suits a pattern.
pub struct RankingRequest<'a> {
    /// Machines.
    pub gallery: &'a Gallery,
    /// Traffic between the tasks, and their loads if known.
    pub pattern: &'a Pattern,
    /// The time for the ranking: `Distance` is the sum of all round trips, `Time` the slowest seat,
    /// `Simulated` a run. The default is the slowest seat if loads are known, otherwise round
    /// trips.
    pub objective: Option<Objective>,
    /// How tasks wait for a message.
    pub waiting: MessageWait,
    /// Whether tasks may share a core.
    pub smt: SmtUse,
    /// Use only PUs of this kind of core.
    pub kind: Option<CoreKind>,
    /// Use only PUs of one kind and about equal speed.
    pub equal_seats: bool,
    /// How long to search on each machine.
    pub time: SearchTime,
    /// How often all messages are sent in a run.
    pub rounds: u32,
    /// Parallel searches.
    pub threads: usize,
    /// Seed of random choices.
    pub seed: u64,
    /// Today, `YYYY-MM-DD`.
    pub date: String,
    /// Requesting tool with its version.
    pub tool: String,
}

/// Why machines cannot be ranked.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum RankingError {
    /// The gallery is empty.
    #[error("the gallery has no machines")]
    Empty,
    /// The objective is not a time.
    #[error(
        "machines are ranked by time, and link load is not a time; use --objective distance, time \
         or simulated"
    )]
    NoTime,
    /// No time depends on the machine.
    #[error("{0} sends no messages, so all machines take the same time")]
    Silent(String),
}

impl Blame for RankingError {
    fn is_input(&self) -> bool {
        true
    }
}

impl RankingRequest<'_> {
    /// Places the pattern on each machine; `news` receives the numbers of finished and of all
    /// machines.
    ///
    /// # Errors
    ///
    /// [`RankingError`]. If a single machine fails, the document gives the reason.
    pub fn rank(&self, news: &mut dyn FnMut(usize, usize)) -> Result<MachineRanking, RankingError> {
        let machines = self.gallery.machines();
        let first = machines.first().ok_or(RankingError::Empty)?;
        let objective = self.objective.unwrap_or_else(|| self.place(first).usual_objective());
        if objective == Objective::Congestion {
            return Err(RankingError::NoTime);
        }
        let sends = self.pattern.edges.iter().any(|edge| edge.messages > 0.0);
        if !sends && objective != Objective::Time {
            return Err(RankingError::Silent(self.pattern.name.clone()));
        }
        let mut ranking = MachineRanking::new(self, objective);
        ranking.like_machines = widest_difference(self.gallery);
        for (done, machine) in machines.iter().enumerate() {
            news(done, machines.len());
            self.add(machine, objective, &mut ranking);
        }
        news(machines.len(), machines.len());
        ranking.sort();
        Ok(ranking)
    }

    fn place<'b>(&'b self, machine: &'b GalleryMachine) -> PlaceRequest<'b> {
        PlaceRequest {
            weight: Some(Weight::Messages),
            waiting: self.waiting,
            kind: self.kind,
            equal_seats: self.equal_seats,
            smt: self.smt,
            threads: self.threads,
            seed: self.seed,
            ..PlaceRequest::new(&machine.profile, self.pattern)
        }
    }

    fn add(&self, machine: &GalleryMachine, objective: Objective, ranking: &mut MachineRanking) {
        let mut place = PlaceRequest { objective, ..self.place(machine) };
        if let Some(reason) = unsuitable(machine, &place) {
            ranking.left_out.push(LeftOutMachine { machine: machine.name.clone(), reason });
            return;
        }
        let missing = missing(&place, ranking.waits);
        if missing.contains(&MissingFigure::Wakeups) {
            place.waiting = MessageWait::Spinning;
        }
        let request = AppraisalRequest {
            machine: &machine.machine,
            place,
            time: self.time,
            stop: None,
            rounds: self.rounds,
            widen: None,
            near_memory: false,
            with_remarks: false,
            before: None,
            date: self.date.clone(),
            tool: self.tool.clone(),
        };
        match request.appraise().map(|appraisal| time(machine, &appraisal)) {
            Ok(Some(time)) if missing.is_empty() => {
                ranking.ranked.push(RankedMachine { time, times_best: 1.0, is_apart: false });
            }
            Ok(Some(time)) => {
                ranking.incomplete.push(IncompleteMachine { time, not_considered: missing });
            }
            Ok(None) => {}
            Err(error) => {
                let reason = LeftOutReason::Refused { error: error.to_string() };
                ranking.left_out.push(LeftOutMachine { machine: machine.name.clone(), reason });
            }
        }
    }
}

fn unsuitable(machine: &GalleryMachine, place: &PlaceRequest) -> Option<LeftOutReason> {
    let Some(distance) = &machine.profile.core_distance else {
        return Some(LeftOutReason::NoDistances);
    };
    let pus = distance.pus.len();
    // Only the slowest seat's time includes turns of sleeping tasks; otherwise surplus tasks would
    // cost nothing.
    let may_share = place.objective == Objective::Time && place.counts_wakeups();
    (place.pattern.tasks > pus && !may_share).then_some(LeftOutReason::TooSmall { pus })
}

fn missing(place: &PlaceRequest, waits: bool) -> Vec<MissingFigure> {
    let is_sum = matches!(place.objective, Objective::Distance | Objective::Time);
    let speed = place.objective == Objective::Time && place.profile.speed.is_none();
    let wakeups = waits && is_sum && !knows_wakeups(place.profile);
    let found = [(MissingFigure::Speed, speed), (MissingFigure::Wakeups, wakeups)];
    found.into_iter().filter(|(_, is_missing)| *is_missing).map(|(figure, _)| figure).collect()
}

fn time(machine: &GalleryMachine, appraisal: &Appraisal) -> Option<MachineTime> {
    let plan = &appraisal.plan;
    Some(MachineTime {
        machine: machine.name.clone(),
        origin: machine.profile.origin.kind,
        pus: machine.profile.topology.pus.len(),
        time_ns: plan.cost?,
        bound_ns: plan.lower_bound?,
        in_order_ns: plan.baselines?.os,
        is_optimal: plan.optimal,
    })
}

fn widest_difference(gallery: &Gallery) -> Option<LikeDifference> {
    let pairs = like_pairs(gallery);
    let found = pairs.iter().filter_map(|pair| {
        let widest = pair.comparison.widest()?;
        let ratio = widest.ratio?;
        Some(LikeDifference {
            pairs: pairs.len(),
            machines: pair.comparison.machines.clone(),
            class: widest.name.clone(),
            ratio: ratio.max(1.0 / ratio),
        })
    });
    found.max_by_key(|it| Ordered(it.ratio))
}
