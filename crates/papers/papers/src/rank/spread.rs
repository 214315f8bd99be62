//! A study on a model, spread over the ranks of one start: rank 0 hands out runs, and all ranks run them.
//!
//! The time of a run depends on nothing but the setup, so the result is to the byte that of one process, whichever rank
//! does a run, and however often.

use super::journal::RankJournal;
use super::study::{Keeper, Observe, time};
use super::{Job, RankError, Setup, Times};
use rayon::prelude::*;
use seatmap_cluster::Rank;
use seatmap_cluster::spread::{self, Meet, Spread, SpreadError, Work};
use seatmap_measure::journal::JournalError;
use seatmap_port::channels::Bed;
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Parts for each rank: enough that all end at about the same time, and that little is lost with a rank.
const PARTS_A_RANK: usize = 32;

/// The runs of a part, at least, so that each CPU of a node has some.
const FEWEST_RUNS: usize = 16;

/// Why a study over ranks is not done.
#[derive(Debug, thiserror::Error)]
pub enum SpreadStudyError {
    /// The ranks failed, or the machine on one of them.
    #[error(transparent)]
    Spread(#[from] SpreadError),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A rank brought a result that cannot be one.
    #[error("a rank brought times that are not those of its part")]
    Result,
}

/// The ranks of a start, seen from one of them.
#[derive(Clone, Copy, Debug)]
pub struct Ranks<'a> {
    /// This rank.
    pub rank: &'a Rank,
    /// Where it meets the others.
    pub meet: &'a Meet,
    /// The name of its node.
    pub node: &'a str,
}

impl Ranks<'_> {
    /// Runs what is missing, as rank 0. [`Spread::is_whole`] says whether all is known now. `is_asked` says that the
    /// study is to end early.
    ///
    /// # Errors
    /// [`SpreadStudyError`]. A rank that goes away is none: others do its runs.
    pub fn lead<B: Bed>(
        &self,
        setup: &Setup,
        times: &mut Times,
        bed: impl Fn() -> B + Send + Sync,
        journal: Option<&mut RankJournal>,
        (observe, is_asked): (&mut Observe, &dyn Fn() -> bool),
    ) -> Result<Spread, SpreadStudyError> {
        let missing = times.missing();
        let of_part = (missing.len() / (PARTS_A_RANK * self.rank.size)).max(FEWEST_RUNS);
        let jobs: Vec<&[Job]> = missing.chunks(of_part).collect();
        let parts: Vec<String> = jobs.iter().map(|jobs| text_of(jobs)).collect();
        let mut keeper = Keeper { times, journal, observe };
        let mut failed = None;
        let mut take = |part: usize, text: &str| match keep(&mut keeper, jobs[part], text) {
            Ok(flow) => flow,
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        };
        let look = || if is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let (name, part) = (name(setup), |text: &str, is_over: &AtomicBool| done(setup, &bed, text, is_over));
        let work = Work { name: &name, node: self.node, part: &part };
        let spread = spread::lead(self.rank, self.meet, work, &parts, &mut take, &look)?;
        failed.map_or(Ok(spread), Err)
    }

    /// Runs what rank 0 says, as another rank, until nothing is left. The number of parts that it did.
    ///
    /// # Errors
    /// [`SpreadError`].
    pub fn follow<B: Bed>(&self, setup: &Setup, bed: impl Fn() -> B + Send + Sync) -> Result<usize, SpreadError> {
        let (name, part) = (name(setup), |text: &str, is_over: &AtomicBool| done(setup, &bed, text, is_over));
        spread::follow(self.rank, self.meet, Work { name: &name, node: self.node, part: &part })
    }
}

/// All that the times depend on: ranks with another setup have other work.
fn name(setup: &Setup) -> String {
    seatmap_document::written(setup)
}

fn text_of(jobs: &[Job]) -> String {
    seatmap_document::written(&jobs)
}

/// The times of a part's runs, as text.
fn done<B: Bed>(
    setup: &Setup,
    bed: &(impl Fn() -> B + Send + Sync),
    text: &str,
    is_over: &AtomicBool,
) -> Result<String, String> {
    let jobs: Vec<Job> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let one = |bed: &mut B, job: &Job| match is_over.load(Ordering::Relaxed) {
        true => Err("nobody wants the result any more".to_owned()),
        false => time(bed, setup, *job).map_err(|error| words(&error)),
    };
    let times = jobs.par_iter().map_init(bed, one).collect::<Result<Vec<f64>, String>>()?;
    Ok(seatmap_document::written(&times))
}

/// An error with its causes, in one line.
fn words<E: Error + 'static>(error: &RankError<E>) -> String {
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

fn keep(keeper: &mut Keeper<'_, '_>, jobs: &[Job], text: &str) -> Result<ControlFlow<()>, SpreadStudyError> {
    let times: Vec<f64> = serde_json::from_str(text).map_err(|_| SpreadStudyError::Result)?;
    if times.len() != jobs.len() {
        return Err(SpreadStudyError::Result);
    }
    for (job, ns) in jobs.iter().zip(times) {
        match keeper.note(*job, ns)? {
            None => return Err(SpreadStudyError::Result),
            Some(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
            Some(ControlFlow::Continue(())) => {}
        }
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests;
