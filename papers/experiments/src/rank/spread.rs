//! A study on a model, spread over the ranks of one start: rank 0 assigns runs, and all ranks run
//! them.
//!
//! The time of a run depends only on the setup, so the result is to the byte that of one process,
//! whichever rank does a run.

use super::journal::RankJournal;
use super::study::{Keeper, RunCallback, time};
use super::{MappingTimes, MappingTrial, Setup};
use seatmap_cell_sim::channels::Bed;
use seatmap_cluster::spread::{Ranks, SpreadError, SpreadOutcome};
use seatmap_data::document::with_causes;
use seatmap_measure::journal::JournalError;
use seatmap_os::pool;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a study over ranks failed.
#[derive(Debug, thiserror::Error)]
pub enum SpreadStudyError {
    /// The ranks failed, or the machine on one of them.
    #[error(transparent)]
    Spread(#[from] SpreadError),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Runs the missing mappings as rank 0. [`SpreadOutcome::is_whole`] reports whether all times are
/// known. `is_asked` ends the study early.
///
/// # Errors
/// [`SpreadStudyError`]. A rank that exits is not an error: others do its runs.
pub fn lead<B: Bed>(
    ranks: Ranks<'_>,
    setup: &Setup,
    times: &mut MappingTimes,
    bed: impl Fn() -> B + Send + Sync,
    journal: Option<&mut RankJournal>,
    (observe, is_asked): (&mut RunCallback, &dyn Fn() -> bool),
) -> Result<SpreadOutcome, SpreadStudyError> {
    let missing = times.missing();
    let mut keeper = Keeper { times, journal, observe };
    let mut failed = None;
    let spread = ranks.lead(
        &name(setup),
        &missing,
        &|jobs, is_over| done(setup, &bed, jobs, is_over),
        &mut |jobs, ns| {
            note(&mut keeper, jobs, ns).unwrap_or_else(|error| {
                // The ranks' protocol has no such errors, so it is kept until the end.
                failed = Some(error);
                ControlFlow::Break(())
            })
        },
        &|| if is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
    )?;
    failed.map_or(Ok(spread), Err)
}

/// Runs mappings for rank 0, as another rank, until none is left. Returns the number of parts done.
///
/// # Errors
/// [`SpreadError`].
pub fn follow<B: Bed>(
    ranks: Ranks<'_>,
    setup: &Setup,
    bed: impl Fn() -> B + Send + Sync,
) -> Result<usize, SpreadError> {
    ranks.follow(&name(setup), &|jobs: &[MappingTrial], is_over: &AtomicBool| {
        done(setup, &bed, jobs, is_over)
    })
}

fn name(setup: &Setup) -> String {
    seatmap_data::document::written(setup)
}

fn done<B: Bed>(
    setup: &Setup,
    bed: &(impl Fn() -> B + Send + Sync),
    jobs: &[MappingTrial],
    is_over: &AtomicBool,
) -> Result<Vec<f64>, String> {
    pool::try_map(jobs, bed, |bed, job| {
        if is_over.load(Ordering::Relaxed) {
            Err("the result is no longer needed".to_owned())
        } else {
            time(bed, setup, *job).map_err(|error| with_causes(&error))
        }
    })
}

fn note(
    keeper: &mut Keeper<'_, '_>,
    jobs: &[MappingTrial],
    ns: &[f64],
) -> Result<ControlFlow<()>, SpreadStudyError> {
    for (job, ns) in jobs.iter().zip(ns) {
        match keeper.note(*job, *ns)? {
            // An impossible time, or one of a known run: another version, or a damaged message.
            None => return Err(SpreadError::Numbers.into()),
            Some(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
            Some(ControlFlow::Continue(())) => {}
        }
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests;
