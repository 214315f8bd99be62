//! `seatmap-papers place`: finds the best SPEs for the tasks of a pattern, by simulated message
//! times.

use crate::args::CellBePlaceArgs;
use crate::machine;
use seatmap_cell_sim::workload::long_messages::{LongMessages, MOST_TASKS, messages_ns};
use seatmap_cell_sim::{CellBed, CellModel, profile};
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::{here, pattern_input};
use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::{Objective, Plan};
use seatmap_measure::appraise::DrawnPlacement;
use seatmap_papers_report::eib;
use seatmap_place::{PlaceRequest, TrialJudge};
use seatmap_report::floor::{self, SeatingComparison};
use seatmap_report::placement;
use seatmap_sim::SimError;
use std::sync::Arc;

pub fn run(typed: &CellBePlaceArgs) -> Result<(), CliError> {
    let plan_file = output::beside(typed.output.as_deref(), None, "-o")?;
    let picture = output::beside(typed.svg.as_deref(), None, "--svg")?;
    let on_stdout =
        [&plan_file, &picture].iter().filter(|to| ***to == Some(Destination::Stdout)).count();
    if on_stdout + usize::from(typed.json) > 1 {
        return Err(CliError::input("only one of --json, -o - and --svg - can have stdout"));
    }
    let model = machine::cell(&typed.on, &typed.figures)?;
    let pattern = pattern_input::pattern(&typed.pattern)?;
    let messages = Messages::new(model, &pattern, typed)?;
    let profile = profile(&messages.model)?;
    let request = PlaceRequest {
        objective: Objective::Simulated,
        cpus: typed.cpus.as_ref().map(|cpus| cpus.0.clone()),
        method: typed.method.into(),
        limit: typed.time().limit(),
        ..PlaceRequest::new(&profile, &pattern)
    };
    let request = request.settled().map_err(CliError::input)?;
    let plan = messages.placed(&request)?;
    if let Some(to) = &plan_file {
        to.write(&plan.to_json())?;
    }
    if let Some(to) = &picture {
        to.write(&drawn(&messages, &profile, &pattern, &plan, &request)?)?;
    }
    match (typed.json, on_stdout) {
        (true, _) => output::print_exact(&plan.to_json()),
        (_, 0) => output::show(&placement::table(&plan)),
        _ => Ok(()),
    }
}

/// Draws the plan next to the tasks in the OS's order, with each link's busy cycles.
fn drawn(
    messages: &Messages,
    profile: &Profile,
    pattern: &Pattern,
    plan: &Plan,
    request: &PlaceRequest,
) -> Result<String, CliError> {
    let in_order = request.in_order().map_err(CliError::input)?;
    let mut both = [
        DrawnPlacement::in_order(profile, pattern, plan, in_order),
        DrawnPlacement::planned(pattern, plan),
    ];
    for seating in &mut both {
        messages.count(seating)?;
    }
    let comparison = SeatingComparison::new(eib::floor(&messages.model), pattern, plan, both);
    Ok(floor::svg(&comparison.counting("busy cycle")))
}

struct Messages {
    model: Arc<CellModel>,
    program: LongMessages,
}

impl Messages {
    fn new(
        model: Arc<CellModel>,
        pattern: &Pattern,
        typed: &CellBePlaceArgs,
    ) -> Result<Self, CliError> {
        let program = LongMessages::along(pattern, typed.packet, typed.rounds);
        let program = program.ok_or_else(|| {
            CliError::input(format!(
                "place takes a pattern of 2 to {MOST_TASKS} tasks that send something"
            ))
        })?;
        Ok(Messages { model, program })
    }

    fn placed(&self, request: &PlaceRequest) -> Result<Plan, CliError> {
        // Cycles divided by GHz are nanoseconds.
        let floor_ns =
            self.program.floor_cycles(self.model.port_bytes_per_cycle()) / self.model.frequency_ghz;
        let answer = request
            .place_by(TrialJudge { time_ns: &|placement| self.time_ns(placement), floor_ns })
            .map_err(CliError::input)?;
        let mut plan = request.plan(&answer);
        plan.date = Some(here::today());
        plan.tool = Some(here::tool());
        Ok(plan)
    }

    fn time_ns(&self, placement: &[u32]) -> Result<f64, String> {
        let mut bed = CellBed::new(Arc::clone(&self.model));
        messages_ns(&mut bed, &self.program, placement, 0).map_err(|error| error.to_string())
    }

    /// Runs a placement again to count its links' traffic.
    fn count(&self, seating: &mut DrawnPlacement) -> Result<(), SimError> {
        let mut bed = CellBed::new(Arc::clone(&self.model));
        messages_ns(&mut bed, &self.program, &seating.placement, 0)?;
        seating.counted = Some(bed.counters().link_cycles());
        Ok(())
    }
}
