//! Runs all mappings: in parallel if runs cannot disturb each other, else one after the other in
//! random blocks.

use super::journal::RankJournal;
use super::{MappingTimes, MappingTrial, RankStudyError, Setup, TaskMapping, time_ns};
use rayon::prelude::*;
use seatmap_cell_sim::channels::Bed;
use seatmap_data::document::rounded_ns;
use seatmap_measure::journal::JournalError;
use seatmap_os::pool;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// The callback after each run with (done, wanted); `Break` stops the study.
pub type RunCallback<'a> = dyn FnMut(usize, usize) -> ControlFlow<()> + 'a;

/// Runs the missing mappings on a model per thread, whose times depend only on the setup. Returns
/// whether all times are known.
///
/// # Errors
/// The machine or the journal failed; the known times are in `times` and in the journal.
pub fn in_parallel<B: Bed>(
    setup: &Setup,
    times: &mut MappingTimes,
    bed: impl Fn() -> B + Send + Sync,
    journal: Option<&mut RankJournal>,
    observe: &mut RunCallback,
) -> Result<bool, RankStudyError<B::Error>> {
    let jobs = times.missing();
    let mut keeper = Keeper { times, journal, observe };
    let stop = AtomicBool::new(false);
    let Some(pool) = pool::get() else {
        // No threads are available: one after the other gives the same result.
        let mut bed = bed();
        return ended(
            jobs.into_iter().try_for_each(|job| keeper.keep(job, time(&mut bed, setup, job))),
        );
    };
    // Only this thread writes the journal.
    let (sender, receiver) = mpsc::channel();
    pool.in_place_scope(|scope| {
        let jobs = &jobs;
        let stop = &stop;
        let bed = &bed;
        scope.spawn(move |_| {
            // Ends early only if the receiver is dropped.
            let _ = jobs.par_iter().try_for_each_init(bed, |bed, job| {
                let timed =
                    if stop.load(Ordering::Relaxed) { return None } else { time(bed, setup, *job) };
                sender.send((*job, timed)).ok()
            });
        });
        let kept = receiver.into_iter().try_for_each(|(job, timed)| keeper.keep(job, timed));
        // Unstarted runs are skipped; the times of running ones are discarded.
        stop.store(true, Ordering::Relaxed);
        ended(kept)
    })
}

/// Runs the missing mappings one after the other. Each run has all mappings in a new order, so that
/// slow changes of the computer favour none (a randomised complete block design). Returns whether
/// all times are known.
///
/// # Errors
/// The machine or the journal failed; the known times are in `times` and in the journal.
pub fn in_blocks<B: Bed>(
    setup: &Setup,
    times: &mut MappingTimes,
    bed: &mut B,
    journal: Option<&mut RankJournal>,
    observe: &mut RunCallback,
) -> Result<bool, RankStudyError<B::Error>> {
    let mut jobs = times.missing();
    fastrand::Rng::with_seed(setup.seed).shuffle(&mut jobs);
    // A stable sort keeps the random order inside a run.
    jobs.sort_by_key(|job| job.run);
    let mut keeper = Keeper { times, journal, observe };
    ended(jobs.into_iter().try_for_each(|job| keeper.keep(job, time(bed, setup, job))))
}

pub(super) fn time<B: Bed>(
    bed: &mut B,
    setup: &Setup,
    job: MappingTrial,
) -> Result<f64, RankStudyError<B::Error>> {
    // Jobs have valid indices.
    let mapping = TaskMapping::nth(setup.tasks, job.index);
    let seats = mapping.as_ref().map(|mapping| setup.seats(mapping, job.run)).unwrap_or_default();
    time_ns(bed, &setup.program(), &seats, setup.seed_of(job)).map_err(|source| {
        let mapping = mapping.map_or_else(String::new, |mapping| mapping.to_string());
        RankStudyError::Machine { mapping, run: job.run + 1, source }
    })
}

type Early<E> = Option<RankStudyError<E>>;

fn ended<E: std::error::Error>(kept: Result<(), Early<E>>) -> Result<bool, RankStudyError<E>> {
    match kept {
        Ok(()) => Ok(true),
        Err(None) => Ok(false),
        Err(Some(error)) => Err(error),
    }
}

pub(super) struct Keeper<'a, 'o> {
    pub times: &'a mut MappingTimes,
    pub journal: Option<&'a mut RankJournal>,
    pub observe: &'a mut RunCallback<'o>,
}

impl Keeper<'_, '_> {
    fn keep<E: std::error::Error>(
        &mut self,
        job: MappingTrial,
        timed: Result<f64, RankStudyError<E>>,
    ) -> Result<(), Early<E>> {
        let ns = timed.map_err(Some)?;
        match self.note(job, ns).map_err(|error| Some(error.into()))? {
            Some(ControlFlow::Break(())) => Err(None),
            _ => Ok(()),
        }
    }

    /// Returns whether to continue; `None` if the time does not belong to a missing run.
    pub(super) fn note(
        &mut self,
        job: MappingTrial,
        ns: f64,
    ) -> Result<Option<ControlFlow<()>>, JournalError> {
        let ns = rounded_ns(ns);
        if !self.times.set(job, ns) {
            return Ok(None);
        }
        if let Some(journal) = &mut self.journal {
            journal.record(job, ns)?;
        }
        let total = self.times.total();
        let known = self.times.known();
        match (self.observe)(known, total) {
            // After the last run there is nothing to break off.
            ControlFlow::Break(()) if known < total => Ok(Some(ControlFlow::Break(()))),
            _ => Ok(Some(ControlFlow::Continue(()))),
        }
    }
}

#[cfg(test)]
mod tests;
