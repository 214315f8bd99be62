//! A pattern's messages on a model: the judge of placements where runs decide.

use crate::DrawnPlacement;
use seatmap_catalog::{Capability, Lacks, Machine, Runner};
use seatmap_place::{Judge, PlaceMethod, PlaceRequest};
use seatmap_sim::{CellBed, CellModel, CoherentBed, CoherentModel, SimError};
use seatmap_workload::long_messages::{LongMessages, MOST_TASKS};
use seatmap_workload::{Handoffs, handoffs_ns, messages_ns};
use std::sync::Arc;

/// The bytes that the heaviest edge sends where nobody says: four of the Cell's largest transfers.
pub const PACKET_BYTES: u32 = 64 << 10;

/// How often all messages are sent where nobody says.
pub const ROUNDS: u32 = 4;

/// The size and number of the messages that are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// Bytes of the heaviest edge's message, on machines that send long ones; [`PACKET_BYTES`]
    /// where nobody says.
    pub packet_bytes: Option<u32>,
    /// How often all messages are sent.
    pub rounds: u32,
}

impl Default for Messages {
    fn default() -> Self {
        Messages { packet_bytes: None, rounds: ROUNDS }
    }
}

/// Why the messages of a pattern cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RehearsalError {
    /// The machine runs no programs.
    #[error(transparent)]
    Lacks(#[from] Lacks),
    /// The machine is this computer.
    #[error(
        "--objective simulated runs the messages on a model; \
         'seatmap model fit host -o twin.toml' makes one of this host"
    )]
    Host,
    /// A size of messages for a machine whose messages all have one size.
    #[error(
        "--packet changes nothing on {0}, whose tasks hand over one cache line at a time; \
         leave --packet out"
    )]
    PacketOfLines(String),
    /// Nothing is sent, or by more tasks than the message library takes.
    #[error("--objective simulated takes a pattern of 2 to {MOST_TASKS} tasks that send something")]
    LongMessages,
    /// Nothing is sent.
    #[error("--objective simulated takes a pattern of tasks that send something")]
    Silent,
}

/// The messages of a pattern, ready to be run on a model under any placement.
#[derive(Clone, Debug)]
pub enum Rehearsal {
    /// Long messages between the local stores of a Cell.
    Cell(Arc<CellModel>, LongMessages),
    /// Messages over cache lines.
    Coherent(OverLines),
}

/// Messages over the cache lines of a coherent machine.
#[derive(Clone, Debug)]
pub struct OverLines {
    model: Arc<CoherentModel>,
    handoffs: Handoffs,
    /// Whether each channel has the line with the best home that is left of a quarter more lines
    /// than channels (Liu et al. 2015), and not just the next line.
    chooses_homes: bool,
}

impl OverLines {
    /// The messages over the lines that channels have under a placement.
    fn under(&self, placement: &[u32]) -> Handoffs {
        if self.chooses_homes {
            self.handoffs.near(placement, |pu, line| self.model.ways_to_home(pu, line))
        } else {
            self.handoffs.clone()
        }
    }
}

impl Rehearsal {
    /// The messages of a request's pattern on a machine.
    ///
    /// # Errors
    /// [`RehearsalError`].
    pub fn new(
        machine: &Machine,
        request: &PlaceRequest,
        messages: Messages,
    ) -> Result<Self, RehearsalError> {
        match machine.runner(Capability::RunsChannels)? {
            Runner::Host => Err(RehearsalError::Host),
            Runner::CellBe(model) => {
                let bytes = messages.packet_bytes.unwrap_or(PACKET_BYTES);
                LongMessages::along(request.pattern, bytes, messages.rounds)
                    .map(|program| Rehearsal::Cell(model, program))
                    .ok_or(RehearsalError::LongMessages)
            }
            // Before the general case: an option that would change nothing is an error, and not
            // silence.
            Runner::Coherent(_) if messages.packet_bytes.is_some() => {
                Err(RehearsalError::PacketOfLines(machine.given_name().to_owned()))
            }
            Runner::Coherent(model) => {
                let handoffs = Handoffs::along(request.pattern, 0, messages.rounds);
                if handoffs.handoffs.is_empty() {
                    return Err(RehearsalError::Silent);
                }
                // Pizza slices keep a channel's line in the slice, and the method includes the
                // choice of lines (Liu et al. 2015).
                let is_pizza = matches!(request.method, PlaceMethod::Pizza(_));
                let chooses_homes = request.homes || is_pizza;
                Ok(Rehearsal::Coherent(OverLines { model, handoffs, chooses_homes }))
            }
        }
    }

