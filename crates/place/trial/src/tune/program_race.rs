//! Races ways to seat a program: from a request to a winner.
//!
//! [`race`](crate::tune::race) decides the order of runs and the verdict. This module makes,
//! repeats and records the runs.
//!
//! | module | contents |
//! |---|---|
//! | [`request`] | the request for a race |
//! | `field` | the candidates and how to run them |
//! | `candidates` | the candidates on one computer |
//! | [`cluster_job`] | the candidates on a cluster: orders of ranks; each run starts the job |
//! | `limit` | the candidates that fit into a time |
//! | [`event`] | the events of a race |
//! | [`error`] | why there is no winner |

pub(crate) mod candidates;
pub mod cluster_job;
pub mod error;
pub mod event;
mod field;
pub(crate) mod limit;
pub mod request;

use crate::tune::disturbance::{Disturbance, Usual};
use crate::tune::race::{RaceOutcome, RaceRules, RaceTurn, RunCost, fewest_runs, race};
use crate::tune::trial::{CommandRunner, TrialError, texts};
use crate::tune::tuned::{RaceRun, Tuned};
use crate::tune::winner::RaceEnd;
use crate::tune::{Fingerprint, RunReading};
pub use error::ProgramRaceError;
use error::at;
pub use event::RaceEvent;
use field::RaceField;
pub use request::{
    ClusterGround, HostGround, OwnCommands, ProgramTraffic, RaceGround, RaceRequest,
};
use seatmap_data::statistics::greatest;
use seatmap_data::statistics::words::counted;
use seatmap_os::kernel::SchedulerSettings;
use seatmap_os::quota::QuotaWatch;
use seatmap_os::root::Root;
use seatmap_os::whole_file;
use std::time::{Duration, Instant};

const RUNS_EACH: usize = 10;

/// Tries of a run that loses CPUs.
const VOID_TRIES: u32 = 10;

/// Repetitions of a disturbed run, whose neighbours may stay.
const DISTURBED_TRIES: u32 = 2;

/// At most one of this many runs is repeated as disturbed, which limits the time.
const RUNS_OF_DISTURBED: usize = 8;

const PAUSE: Duration = Duration::from_secs(1);

/// Races ways to seat a program. Each run is saved before the next one. `stop` also ends a run.
///
/// # Errors
/// [`ProgramRaceError`]. Finished runs are kept.
pub fn run(
    request: &RaceRequest,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(RaceEvent<'_>),
) -> Result<RaceEnd, ProgramRaceError> {
    let mut field = RaceField::new(request, stop, hear)?;
    if request.earlier.is_none() {
        limit::keep_to(&mut field, stop, hear)?;
    }
    let mut tuned = begun(&field);
    let rules = tuned.rules();
    limit::check_budget(request, &rules)?;
    let recorded = recorded(request, &mut tuned)?;
    let racing = Racing {
        field: &field,
        runner: CommandRunner::new(request.metric.clone(), request.time),
        recorded: recorded.into_iter(),
        disturbed: 0,
        tuned: &mut tuned,
        stop,
        hear,
    };
    let outcome = racing.run(&rules)?;
    tuned.judge(&outcome);
    limit::tell_excess(request, &tuned, hear);
    // The verdict is saved before the plan, which may not exist.
    keep(request, &tuned)?;
    let plan = field.winners_plan(&tuned)?;
    Ok(RaceEnd { tuned, plan })
}

fn begun(field: &RaceField<'_>) -> Tuned {
    let request = field.request;
    let candidates = field.entrants.len();
    let fewest = fewest_runs(candidates, request.confidence);
    let fingerprint = Fingerprint::new(
        request.provenance.machine.clone(),
        seatmap_machines::host::environment::read(),
        field.seats(),
        "nobody".to_owned(),
    );
    Tuned {
        begun: Some((request.now)()),
        command: texts(&request.command),
        rivals: rivals(),
        metric: request.metric.to_string(),
        unit: request.metric.unit().to_owned(),
        better: request.better,
        confidence: request.confidence,
        seed: request.seed,
        budget_runs: match request.time {
            Some(_) => None,
            None => Some(request.runs.unwrap_or(RUNS_EACH * candidates + fewest)),
        },
        budget_seconds: request.time.map(|time| time.as_secs_f64()),
        ..Tuned::before(field.entrants.clone(), fingerprint)
    }
}

/// Kernel features that also move threads and memory.
fn rivals() -> Vec<String> {
    let kernel = SchedulerSettings::read(&Root::new("/"));
    let scheduler = kernel.sched_ext.as_ref();
    let scheduler =
        scheduler.map(|name| format!("the sched_ext scheduler '{name}' replaces the kernel's own"));
    let features =
        [("cache-aware scheduling", kernel.cache_aware), ("NUMA balancing", kernel.numa_balancing)];
    let switched = features.into_iter().filter_map(|(feature, is_on)| {
        Some(format!("{feature} is {}", if is_on? { "on" } else { "off" }))
    });
    scheduler.into_iter().chain(switched).collect()
}

fn recorded(request: &RaceRequest, tuned: &mut Tuned) -> Result<Vec<RaceRun>, ProgramRaceError> {
    let Some(earlier) = &request.earlier else { return Ok(Vec::new()) };
    if let Some(difference) = tuned.differs_from(earlier) {
        let record = request.record.display();
        return Err(ProgramRaceError::input(format!(
            "{record}: belongs to another race ({difference}); leave --resume out to start anew"
        )));
    }
    tuned.begun.clone_from(&earlier.begun);
    Ok(earlier.runs.clone())
}

/// Saves the race, so that a crash loses at most the current run.
fn keep(request: &RaceRequest, tuned: &Tuned) -> Result<(), ProgramRaceError> {
    whole_file::replace(&request.record, tuned.to_json().as_bytes())
        .map_err(|source| ProgramRaceError::Work(at(&request.record, source)))
}

enum Cut {
    Stopped,
    Failed(ProgramRaceError),
    Unkept(ProgramRaceError),
}

struct Racing<'a> {
    field: &'a RaceField<'a>,
    runner: CommandRunner,
    recorded: std::vec::IntoIter<RaceRun>,
    disturbed: usize,
    tuned: &'a mut Tuned,
    stop: &'a dyn Fn() -> bool,
    hear: &'a mut dyn FnMut(RaceEvent<'_>),
}

