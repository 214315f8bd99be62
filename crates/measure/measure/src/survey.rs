//! The survey of a whole machine.

use crate::busy_scan::BusyScan;
use crate::error::MeasureError;
use crate::fit::{linkage, siblings};
use crate::home_scan::HomeScan;
use crate::homes::crowd::Crowd;
use crate::interference::{self, Interference};
use crate::journal::{Journal, JournalHeader, JournalOptions, MachineIdentity};
use crate::matrix::{self, MatrixProgress, MatrixRun};
use crate::plan::SurveyPlan;
use crate::probe::Probe;
use crate::samples::Samples;
use crate::{assemble, fit, homes, load};
use seatmap_data::machine::{CoreDistance, HomeModel, LoadedPoint, Topology};
use std::ops::ControlFlow;

/// A survey request.
#[derive(Clone)]
pub struct SurveyRequest {
    /// OS indices, in matrix order.
    pub pus: Vec<u32>,
    /// How much to measure.
    pub plan: SurveyPlan,
    /// Measure pairs of different cache groups simultaneously, if that does not change the figures.
    pub parallel: bool,
    /// Candidate lines to sort by home; below 2, none are sorted.
    pub homes: u32,
    /// Share of all PUs, in percent, that communicate in random pairs during the sorting.
    pub utilisation_percent: u32,
    /// Measure the loaded curve.
    pub loaded: bool,
}

impl SurveyRequest {
    /// The journal header of such a run.
    pub fn header(&self, machine: MachineIdentity) -> JournalHeader {
        let options = JournalOptions {
            least_passes: self.plan.passes.least,
            most_passes: self.plan.most_passes(),
            batches: self.plan.batches,
            round_trips: self.plan.round_trips,
            parallel: self.parallel,
            homes: self.homes,
            utilisation_percent: self.utilisation_percent,
            loaded: self.loaded,
        };
        JournalHeader { machine, pus: self.pus.clone(), options, seed: self.plan.seed }
    }
}

/// The results of a survey.
pub struct Survey {
    /// Core distances at one line.
    pub core_distance: CoreDistance,
    /// Explanation of the distances, if found.
    pub home_model: Option<HomeModel>,
    /// Loaded curve, if requested.
    pub loaded: Vec<LoadedPoint>,
    /// Seed of its random pairs.
    pub loaded_seed: Option<u64>,
    /// Unmet requests.
    pub warnings: Vec<Warning>,
}

/// A request that could not be met.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Warning {
    /// Simultaneous pairs disturb each other.
    #[error(
        "--parallel was not used: pairs measured at the same time differ by {:.1} % from the same \
         pairs alone (limit: {:.0} %)",
        100.0 * .difference,
        100.0 * interference::TOLERANCE
    )]
    ParallelDisturbs {
        /// Median relative difference between pairs measured together and alone.
        difference: f64,
    },
    /// Simultaneous pairs could not be compared with the same pairs alone.
    #[error(
        "--parallel was not used: pairs measured at the same time were disturbed too often to \
         compare them with the same pairs alone"
    )]
    ParallelUnseen,
    /// With a single group, pairs cannot run simultaneously.
    #[error(
        "--parallel has no effect: all CPUs are in one cache group, whose pairs would disturb each \
         other"
    )]
    ParallelNeedsGroups,
    /// The memory bandwidth is of fewer rounds than planned.
    #[error("memory bandwidth: interrupted; {rounds} of {planned} planned rounds were kept")]
    FewRounds {
        /// Finished rounds.
        rounds: u32,
        /// Planned rounds.
        planned: u32,
    },
    /// Too little memory is free for arrays of four times the last-level caches.
    #[error(
        "memory bandwidth: too little memory is free for arrays of four times the last-level \
         caches; with {array_over_cache:.1} times, the rates may include cache hits"
    )]
    SmallArrays {
        /// Size of an array, relative to the caches.
        array_over_cache: f64,
    },
}

/// The progress of a survey.
pub enum SurveyProgress<'a> {
    /// The matrix.
    Matrix(&'a MatrixProgress<'a>),
    /// Homes: visits made and visits in total.
    Homes(u64, u64),
    /// The loaded curve: the latest point and the number of remaining ones.
    Loaded(&'a LoadedPoint, usize),
}

/// How a survey ended.
pub enum SurveyOutcome {
    /// Everything requested.
    Whole(Box<Survey>),
    /// The observer ended it; this many visits are in the journal.
    Early(u64),
}

/// Counts candidate lines that a probe must offer.
pub fn lines_needed(request: &SurveyRequest, topology: &Topology) -> u32 {
    let groups = traffic_groups(topology, &request.pus);
    let matrix = matrix::lines_needed(&groups, together(request, &groups));
    let loaded = if request.loaded { load::lines_needed(request.pus.len()) } else { 1 };
    let homes = request.homes + 2 * pairs_at_once(request, topology) as u32;
    matrix.max(loaded).max(homes)
}

fn pairs_at_once(request: &SurveyRequest, topology: &Topology) -> usize {
    let share = request.utilisation_percent as usize;
    // Two PUs form a pair; at least one pair if the share is above 0.
    (topology.pus.len() * share / 200).max(share.min(1))
}

