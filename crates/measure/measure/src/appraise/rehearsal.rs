//! Runs a pattern's messages on a model.

use crate::appraise::DrawnPlacement;
use seatmap_machines::catalog::{Capability, Lacks, Machine};
use seatmap_machines::workload::{Handoffs, handoffs_ns};
use seatmap_place::{PlaceMethod, PlaceRequest, TrialJudge};
use seatmap_sim::{CoherentBed, CoherentModel, SimError};
use std::sync::Arc;

/// The default number of times that all messages are sent.
pub const ROUNDS: u32 = 4;

/// Why a pattern's messages cannot be run.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum RehearsalError {
    /// The machine cannot run programs.
    #[error(transparent)]
    Lacks(#[from] Lacks),
    /// The machine is this computer.
    #[error(
        "--objective simulated needs a model; \
         'seatmap model fit host -o twin.toml' makes one of this host"
    )]
    Host,
    /// The pattern sends nothing.
    #[error("--objective simulated needs a pattern with messages")]
    Silent,
}

/// The messages of a pattern over cache lines, ready to run under any placement.
#[derive(Debug)]
pub struct Rehearsal {
    model: Arc<CoherentModel>,
    handoffs: Handoffs,
    /// Whether channels take the best of a quarter more lines than channels (Liu et al. 2015).
    chooses_homes: bool,
}

impl Rehearsal {
    /// The messages of a request's pattern, all sent `rounds` times.
    ///
    /// # Errors
    /// [`RehearsalError`].
    pub fn new(
        machine: &Machine,
        request: &PlaceRequest,
        rounds: u32,
    ) -> Result<Self, RehearsalError> {
        let model = machine.runner(Capability::RunsChannels)?.ok_or(RehearsalError::Host)?;
        let handoffs = Handoffs::along(request.pattern, 0, rounds);
        if handoffs.handoffs.is_empty() {
            return Err(RehearsalError::Silent);
        }
        // Pizza slices keep a channel's line in its slice, so the method chooses lines.
        let is_pizza = matches!(request.method, PlaceMethod::Pizza(_));
        Ok(Rehearsal { model, handoffs, chooses_homes: request.homes || is_pizza })
    }

    fn under(&self, placement: &[u32]) -> Handoffs {
        if self.chooses_homes {
            self.handoffs.near(placement, |pu, line| self.model.ways_to_home(pu, line))
        } else {
            self.handoffs.clone()
        }
    }

    /// Calls `work` with runs as the judge.
    pub fn judged<T>(&self, work: impl FnOnce(TrialJudge) -> T) -> T {
        let time_ns =
            |placement: &[u32]| self.time_ns(placement).map_err(|error| error.to_string());
        work(TrialJudge { time_ns: &time_ns, floor_ns: 0.0 })
    }

    fn time_ns(&self, placement: &[u32]) -> Result<f64, SimError> {
        let mut bed = CoherentBed::new(Arc::clone(&self.model));
        handoffs_ns(&mut bed, &self.under(placement), placement)
    }

    /// Runs a placement again for its links' traffic and its lines' homes.
    ///
    /// # Errors
    /// The model cannot run it.
    pub fn count(&self, seating: &mut DrawnPlacement) -> Result<(), SimError> {
        // A separate run, because the judge's runs keep no counters.
        let mut bed = CoherentBed::new(Arc::clone(&self.model));
        let handoffs = self.under(&seating.placement);
        handoffs_ns(&mut bed, &handoffs, &seating.placement)?;
        seating.homes = handoffs
            .handoffs
            .iter()
            .map(|handoff| self.model.home_of(handoff.line.line_index()))
            .map(|home| home.map(|home| home as usize))
            .collect();
        seating.counted = Some(bed.counters().link_messages());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::catalog;
    use seatmap_data::pattern::generate;

    #[test]
    fn impossible_messages_are_refused() {
        let machine = Machine::bundled("xeon-phi-5110p").unwrap();
        let profile = catalog::load("xeon-e5-2680-2s").unwrap();
        let pattern = generate("idle:4").unwrap();
        let request = PlaceRequest::new(&profile, &pattern);
        assert_eq!(Rehearsal::new(&machine, &request, ROUNDS).unwrap_err(), RehearsalError::Silent);
    }
}