impl Racing<'_> {
    fn run(mut self, rules: &RaceRules) -> Result<RaceOutcome, ProgramRaceError> {
        let quotas = QuotaWatch::begin();
        let outcome = race(rules, &mut |turn| self.turn(turn));
        self.tuned.throttled = quotas.used_up();
        let runs = self.tuned.runs.len();
        outcome.map_err(|cut| match cut {
            Cut::Stopped => ProgramRaceError::work(format!(
                "the race was interrupted after {}; continue it with --resume",
                counted(runs, "run")
            )),
            Cut::Failed(error) => {
                if runs > 0 {
                    (self.hear)(RaceEvent::RunsKept { runs });
                }
                error
            }
            Cut::Unkept(error) => {
                (self.hear)(RaceEvent::RunLost { before: runs.saturating_sub(1) });
                error
            }
        })
    }

    /// Makes a run or takes it from the record; afterwards it is saved.
    fn turn(&mut self, turn: RaceTurn) -> Result<RunCost, Cut> {
        // A resumed race has the same turns, because they depend only on the readings.
        let run = match self.recorded.next() {
            Some(run) if run.turn == turn => run,
            _ => self.made(turn)?,
        };
        let cost = self.tuned.cost(run.value, run.seconds);
        self.tuned.runs.push(run);
        let runs = self.tuned.runs.len();
        let of = self.tuned.budget_runs.unwrap_or(0).max(runs);
        (self.hear)(RaceEvent::RunMade { runs, of });
        keep(self.field.request, self.tuned).map_err(Cut::Unkept)?;
        Ok(cost)
    }

    /// Repeats a run that says nothing about its candidate.
    fn made(&mut self, turn: RaceTurn) -> Result<RaceRun, Cut> {
        assert!(
            turn.candidate < self.field.entrants.len(),
            "the next candidate is {} of {}",
            turn.candidate,
            self.field.entrants.len()
        );
        let mut tries = 1;
        let mut disturbed = 0;
        loop {
            let error = match self.attempt(turn.candidate) {
                Ok(Some(RunReading { disturbance, .. }))
                    if disturbed < DISTURBED_TRIES && self.is_disturbed(&disturbance) =>
                {
                    disturbed += 1;
                    self.disturbed += 1;
                    let percent = disturbance.most_percent();
                    (self.hear)(RaceEvent::Disturbed { percent, runs: self.disturbed });
                    continue;
                }
                Ok(Some(RunReading { value, seconds, disturbance })) => {
                    return Ok(RaceRun { turn, value, seconds, disturbance: Some(disturbance) });
                }
                Ok(None) => return Err(Cut::Stopped),
                Err(error) => error,
            };
            match excuse(self.field, &error, tries) {
                Some(event) => (self.hear)(event),
                None => return Err(Cut::Failed(error)),
            }
            tries += 1;
            std::thread::sleep(PAUSE);
        }
    }

    /// Compared with quiet runs; false if it may not be repeated.
    fn is_disturbed(&self, disturbance: &Disturbance) -> bool {
        let runs = &self.tuned.runs;
        // With fewer runs the usual load is unknown.
        let may_repeat = RUNS_OF_DISTURBED * (self.disturbed + 1) <= runs.len();
        let before = runs.iter().filter_map(|run| run.disturbance.as_ref());
        may_repeat && disturbance.exceeds(&Usual::of(before))
    }

    fn attempt(&self, candidate: usize) -> Result<Option<RunReading>, ProgramRaceError> {
        let contestant = self.field.contestant(candidate);
        let longest_s = greatest(self.tuned.runs.iter().map(|run| run.seconds));
        let limit = self.field.limit(longest_s);
        let began = Instant::now();
        let reading = self.field.with_its_kernel(candidate, || {
            self.runner.run(&contestant, &|| {
                (self.stop)() || limit.is_some_and(|limit| began.elapsed() > limit)
            })
        })??;
        if reading.is_none() && !(self.stop)() {
            let late = format!(
                "'{}' was still running after {:?} and was stopped",
                contestant.line(),
                limit.unwrap_or_default()
            );
            return Err(TrialError::NoReading(late).into());
        }
        Ok(reading)
    }
}

/// Why a failed run says nothing about its candidate, if it may be repeated.
fn excuse<'e>(
    field: &RaceField<'_>,
    error: &'e ProgramRaceError,
    tries: u32,
) -> Option<RaceEvent<'e>> {
    match error {
        ProgramRaceError::Trial(TrialError::CpusTaken { cpus, holder, .. })
            if tries < VOID_TRIES =>
        {
            Some(RaceEvent::CpusTaken { cpus, holder })
        }
        ProgramRaceError::Trial(_) => field.excuse(error, tries),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