/// Measures the pairs missing in `samples` and other requests. `observe` runs between measurements
/// and ends the survey by breaking.
///
/// # Errors
/// [`MeasureError`]; finished pairs are in the journal.
pub fn survey<P: Probe>(
    probe: &mut P,
    topology: &Topology,
    request: &SurveyRequest,
    journal: Option<&mut Journal>,
    samples: Samples,
    observe: &mut dyn FnMut(&SurveyProgress) -> ControlFlow<()>,
) -> Result<SurveyOutcome, MeasureError<P::Error>> {
    let group_of = traffic_groups(topology, &request.pus);
    let mut warnings = Vec::new();
    let together = permitted(probe, request, &group_of, &mut warnings)?;
    let run =
        MatrixRun { probe, plan: &request.plan, group_of: &group_of, together, journal, samples };
    let outcome = run.measure(&mut |progress| observe(&SurveyProgress::Matrix(progress)))?;
    let visits = outcome.visits();
    if !outcome.finished {
        return Ok(SurveyOutcome::Early(visits));
    }
    let core_distance =
        assemble::core_distance(&outcome, &request.plan, probe.clock_step_ns(), together > 1);
    let mut home_model = fit::explain(&core_distance, topology);
    if let Some(model) = home_model.as_mut().filter(|_| request.homes > 1) {
        let sorted = sort_homes(probe, topology, request, (&core_distance, model), observe)?;
        if sorted.is_none() {
            return Ok(SurveyOutcome::Early(visits));
        }
    }
    let Some(loaded) = loaded(probe, request, observe)? else {
        return Ok(SurveyOutcome::Early(visits));
    };
    let loaded_seed = request.loaded.then_some(request.plan.seed);
    Ok(SurveyOutcome::Whole(Box::new(Survey {
        core_distance,
        home_model,
        loaded,
        loaded_seed,
        warnings,
    })))
}

fn sort_homes<P: Probe>(
    probe: &mut P,
    topology: &Topology,
    request: &SurveyRequest,
    (distance, model): (&CoreDistance, &mut HomeModel),
    observe: &mut dyn FnMut(&SurveyProgress) -> ControlFlow<()>,
) -> Result<Option<()>, MeasureError<P::Error>> {
    let lines = request.homes;
    let plan = &request.plan;
    let mut progress = |done, all| observe(&SurveyProgress::Homes(done, all));
    match pairs_at_once(request, topology) {
        0 => {
            let scanned = HomeScan { distance, model, topology, lines, plan }
                .measure(probe, &mut progress)?;
            Ok(scanned.map(|samples| homes::fit_homes(model, &samples)))
        }
        pairs => {
            let scanned = BusyScan { distance, topology, lines, pairs, plan }
                .measure(probe, &mut progress)?;
            let pus = &distance.pus;
            let core = &siblings::cores(distance, topology);
            Ok(scanned.map(|talks| {
                Crowd { pus, core, lines: lines as usize, talks: &talks }.fit_homes(model)
            }))
        }
    }
}

fn loaded<P: Probe>(
    probe: &mut P,
    request: &SurveyRequest,
    observe: &mut dyn FnMut(&SurveyProgress) -> ControlFlow<()>,
) -> Result<Option<Vec<LoadedPoint>>, MeasureError<P::Error>> {
    if !request.loaded {
        return Ok(Some(Vec::new()));
    }
    let mut stopped = false;
    let curve = load::curve(probe, &request.pus, &request.plan, &mut |point, left| {
        let flow = observe(&SurveyProgress::Loaded(point, left));
        stopped = flow.is_break();
        flow
    })?;
    Ok((!stopped).then_some(curve))
}

/// Allows one, unless more are requested and do not change the figures.
fn permitted<P: Probe>(
    probe: &mut P,
    request: &SurveyRequest,
    group_of: &[usize],
    warnings: &mut Vec<Warning>,
) -> Result<usize, MeasureError<P::Error>> {
    let together = together(request, group_of);
    if together <= 1 {
        warnings.extend(request.parallel.then_some(Warning::ParallelNeedsGroups));
        return Ok(1);
    }
    match interference::of_pairs(probe, &request.pus, group_of, together, &request.plan)? {
        Interference::Differs(difference) if difference > interference::TOLERANCE => {
            warnings.push(Warning::ParallelDisturbs { difference });
            Ok(1)
        }
        Interference::Unseen => {
            warnings.push(Warning::ParallelUnseen);
            Ok(1)
        }
        Interference::Impossible | Interference::Differs(_) => Ok(together),
    }
}

fn together(request: &SurveyRequest, group_of: &[usize]) -> usize {
    if request.parallel { linkage::count(group_of).max(1) } else { 1 }
}

/// The L3 cache, otherwise the package, otherwise one group.
fn traffic_groups(topology: &Topology, pus: &[u32]) -> Vec<usize> {
    let keys: Vec<_> = pus
        .iter()
        .map(|os| topology.pu(*os).map(|pu| (pu.l3.is_none().then_some(pu.package), pu.l3)))
        .collect();
    linkage::renumbered(&keys)
}
