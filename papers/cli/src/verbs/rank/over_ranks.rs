//! A study distributed over the ranks of a launch.

use super::request::RankStudyRequest;
use crate::args::RankStudy;
use crate::machine::{self, ExperimentRunner};
use seatmap_cell_sim::CellBed;
use seatmap_cell_sim::channels::Bed;
use seatmap_console::error::CliError;
use seatmap_console::over_ranks::{LaunchedRank, tell};
use seatmap_experiments::rank::journal::RankJournal;
use seatmap_experiments::rank::spread::{self, SpreadStudyError};
use seatmap_experiments::rank::study::RunCallback;
use seatmap_experiments::rank::{MappingTimes, Setup};
use seatmap_machines::catalog::Capability;
use seatmap_sim::CoherentBed;
use std::sync::Arc;

/// Works for rank 0 until all work is done.
///
/// # Errors
/// This rank has other options than rank 0, cannot find it, or cannot run the study.
pub fn follow(start: &LaunchedRank, typed: &RankStudy) -> Result<(), CliError> {
    let runner = machine::runner(&typed.on, Capability::RunsChannels, &typed.figures)?;
    runner.check_ranks()?;
    let setup = RankStudyRequest { runner: &runner, pus: &[] }.setup(typed)?;
    let done = match &runner {
        ExperimentRunner::CellBe(model) => {
            spread::follow(start.ranks(), &setup, || CellBed::new(Arc::clone(model)))
        }
        ExperimentRunner::Coherent(model) => {
            spread::follow(start.ranks(), &setup, || CoherentBed::new(Arc::clone(model)))
        }
        ExperimentRunner::Host => unreachable!("a host was refused"),
    };
    done?;
    Ok(())
}

/// Distributes the study. Returns whether all times are known now.
///
/// # Errors
/// The machine failed on a rank, or the ranks cannot connect. Lost ranks are reported, and others
/// do their runs.
pub fn lead<B: Bed>(
    start: &LaunchedRank,
    setup: &Setup,
    times: &mut MappingTimes,
    bed: impl Fn() -> B + Send + Sync,
    journal: Option<&mut RankJournal>,
    callbacks: (&mut RunCallback, &dyn Fn() -> bool),
) -> Result<bool, CliError> {
    let spread =
        spread::lead(start.ranks(), setup, times, bed, journal, callbacks).map_err(|error| {
            match error {
                SpreadStudyError::Spread(error) => error.into(),
                other @ SpreadStudyError::Journal(_) => CliError::work(other),
            }
        })?;
    tell(&spread);
    Ok(spread.is_whole)
}
