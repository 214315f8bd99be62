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
//! | [`placeholders`] | parts of a command that each run replaces |
//! | `search` | the number of threads that races |
//! | `limit` | the candidates that fit into a time |
//! | [`event`] | the events of a race |

pub(crate) mod candidates;
pub mod cluster_job;
pub mod event;
mod field;
pub(crate) mod limit;
pub mod placeholders;
pub mod request;
mod search;

use crate::tune::count_search::first_runs;
use crate::tune::disturbance::{Disturbance, Usual};
use crate::tune::race::{RaceOutcome, RaceTurn, RunCost, fewest_runs, race};
use crate::tune::trial::{CommandRunner, TrialError, texts};
use crate::tune::tried_counts::CountRun;
use crate::tune::tuned::{RaceRun, Tuned};
use crate::tune::winner::RaceEnd;
use crate::tune::{Fingerprint, RunReading};
pub use event::RaceEvent;
use field::RaceField;
pub use request::{
    ClusterGround, HostGround, OwnCommands, ProgramTraffic, RaceDimension, RaceGround, RaceRequest,
};
use seatmap_data::document::{Blame, Failure};
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

/// Neighbours of a disturbed run may stay.
const DISTURBED_TRIES: u32 = 2;

/// At most one of this many runs is repeated as disturbed, which limits the time.
const RUNS_OF_DISTURBED: usize = 8;

const PAUSE: Duration = Duration::from_secs(1);

/// Runs the race. Each run is saved before the next one. `stop` also ends a run.
///
/// # Errors
/// [`Failure`]. Finished runs are kept.
pub fn run(
    request: &RaceRequest,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(RaceEvent<'_>),
) -> Result<RaceEnd, Failure> {
    let field = RaceField::new(request, stop, hear)?;
    let mut tuned = begun(&field);
    limit::check_budget(request, field.most_candidates(), fewest_searched(&tuned))?;
    let earlier = recorded(request, &mut tuned)?;
    let searched = earlier.counts.map_or_else(Vec::new, |counts| counts.runs);
    let racing = Racing {
        field,
        runner: CommandRunner::new(request.metric.clone(), request.time),
        searched: searched.into_iter(),
        recorded: earlier.runs.into_iter(),
        disturbed: 0,
        tuned,
        stop,
        hear,
    };
    racing.run()
}

/// The runs for a search for a number of threads, if there is one.
fn fewest_searched(tuned: &Tuned) -> usize {
    let search = tuned.counts.as_ref().filter(|counts| counts.best.is_none());
    search.map_or(0, |counts| first_runs(&counts.counts))
}

fn begun(field: &RaceField<'_>) -> Tuned {
    let request = field.request;
    let fingerprint = Fingerprint::new(
        request.provenance.machine.clone(),
        seatmap_machines::host::environment::read(),
        field.seats(),
        "nobody".to_owned(),
    );
    let mut tuned = Tuned {
        begun: Some((request.now)()),
        command: texts(&request.command),
        rivals: rivals(),
        metric: request.metric.to_string(),
        unit: request.metric.unit().to_owned(),
        better: request.better,
        confidence: request.confidence,
        seed: request.seed,
        budget_seconds: request.time.map(|time| time.as_secs_f64()),
        counts: field.counts(),
        ..Tuned::before(field.entrants.clone(), fingerprint)
    };
    settle(field, &mut tuned);
    tuned
}

/// With the usual number of runs by default.
fn settle(field: &RaceField<'_>, tuned: &mut Tuned) {
    tuned.candidates.clone_from(&field.entrants);
    let candidates = tuned.candidates.len();
    let usual = RUNS_EACH * candidates + fewest_runs(candidates, tuned.confidence);
    let request = field.request;
    tuned.budget_runs = match request.time {
        Some(_) => None,
        None => Some(request.runs.unwrap_or(usual + tuned.runs_made())),
    };
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

/// The earlier race, whose runs are not made again; or one without runs.
fn recorded(request: &RaceRequest, tuned: &mut Tuned) -> Result<Tuned, Failure> {
    let Some(earlier) = &request.earlier else { return Ok(Tuned::default()) };
    if let Some(difference) = tuned.differs_from(earlier) {
        let record = request.record.display();
        return Err(Failure::input(format!(
            "{record}: belongs to another race ({difference}); leave --resume out to start anew"
        )));
    }
    tuned.begun.clone_from(&earlier.begun);
    Ok(earlier.clone())
}

/// A crash loses at most the current run.
fn keep(request: &RaceRequest, tuned: &Tuned) -> Result<(), Failure> {
    whole_file::replace(&request.record, tuned.to_json().as_bytes())
        .map_err(Failure::work_at(request.record.display()))
}

enum Cut {
    Stopped,
    Failed(Failure),
    Unkept(Failure),
}

struct Racing<'a> {
    field: RaceField<'a>,
    runner: CommandRunner,
    searched: std::vec::IntoIter<CountRun>,
    recorded: std::vec::IntoIter<RaceRun>,
    disturbed: usize,
    tuned: Tuned,
    stop: &'a dyn Fn() -> bool,
    hear: &'a mut dyn FnMut(RaceEvent<'_>),
}

