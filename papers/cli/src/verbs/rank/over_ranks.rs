//! A study over the ranks of one start.

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

/// Works for rank 0 until nothing is left to do.
///
/// # Errors
/// This rank was started otherwise than rank 0, does not find it, or cannot run the study.
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

/// Has the study done by all ranks. Whether all is known now.
///
/// # Errors
/// The machine failed on a rank, or the ranks cannot meet. Ranks that go away are told, and others
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
