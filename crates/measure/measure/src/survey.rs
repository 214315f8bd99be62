//! A survey of a whole machine: the matrix, its explanation, and on request its homes and its
//! behaviour under load.

use crate::busy_scan::BusyScan;
use crate::error::MeasureError;
use crate::fit::siblings;
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

/// The measurements to make.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyRequest {
    /// OS indices, in the matrix order wanted.
    pub pus: Vec<u32>,
    /// The amount to measure.
    pub plan: SurveyPlan,
    /// Measure pairs of different cache groups at once, where that changes no figure.
    pub parallel: bool,
    /// Candidate lines to sort by home; below 2, no lines are sorted.
    pub homes: u32,
    /// The share of all PUs, in percent, that communicates in random pairs while lines are sorted.
    pub utilisation_percent: u32,
    /// Measure the loaded curve.
    pub loaded: bool,
}

impl SurveyRequest {
    /// The header that the journal of such a run has.
    #[must_use]
    pub fn header(&self, machine: MachineIdentity) -> JournalHeader {
        let options = JournalOptions {
            least_passes: self.plan.passes.least(),
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
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Core distances at one line.
    pub core_distance: CoreDistance,
    /// The distances explained; `None` where they could not be.
    pub home_model: Option<HomeModel>,
    /// The loaded curve, if asked for.
    pub loaded: Vec<LoadedPoint>,
    /// Where its random pairs start.
    pub loaded_seed: Option<u64>,
    /// The warnings for the reader.
    pub warnings: Vec<Warning>,
}

/// Something that did not go as asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Pairs measured at once disturb each other.
    ParallelDisturbs {
        /// Median relative difference between pairs measured together and alone.
        difference: f64,
    },
    /// Pairs measured at once could not be compared with the same pairs alone.
    ParallelUnseen,
    /// There is only one group, so pairs cannot run at once.
    ParallelNeedsGroups,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Warning::ParallelDisturbs { difference } => write!(
                out,
                "pairs measured at once read {:.1} % different from the same pairs alone, more \
                 than {:.0} %; measured one after the other instead of --parallel",
                100.0 * difference,
                100.0 * interference::TOLERANCE
            ),
            Warning::ParallelUnseen => write!(
                out,
                "pairs measured at once were disturbed too often to be compared with the same \
                 pairs alone; measured one after the other instead of --parallel"
            ),
            Warning::ParallelNeedsGroups => write!(
                out,
                "--parallel has no effect: the CPUs share one cache group, and pairs in it would \
                 disturb each other"
            ),
        }
    }
}

/// The progress of a survey.
pub enum SurveyProgress<'a> {
    /// The matrix.
    Matrix(&'a MatrixProgress<'a>),
    /// The homes: visits made, and visits in all.
    Homes(u64, u64),
    /// The loaded curve: the latest point, and how many are left.
    Loaded(&'a LoadedPoint, usize),
}

/// The end of a survey.
#[derive(Debug)]
pub enum SurveyOutcome {
    /// All that was asked for.
    Whole(Box<Survey>),
    /// The observer ended it; this many visits to pairs are in the journal.
    Early(u64),
}

/// Candidate lines that a probe must offer for this request.
#[must_use]
pub fn lines_needed(request: &SurveyRequest, topology: &Topology) -> u32 {
    let groups = traffic_groups(topology, &request.pus);
    let matrix = matrix::lines_needed(&groups, together(request, &groups));
    let loaded = if request.loaded { load::lines_needed(request.pus.len()) } else { 1 };
    // While lines are sorted on a busy machine, pairs beyond the candidates need lines of their
    // own.
    let homes = request.homes + 2 * pairs_at_once(request, topology) as u32;
    matrix.max(loaded).max(homes)
}

/// Pairs that talk at once while lines are sorted; 0 on a quiet machine.
fn pairs_at_once(request: &SurveyRequest, topology: &Topology) -> usize {
    let share = request.utilisation_percent as usize;
    // Two PUs make a pair, so that half of this share of the PUs is the number of pairs; a share
    // above 0 has one at least.
    (topology.pus.len() * share / 200).max(share.min(1))
}

/// Measures the request, beginning with the pairs that `samples` lacks. `observe` is called between
/// measurements, and ends the survey by breaking.
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
    let run = MatrixRun { probe, plan: &request.plan, group_of: &group_of, together, journal };
    let outcome =
        run.measure(samples, &mut |progress| observe(&SurveyProgress::Matrix(progress)))?;
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

/// Sorts candidate lines by home; `None` where the observer ended it.
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

/// The loaded curve, empty where it is not asked for; `None` where the observer ended it.
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

/// The number of pairs that may run at once: one, unless more are requested and shown to change no
/// figure.
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

/// Pairs inside one group each, so as many as there are groups.
fn together(request: &SurveyRequest, group_of: &[usize]) -> usize {
    if request.parallel { group_of.iter().max().map_or(1, |largest| largest + 1) } else { 1 }
}

/// The number of the group in which traffic of each PU stays: its level-3 cache, else its package,
/// else one for all.
fn traffic_groups(topology: &Topology, pus: &[u32]) -> Vec<usize> {
    let keys: Vec<_> = pus
        .iter()
        .map(|os| topology.pu(*os).map(|pu| (pu.l3.is_none().then_some(pu.package), pu.l3)))
        .collect();
    // Numbered as they come, as the numbers of caches may have holes.
    let mut seen = Vec::new();
    for key in &keys {
        if !seen.contains(key) {
            seen.push(*key);
        }
    }
    keys.iter().filter_map(|key| seen.iter().position(|known| known == key)).collect()
}