type RunAttempt<'r> = &'r dyn Fn(&Racing<'_>) -> Result<Option<RunReading>, Failure>;

impl Racing<'_> {
    fn run(mut self) -> Result<RaceEnd, Failure> {
        let quotas = QuotaWatch::begin();
        let outcome = self.outcome();
        self.tuned.throttled = quotas.used_up();
        let outcome = outcome.map_err(|cut| self.ended(cut))?;
        self.tuned.judge(&outcome);
        let request = self.field.request;
        limit::tell_excess(request, &self.tuned, self.hear);
        // The verdict is saved before the plan, which may not exist.
        keep(request, &self.tuned)?;
        let plan = self.field.winners_plan(&self.tuned)?;
        Ok(RaceEnd { tuned: self.tuned, plan })
    }

    fn outcome(&mut self) -> Result<RaceOutcome, Cut> {
        self.search()?;
        // A continued race keeps its candidates.
        if self.recorded.as_slice().is_empty() {
            let spent_s = self.tuned.seconds_taken();
            limit::keep_to(&mut self.field, spent_s, self.stop, self.hear).map_err(Cut::Failed)?;
            settle(&self.field, &mut self.tuned);
        }
        let rules = self.tuned.rules();
        race(&rules, &mut |turn| self.turn(turn))
    }

    fn ended(&mut self, cut: Cut) -> Failure {
        let runs = self.tuned.runs_made();
        match cut {
            Cut::Stopped => Failure::work(format!(
                "the race was interrupted after {}; continue it with --resume",
                counted(runs, "run")
            )),
            Cut::Failed(error) => {
                // Another race is needed then.
                if runs > 0 && !error.is_input() {
                    (self.hear)(RaceEvent::RunsKept { runs });
                }
                error
            }
            Cut::Unkept(error) => {
                (self.hear)(RaceEvent::RunLost { before: runs.saturating_sub(1) });
                error
            }
        }
    }

    /// Makes a run, or takes it from the record.
    fn turn(&mut self, turn: RaceTurn) -> Result<RunCost, Cut> {
        // A resumed race has the same turns: they depend only on the readings.
        let run = match self.recorded.next() {
            Some(run) if run.turn == turn => run,
            _ => self.made(turn)?,
        };
        let cost = self.tuned.cost(run.value, run.seconds);
        self.tuned.runs.push(run);
        let runs = self.tuned.runs_made();
        let of = self.tuned.budget_runs.unwrap_or(0).max(runs);
        (self.hear)(RaceEvent::RunMade { runs, of });
        keep(self.field.request, &self.tuned).map_err(Cut::Unkept)?;
        Ok(cost)
    }

    fn made(&mut self, turn: RaceTurn) -> Result<RaceRun, Cut> {
        assert!(
            turn.candidate < self.field.entrants.len(),
            "the next candidate is {} of {}",
            turn.candidate,
            self.field.entrants.len()
        );
        let reading = self.reading(&|racing| racing.attempt(turn.candidate))?;
        let RunReading { value, seconds, disturbance, .. } = reading;
        Ok(RaceRun { turn, value, seconds, disturbance: Some(disturbance) })
    }

    /// Repeats a run that says nothing about its candidate.
    fn reading(&mut self, attempt: RunAttempt<'_>) -> Result<RunReading, Cut> {
        let mut tries = 1;
        let mut disturbed = 0;
        loop {
            let error = match attempt(self) {
                Ok(Some(RunReading { disturbance, .. }))
                    if disturbed < DISTURBED_TRIES && self.is_disturbed(&disturbance) =>
                {
                    disturbed += 1;
                    self.disturbed += 1;
                    let percent = disturbance.most_percent();
                    (self.hear)(RaceEvent::Disturbed { percent, runs: self.disturbed });
                    continue;
                }
                Ok(Some(reading)) => return Ok(reading),
                Ok(None) => return Err(Cut::Stopped),
                Err(error) => error,
            };
            match excuse(&self.field, &error, tries) {
                Some(event) => (self.hear)(event),
                None => return Err(Cut::Failed(error)),
            }
            tries += 1;
            std::thread::sleep(PAUSE);
        }
    }

    /// Compared with quiet runs; false if it may not be repeated.
    fn is_disturbed(&self, disturbance: &Disturbance) -> bool {
        // With fewer runs the usual load is unknown.
        let may_repeat = RUNS_OF_DISTURBED * (self.disturbed + 1) <= self.tuned.runs_made();
        may_repeat && disturbance.exceeds(&Usual::of(self.tuned.disturbances()))
    }

    fn attempt(&self, candidate: usize) -> Result<Option<RunReading>, Failure> {
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
fn excuse<'e>(field: &RaceField<'_>, error: &'e Failure, tries: u32) -> Option<RaceEvent<'e>> {
    let Failure::Work(failed) = error else { return None };
    match failed.downcast_ref()? {
        TrialError::CpusTaken { cpus, holder, .. } if tries < VOID_TRIES => {
            Some(RaceEvent::CpusTaken { cpus, holder })
        }
        _ => field.excuse(error, tries),
    }
}

#[cfg(test)]
mod tests;