    /// The result of `work` with runs as its judge.
    pub fn judged<T>(&self, work: impl FnOnce(Judge) -> T) -> T {
        let time_ns =
            |placement: &[u32]| self.time_ns(placement).map_err(|error| error.to_string());
        work(Judge { time_ns: &time_ns, floor_ns: self.floor_ns() })
    }

    fn time_ns(&self, placement: &[u32]) -> Result<f64, SimError> {
        match self {
            Rehearsal::Cell(model, program) => {
                messages_ns(&mut CellBed::new(Arc::clone(model)), program, placement, 0)
            }
            Rehearsal::Coherent(over) => {
                let mut bed = CoherentBed::new(Arc::clone(&over.model));
                handoffs_ns(&mut bed, &over.under(placement), placement)
            }
        }
    }

    /// A time that no placement undercuts, in nanoseconds; 0 where none is known.
    fn floor_ns(&self) -> f64 {
        match self {
            Rehearsal::Cell(model, program) => {
                // Cycles over GHz are nanoseconds.
                program.floor_cycles(model.port_bytes_per_cycle()) / model.frequency_ghz
            }
            Rehearsal::Coherent(_) => 0.0,
        }
    }

    /// Runs a placement once more, for what its links carry and where its lines are at home.
    ///
    /// # Errors
    /// The model cannot run it.
    pub fn count(&self, seating: &mut DrawnPlacement) -> Result<(), SimError> {
        match self {
            Rehearsal::Cell(model, program) => {
                // A run of its own: the judge's runs are many, and keep no counters.
                let mut bed = CellBed::new(Arc::clone(model));
                messages_ns(&mut bed, program, &seating.placement, 0)?;
                seating.counted = Some(bed.counters().link_cycles());
            }
            Rehearsal::Coherent(over) => {
                let mut bed = CoherentBed::new(Arc::clone(&over.model));
                let handoffs = over.under(&seating.placement);
                handoffs_ns(&mut bed, &handoffs, &seating.placement)?;
                seating.homes = handoffs
                    .handoffs
                    .iter()
                    .map(|handoff| over.model.home_of(handoff.line.line_index()))
                    .map(|home| home.map(|home| home as usize))
                    .collect();
                seating.counted = Some(bed.counters().link_messages());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_machine::Profile;
    use seatmap_pattern::generate;

    /// A bundled machine and its profile.
    fn machine(name: &str) -> (Machine, Profile) {
        let machine = Machine::bundled(name).unwrap();
        let surroundings = seatmap_catalog::Surroundings {
            today: "2026-01-01",
            tool: "test",
            read: &|_| Err(std::io::ErrorKind::NotFound.into()),
        };
        let profile = machine.profile(&surroundings).unwrap();
        (machine, profile)
    }

    fn refusal(name: &str, pattern: &str, messages: Messages) -> String {
        let (machine, profile) = machine(name);
        let pattern = generate(pattern).unwrap();
        let request = PlaceRequest::new(&profile, &pattern);
        Rehearsal::new(&machine, &request, messages).unwrap_err().to_string()
    }

    #[test]
    fn a_run_is_longer_than_its_floor_and_is_counted() {
        let (machine, profile) = machine("cell-ps3");
        let pattern = generate("ring:4").unwrap();
        let request = PlaceRequest::new(&profile, &pattern);
        let rehearsal = Rehearsal::new(&machine, &request, Messages::default()).unwrap();
        let placement = request.in_order().unwrap();
        let [time_ns, floor_ns] =
            rehearsal.judged(|judge| [(judge.time_ns)(&placement).unwrap(), judge.floor_ns]);
        assert!(0.0 < floor_ns && floor_ns < time_ns, "{floor_ns} {time_ns}");
        let plan = seatmap_plan::Plan::new("cell-ps3", placement);
        let mut seating = DrawnPlacement::planned(&pattern, &plan);
        rehearsal.count(&mut seating).unwrap();
        assert!(seating.counted.unwrap().iter().sum::<f64>() > 0.0);
    }

    #[test]
    fn messages_that_cannot_be_run_are_refused() {
        let usual = Messages::default();
        assert_eq!(
            refusal("cell-ps3", "ring:40", usual),
            format!(
                "--objective simulated takes a pattern of 2 to {MOST_TASKS} tasks that send something"
            )
        );
        assert_eq!(
            refusal("xeon-phi-5110p", "idle:4", usual),
            "--objective simulated takes a pattern of tasks that send something"
        );
        let sized = Messages { packet_bytes: Some(4096), ..usual };
        assert!(
            refusal("xeon-phi-5110p", "ring:4", sized)
                .starts_with("--packet changes nothing on xeon-phi-5110p, whose tasks")
        );
    }
}
