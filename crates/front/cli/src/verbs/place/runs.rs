//! Placements judged by runs on a model.

use crate::args::{MethodChoice, Place};
use seatmap_catalog::{Capability, Machine, Runner};
use seatmap_console::error::CliError;
use seatmap_pattern::Pattern;
use seatmap_place::{Judge, PlaceError};
use seatmap_report::floor::DrawnPlacement;
use seatmap_sim::catalog::Model;
use seatmap_sim::{CellBed, CellModel, CoherentBed, CoherentModel};
use seatmap_workload::long_messages::{LongMessages, MOST_TASKS};
use seatmap_workload::{Handoffs, handoffs_ns, messages_ns};
use std::sync::Arc;

/// The result of `work` where the pattern's messages, run on the simulated machine, are the judge.
pub(super) fn judged<T>(
    typed: &Place,
    machine: &Machine,
    pattern: &Pattern,
    work: impl FnOnce(Judge) -> Result<T, PlaceError>,
) -> Result<T, CliError> {
    match machine.runner(Capability::RunsChannels).map_err(CliError::input)? {
        Runner::CellBe(model) => by_long_messages(typed, pattern, &model, work),
        Runner::Coherent(model) => by_handoffs(typed, pattern, &model, work),
        Runner::Host => Err(CliError::input(
            "--objective simulated runs the messages on a model; 'seatmap model fit host -o twin.toml' makes one of this host",
        )),
    }
}

/// Runs one placement once more, for what its links carry and where its lines are at home.
pub(super) fn count(
    typed: &Place,
    pattern: &Pattern,
    model: &Model,
    seating: &mut DrawnPlacement,
) -> Result<(), CliError> {
    match model {
        Model::Cell(model) => {
            let mut bed = CellBed::new(Arc::clone(model));
            let messages = long_messages(typed, pattern)?;
            messages_ns(&mut bed, &messages, &seating.placement, 0).map_err(CliError::work)?;
            seating.counted = Some(bed.counters().link_cycles());
        }
        Model::Coherent(model) => {
            let mut bed = CoherentBed::new(Arc::clone(model));
            let near = near(typed, &handoffs(typed, pattern)?, model, &seating.placement);
            handoffs_ns(&mut bed, &near, &seating.placement).map_err(CliError::work)?;
            let home = |line| model.home_of(line).map(|home| home as usize);
            seating.homes =
                near.handoffs.iter().map(|handoff| home(handoff.line.line_index())).collect();
            seating.counted = Some(bed.counters().link_messages());
        }
    }
    Ok(())
}

fn by_long_messages<T>(
    typed: &Place,
    pattern: &Pattern,
    model: &Arc<CellModel>,
    work: impl FnOnce(Judge) -> Result<T, PlaceError>,
) -> Result<T, CliError> {
    let program = long_messages(typed, pattern)?;
    let floor_ns = program.floor_cycles(model.port_bytes_per_cycle()) / model.frequency_ghz;
    let run = |placement: &[u32]| {
        messages_ns(&mut CellBed::new(Arc::clone(model)), &program, placement, 0)
            .map_err(|error| error.to_string())
    };
    work(Judge { time_ns: &run, floor_ns }).map_err(CliError::input)
}

fn by_handoffs<T>(
    typed: &Place,
    pattern: &Pattern,
    model: &Arc<CoherentModel>,
    work: impl FnOnce(Judge) -> Result<T, PlaceError>,
) -> Result<T, CliError> {
    if typed.packet.is_some() {
        let machine = &typed.on;
        return Err(CliError::input(format!(
            "--packet changes nothing on {machine}, whose tasks hand over one cache line at a time; leave --packet out"
        )));
    }
    let program = handoffs(typed, pattern)?;
    let run = |placement: &[u32]| {
        let near = near(typed, &program, model, placement);
        handoffs_ns(&mut CoherentBed::new(Arc::clone(model)), &near, placement)
            .map_err(|error| error.to_string())
    };
    work(Judge { time_ns: &run, floor_ns: 0.0 }).map_err(CliError::input)
}

fn long_messages(typed: &Place, pattern: &Pattern) -> Result<LongMessages, CliError> {
    LongMessages::along(pattern, typed.packet_bytes(), typed.rounds()).ok_or_else(|| {
        CliError::input(format!(
            "--objective simulated takes a pattern of 2 to {MOST_TASKS} tasks that send something"
        ))
    })
}

fn handoffs(typed: &Place, pattern: &Pattern) -> Result<Handoffs, CliError> {
    let program = Handoffs::along(pattern, 0, typed.rounds());
    if program.handoffs.is_empty() {
        Err(CliError::input("--objective simulated takes a pattern of tasks that send something"))
    } else {
        Ok(program)
    }
}

/// Each channel has a line of its own: the next one, or, where homes are to be chosen, the best
/// that is left of a quarter more lines than channels (Liu et al. 2015).
fn near(typed: &Place, program: &Handoffs, model: &CoherentModel, placement: &[u32]) -> Handoffs {
    if typed.homes || typed.method == MethodChoice::Pizza {
        program.near(placement, |pu, line| model.ways_to_home(pu, line))
    } else {
        program.clone()
    }
}
