//! `seatmap tune --on MODEL`: ways to seat a pattern's tasks race on a simulated machine.
//!
//! Each candidate runs equally often there, and all runs can be made at once: on the CPUs of this
//! computer, or by all ranks of a start. The result is the same to the byte.

use super::entrants::{default, placements_on};
use super::{Files, plan, says_why_none};
use crate::args::Tune;
use crate::verbs;
use seatmap_catalog::{Capability, Machine, Runner};
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::over_ranks::{Start, failed, machine_hash, tell};
use seatmap_console::{input, output, pattern_input};
use seatmap_document::rounded_ns;
use seatmap_pattern::Pattern;
use seatmap_place::search::Limit;
use seatmap_place::{Level, PlaceRequest};
use seatmap_report::counted;
use seatmap_tune::on_model::{Job, drawn, skew};
use seatmap_tune::race::{Phase, Turn};
use seatmap_tune::tuned::{Entrant, FORMAT, Run, Seats, Simulated};
use seatmap_tune::{Better, Fingerprint, OnModel, Tuned, factorial};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// Runs of each candidate where nobody says and the confidence needs no more: half choose the
/// winner, half confirm it.
const RUNS_EACH: usize = 20;

/// Kicks of each search for candidates: a search by count finds the same everywhere.
const KICKS: u64 = 2000;

/// Runs after which one who waits is told.
const AT_ONCE: usize = 64;

/// A run with its place among all.
type Numbered = (usize, Job);

/// Races ways to seat a pattern on the model of this name.
pub fn run(typed: &Tune, name: &str) -> Result<(), CliError> {
    if let Some(option) = typed.for_programs() {
        return Err(CliError::input(format!(
            "{option} is for a program that runs; without COMMAND, the messages of --pattern do, on a model"
        )));
    }
    if verbs::cluster::of_file(name)?.is_some() {
        return Err(CliError::input(format!(
            "{name} is a cluster, on which a job runs: give the COMMAND that starts it"
        )));
    }
    let start = typed.spread.then(|| Start::found(&typed.meeting)).transpose()?;
    let pattern = typed.pattern.as_deref();
    let pattern = pattern.ok_or_else(|| {
        CliError::input("add --pattern: on a model, the messages of a pattern run")
    })?;
    let pattern = pattern_input::pattern(pattern)?;
    let machine = input::machine(name)?;
    let race = Race::new(typed, &machine, &pattern)?;
    match start {
        Some(start) if !start.is_first() => race.follow(&start),
        start => race.lead(start.as_ref(), &Files::new(typed)?),
    }
}

struct Race<'a> {
    typed: &'a Tune,
    machine: &'a Machine,
    pattern: &'a Pattern,
    messages: OnModel,
    /// All that the times depend on besides seats and skew.
    name: String,
}

impl<'a> Race<'a> {
    fn new(typed: &'a Tune, machine: &'a Machine, pattern: &'a Pattern) -> Result<Self, CliError> {
        let runner = machine.runner(Capability::RunsChannels).map_err(CliError::input)?;
        let messages = match &runner {
            Runner::CellBe(model) => {
                OnModel::cell(model, pattern, typed.packet_bytes(), typed.rounds())
            }
            Runner::Coherent(_) if typed.packet.is_some() => {
                return Err(CliError::input(format!(
                    "--packet changes nothing on {}, whose tasks hand over one cache line at a time; leave it out",
                    machine.name
                )));
            }
            Runner::Coherent(model) => OnModel::coherent(model, pattern, typed.rounds()),
            Runner::Host => {
                return Err(CliError::input(
                    "on this host a program runs: give its COMMAND; 'seatmap model fit host -o twin.toml' makes a model",
                ));
            }
        };
        let messages = messages.map_err(CliError::input)?;
        let name = format!("{} {messages:?}", machine_hash(&runner));
        let name = seatmap_document::written(&[name]);
        Ok(Race { typed, machine, pattern, messages, name })
    }

    /// Makes the runs that rank 0 hands out.
    fn follow(&self, start: &Start) -> Result<(), CliError> {
        start
            .ranks()
            .follow(&self.name, &|jobs: &[Numbered], over: &AtomicBool| self.numbers(jobs, over))
            .map_err(failed)?;
        Ok(())
    }

    fn lead(&self, start: Option<&Start>, files: &Files) -> Result<(), CliError> {
        let profile = input::profile_of(self.machine)?;
        let mut request = PlaceRequest::new(&profile, self.pattern);
        request.limit = Limit::kicks(KICKS);
        request.threads = 1;
        request.seed = self.typed.seed;
        let has_room = request.smt_cores().is_some_and(|cores| self.pattern.tasks <= cores);
        request.one_per = has_room.then_some(Level::Core);
        let others = placements_on(&request, usize::from(self.typed.candidates) - 1)?;
        let entrants: Vec<Entrant> = default().into_iter().chain(others).collect();
        let runs = self.runs_each(entrants.len())?;
        let pus: Vec<u32> = profile.topology.os_indices().collect();
        let skew = |run: usize| skew(self.typed.seed, run);
        let seats = |entrant: &Entrant, run: usize| match &entrant.seats {
            Seats::Placement(placement) => placement.clone(),
            _ => drawn(&pus, self.pattern.tasks, skew(run)),
        };
        let jobs = entrants.iter().flat_map(|entrant| (0..runs).map(move |run| (entrant, run)));
        let jobs = jobs.map(|(entrant, run)| Job { seats: seats(entrant, run), skew: skew(run) });
        let jobs: Vec<Numbered> = jobs.enumerate().collect();
        let times_ns = self.times_ns(&jobs, start)?;
        let tuned = self.judged(entrants, runs, &times_ns);
        files.write(self.typed, &tuned)?;
        self.write_plan(files, &tuned)
    }

