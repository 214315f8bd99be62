//! Converts command lines into cells, requests and programs, or usage errors.

use crate::args::{CellCreate, CellRun};
use seatmap_cell::{CellHost, CellRecord, CellRequest, CpuChoice};
use seatmap_console::error::CliError;
use seatmap_console::{input, pattern_input, plan_input, stdio};
use seatmap_launch::{Executable, GrantedSeats, SeatSource, SeatingError, SeatingRequest};
use seatmap_os::CpuSet;
use seatmap_place::PlaceRequest;
use std::num::NonZeroUsize;

pub fn cell(host: &CellHost, typed: &CellCreate) -> Result<CellRequest, CliError> {
    typed.cell.check(typed.pattern.is_some())?;
    Ok(typed.cell.on(cpus(host, typed)?))
}

fn cpus(host: &CellHost, typed: &CellCreate) -> Result<CpuSet, CliError> {
    let cell = &typed.cell;
    if let Some(list) = &cell.cpus {
        return match typed.profile {
            None => Ok(list.into()),
            Some(_) => Err(CliError::input(
                "--cpus gives the CPUs and --profile chooses them; leave one of them out",
            )),
        };
    }
    let mut choice = CpuChoice::for_new(host, &cell.name)?;
    let profile = typed.profile.as_deref().map(input::profile).transpose()?;
    if let (Some(pattern), Some(profile)) = (&typed.pattern, &profile) {
        let pattern = pattern_input::pattern(pattern)?;
        let mut request = PlaceRequest::new(profile, &pattern);
        request.cpus = Some(choice.candidates(pattern.tasks)?);
        let answer = request.place().map_err(CliError::input)?;
        return Ok(answer.placement.into_iter().collect());
    }
    if !cell.untested {
        // If stolen time cannot be measured, it is ignored.
        let noise = seatmap_health::noise::measure_briefly(&choice.free.list().0);
        choice.steal_percent = noise.map(|noise| noise.steal_percent()).unwrap_or_default();
    }
    Ok(choice.best(cell.count.map(NonZeroUsize::get), profile.as_ref())?)
}

pub struct ProgramInCell {
    pub cell: CellRecord,
    /// The program, with its cell in its environment.
    pub program: Executable,
    pub seats: GrantedSeats,
}

/// The program, with seats among the CPUs of its cell.
pub fn program(host: &CellHost, typed: &CellRun) -> Result<ProgramInCell, CliError> {
    let words: Vec<_> = std::env::args_os().collect();
    let (name, command) = typed.cell_and_command(&words).map_err(CliError::input)?;
    let cell = host.cell(&name)?;
    let plan = typed.plan.as_deref().map(plan_input::plan).transpose()?;
    let seats = SeatSource::Cell(Box::new(cell.clone()), plan.map(Box::new));
    let seating = SeatingRequest { seats, ..SeatingRequest::default() };
    let seats = seating.grant().map_err(|error| match (&error, &typed.plan) {
        (SeatingError::OutsideCell { .. }, Some(path)) => CliError::at(path, error),
        _ => error.into(),
    })?;
    let mut program = Executable::find(&command).map_err(CliError::input)?;
    program.closed = stdio::closed();
    let program = program.in_cell(&host.root, &cell);
    Ok(ProgramInCell { cell, program, seats })
}