    fn runs_each(&self, candidates: usize) -> Result<usize, CliError> {
        let fewest = factorial::fewest_runs(self.typed.confidence);
        let Some(budget) = self.typed.budget else { return Ok(RUNS_EACH.max(fewest)) };
        let each = budget as usize / candidates;
        if each < fewest {
            Err(CliError::input(format!(
                "{candidates} need {}, {fewest} each; raise --budget, or lower --candidates",
                counted(candidates * fewest, "run"),
                candidates = counted(candidates, "candidate")
            )))
        } else {
            Ok(each)
        }
    }

    fn numbers(&self, jobs: &[Numbered], is_over: &AtomicBool) -> Result<Vec<f64>, String> {
        let jobs: Vec<Job> = jobs.iter().map(|(_, job)| job.clone()).collect();
        self.messages.times_ns(&jobs, is_over)
    }

    /// The times of all runs, by this process or by all ranks.
    fn times_ns(&self, jobs: &[Numbered], start: Option<&Start>) -> Result<Vec<f64>, CliError> {
        let bar = Bar::new("racing");
        let interrupt = Interrupt::listen()?;
        let mut times_ns = vec![0.0; jobs.len()];
        let mut known = 0;
        let mut keep = |part: &[Numbered], ns: &[f64]| {
            part.iter().zip(ns).for_each(|((at, _), ns)| times_ns[*at] = rounded_ns(*ns));
            known += part.len();
            bar.show(known, jobs.len());
            if interrupt.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let numbers = |jobs: &[Numbered], is_over: &AtomicBool| self.numbers(jobs, is_over);
        match start {
            Some(start) => {
                let look = || {
                    if interrupt.asked() {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                };
                let spread = start
                    .ranks()
                    .lead(&self.name, jobs, &numbers, &mut keep, &look)
                    .map_err(failed)?;
                tell(&spread);
            }
            None => {
                for part in jobs.chunks(AT_ONCE) {
                    let ns = numbers(part, &AtomicBool::new(false)).map_err(CliError::work)?;
                    if keep(part, &ns).is_break() {
                        break;
                    }
                }
            }
        }
        if known < jobs.len() {
            Err(CliError::work(format!(
                "interrupted after {known} of {}",
                counted(jobs.len(), "run")
            )))
        } else {
            Ok(times_ns)
        }
    }

    /// The race with all its runs and its verdict.
    fn judged(&self, candidates: Vec<Entrant>, runs: usize, times_ns: &[f64]) -> Tuned {
        let choosing = runs / 2;
        let all = candidates.len();
        let run = |(number, candidate): (usize, usize)| {
            let (phase, block) = if number < choosing {
                (Phase::Race, number)
            } else {
                (Phase::Confirm, number - choosing)
            };
            let seconds = times_ns[candidate * runs + number] * 1e-9;
            Run { turn: Turn { phase, block, candidate }, value: seconds, seconds }
        };
        let is_cell = matches!(self.messages, OnModel::Cell(..));
        let simulated = Simulated {
            machine: self.machine.name.clone(),
            pattern: self.pattern.name.clone(),
            packet_bytes: is_cell.then(|| self.typed.packet_bytes()),
            rounds: self.typed.rounds(),
        };
        let mut tuned = Tuned {
            format: FORMAT.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            begun: None,
            command: Vec::new(),
            fingerprint: Fingerprint {
                machine: self.machine.name.clone(),
                seats: seatmap_report::counted(all, "candidate"),
                quiet: "nobody".to_owned(),
                ..Fingerprint::default()
            },
            simulated: Some(simulated),
            rivals: Vec::new(),
            throttled: None,
            metric: "time".to_owned(),
            unit: "s".to_owned(),
            better: Better::Lower,
            confidence: self.typed.confidence,
            seed: self.typed.seed,
            budget_runs: Some(all * runs),
            budget_seconds: None,
            candidates,
            runs: (0..runs)
                .flat_map(|number| (0..all).map(move |candidate| (number, candidate)))
                .map(run)
                .collect(),
            verdict: None,
        };
        let costs: Vec<Vec<f64>> =
            times_ns.chunks(runs).map(|own| own.iter().map(|ns| ns.ln()).collect()).collect();
        tuned.judge(&factorial::judge(&costs, choosing, self.typed.confidence));
        tuned
    }

    fn write_plan(&self, files: &Files, tuned: &Tuned) -> Result<(), CliError> {
        let (Some(destination), Some(verdict)) = (&files.plan, &tuned.verdict) else {
            return Ok(());
        };
        let winner = &tuned.candidates[verdict.winner];
        match &winner.seats {
            _ if !verdict.safe => {
                output::tell(says_why_none(winner));
                Ok(())
            }
            Seats::Placement(placement) => {
                let plan =
                    plan(self.typed, self.machine.name.clone(), &winner.name, placement.clone());
                destination.write(&plan.to_json())
            }
            _ => unreachable!("all candidates but the default are placements"),
        }
    }
}
