//! `seatmap tune`.

mod entrants;
mod job;
mod limit;
mod on_model;

use crate::args::Tune;
use crate::verbs;
use entrants::Field;
use seatmap_console::bar::Bar;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::here::{host_name, today, tool};
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output::{self, Destination};
use seatmap_launch::Executable;
use seatmap_launch::share::SoleWork;
use seatmap_machine::import::MAX_FILE_BYTES;
use seatmap_os::cpus::Cpus;
use seatmap_os::kernel::Scheduler;
use seatmap_os::quota::QuotaWatch;
use seatmap_os::root::Root;
use seatmap_os::{CpuList, CpuSet, trusted};
use seatmap_plan::Plan;
use seatmap_ranks::RankPlan;
use seatmap_report::counted;
use seatmap_report::{html, tune};
use seatmap_tune::metric::{Better, Metric};
use seatmap_tune::race::{Cost, Outcome, Rules, Turn, race};
use seatmap_tune::tuned::{Entrant, FORMAT, Run, Seats};
use seatmap_tune::{Fingerprint, Runner, TrialError, Tuned, varied};
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs of each candidate where nobody says.
const RUNS_EACH: usize = 10;

/// How often a run is made whose CPUs are taken away meanwhile.
const VOID_TRIES: u32 = 10;

/// The pause before a run that failed is made again.
const PAUSE: Duration = Duration::from_secs(1);

/// Races ways to seat a program, and writes the winner down.
pub fn run(typed: &Tune) -> Result<(), CliError> {
    if typed.guard {
        varied::stand(std::io::stdin().lock(), &Root::new("/"));
        return Ok(());
    }
    if typed.command.is_empty() {
        return match &typed.on {
            Some(name) => on_model::run(typed, name),
            None => Err(CliError::input(
                "nothing runs: give the COMMAND of a program, or --on MODEL --pattern PATTERN for messages on a model",
            )),
        };
    }
    let files = Files::new(typed)?;
    let better = better(typed)?;
    Executable::find(&typed.command).map_err(CliError::input)?;
    verbs::run::check_sole(SoleWork::Tune)?;
    let interrupt = Interrupt::listen()?;
    let earlier = typed.resume.then(|| earlier(&typed.record())).transpose()?;
    let mut field = Field::new(typed, earlier.as_ref(), &interrupt)?;
    if earlier.is_none() {
        limit::keep_to(typed, &mut field, &interrupt)?;
    }
    let mut tuned = begun(typed, better, &field);
    let rules = tuned.rules();
    if typed.budget.is_some_and(|budget| (budget as usize) < rules.fewest_runs()) {
        return Err(CliError::input(too_few_runs(
            &rules,
            typed.budget.unwrap_or_default() as usize,
        )));
    }
    let recorded =
        earlier.map_or(Ok(Vec::new()), |then| recorded(&typed.record(), then, &mut tuned))?;
    let outcome = Racing { typed, files: &files, field: &field, interrupt: &interrupt, recorded }
        .run(&rules, &mut tuned)?;
    tuned.judge(&outcome);
    limit::tell_excess(typed, &tuned);
    files.record.write(&tuned.to_json())?;
    files.write(typed, &tuned)?;
    write_plan(typed, &files, &field, &tuned)
}

/// The runs that a race needs, and the candidates for which the budget is enough.
fn too_few_runs(rules: &Rules, budget: usize) -> String {
    let fits = |candidates: &usize| limit::fewest_runs(*candidates, rules.confidence) <= budget;
    let enough = (limit::FEWEST..rules.candidates).rev().find(fits);
    let way_out = match enough {
        Some(candidates) => format!("raise --budget, or add --candidates {candidates}"),
        None => "raise --budget".to_owned(),
    };
    format!(
        "a race of {} needs at least {}; {way_out}",
        counted(rules.candidates, "candidate"),
        counted(rules.fewest_runs(), "run")
    )
}

fn better(typed: &Tune) -> Result<Better, CliError> {
    match typed.metric {
        _ if typed.higher_is_better => Ok(Better::Higher),
        _ if typed.lower_is_better => Ok(Better::Lower),
        Metric::Time | Metric::Counted(_) => Ok(Better::Lower),
        Metric::Printed(_) | Metric::Command(_) => Err(CliError::input(
            "a race needs to know which readings are better: add --higher-is-better or --lower-is-better",
        )),
    }
}

/// The race before its first run.
fn begun(typed: &Tune, better: Better, field: &Field) -> Tuned {
    let candidates = field.entrants.len();
    let usual = Rules {
        candidates,
        budget: seatmap_tune::race::Budget::Runs(0),
        confidence: typed.confidence,
        seed: 1,
    };
    let runs = match typed.seconds {
        Some(_) => None,
        None => Some(
            typed
                .budget
                .map_or(RUNS_EACH * candidates + usual.fewest_runs(), |budget| budget as usize),
        ),
    };
    Tuned {
        format: FORMAT.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        begun: Some(jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        command: typed.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        fingerprint: Fingerprint::new(
            host_name(),
            seatmap_host::environment::read(),
            field.seats(),
            "nobody".to_owned(),
        ),
        simulated: None,
        rivals: rivals(),
        throttled: None,
        metric: typed.metric.to_string(),
        unit: typed.metric.unit().to_owned(),
        better,
        confidence: typed.confidence,
        seed: typed.seed,
        budget_runs: runs,
        budget_seconds: typed.seconds.map(|time| time.as_secs_f64()),
        candidates: field.entrants.clone(),
        runs: Vec::new(),
        verdict: None,
    }
}

/// The parts of the kernel that move threads and memory too.
fn rivals() -> Vec<String> {
    let kernel = Scheduler::read(&Root::new("/"));
    let switch = |on: bool| if on { "on" } else { "off" };
    let scheduler = kernel
        .sched_ext
        .as_ref()
        .map(|name| format!("the loaded scheduler '{name}' decides instead of the kernel's own"));
    let cache = kernel.cache_aware.map(|on| format!("cache-aware scheduling is {}", switch(on)));
    let numa = kernel.numa_balancing.map(|on| format!("NUMA balancing is {}", switch(on)));
    [scheduler, cache, numa].into_iter().flatten().collect()
}

/// An earlier race, from a file that nobody else can have written: its runs decide who wins.
fn earlier(path: &Path) -> Result<Tuned, CliError> {
    let bytes = trusted::read_own(path, MAX_FILE_BYTES as u64).map_err(CliError::input)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Tuned::from_json(&text).map_err(|error| CliError::input(AtFile::new(path, error)))
}

/// The runs of an earlier race, if it had the same rules.
fn recorded(path: &Path, then: Tuned, tuned: &mut Tuned) -> Result<Vec<Run>, CliError> {
    if let Some(what) = tuned.differs_from(&then) {
        let why = format!("is another race's ({what}); leave --resume out to begin anew");
        return Err(CliError::input(AtFile::new(path, std::io::Error::other(why))));
    }
    tuned.begun = then.begun;
    Ok(then.runs)
}

/// A race under way.
struct Racing<'a> {
    typed: &'a Tune,
    files: &'a Files,
    field: &'a Field,
    interrupt: &'a Interrupt,
    /// Runs that an earlier race has made.
    recorded: Vec<Run>,
}

/// Why a race ended before its time.
enum Cut {
    Stopped,
    Failed(CliError),
    Unwritten(CliError),
}

impl Racing<'_> {
    fn run(mut self, rules: &Rules, tuned: &mut Tuned) -> Result<Outcome, CliError> {
        let runner = Runner::new(self.typed.metric.clone());
        let bar = Bar::new("racing");
        let mut earlier = std::mem::take(&mut self.recorded).into_iter();
        let steps = tuned.budget_runs.unwrap_or(0);
        let quotas = QuotaWatch::begin();
        let outcome = race(rules, &mut |turn| {
            let run = match earlier.next() {
                Some(run) if run.turn == turn => run,
                _ => self.once(&runner, turn, longest_s(tuned))?,
            };
            let cost = tuned.cost(run.value, run.seconds);
            tuned.runs.push(run);
            bar.show(tuned.runs.len(), steps.max(tuned.runs.len()));
            self.files.record.write(&tuned.to_json()).map_err(Cut::Unwritten)?;
            Ok::<Cost, Cut>(cost)
        });
        drop(bar);
        tuned.throttled = quotas.used_up();
        let kept = format!(
            "its {} are kept, and --resume goes on with them",
            seatmap_report::counted(tuned.runs.len(), "run")
        );
        outcome.map_err(|cut| match cut {
            Cut::Stopped => CliError::work(format!("the race was interrupted; {kept}")),
            Cut::Failed(error) => {
                if !tuned.runs.is_empty() {
                    output::tell(&kept);
                }
                error
            }
            Cut::Unwritten(error) => {
                let before = tuned.runs.len().saturating_sub(1);
                let runs = seatmap_report::counted(before, "run");
                output::tell(&format!(
                    "this run could not be kept; --resume goes on with the {runs} before it"
                ));
                error
            }
        })
    }

    fn once(&self, runner: &Runner, turn: Turn, longest_s: f64) -> Result<Run, Cut> {
        let contestant = self.field.contestant(self.typed, turn.candidate);
        let limit = self.field.limit(longest_s);
        let mut tries = 1;
        loop {
            let began = Instant::now();
            let is_late = || limit.is_some_and(|limit| began.elapsed() > limit);
            let run = || runner.run(&contestant, &|| self.interrupt.asked() || is_late());
            let error =
                match self.field.with_its_kernel(turn.candidate, run).map_err(Cut::Failed)? {
                    Ok(Some(reading)) => {
                        return Ok(Run { turn, value: reading.value, seconds: reading.seconds });
                    }
                    Ok(None) if self.interrupt.asked() => return Err(Cut::Stopped),
                    Ok(None) => CliError::work(format!(
                        "'{}' had not ended after {:?}",
                        contestant.line(),
                        limit.unwrap_or_default()
                    )),
                    Err(TrialError::CpusTaken { cpus, .. }) if tries < VOID_TRIES => {
                        output::tell(&format!(
                            "CPUs {cpus} were taken from a run, which is void; it is made again"
                        ));
                        tries += 1;
                        std::thread::sleep(PAUSE);
                        continue;
                    }
                    Err(error) => CliError::work(error),
                };
            match self.field.excuse(&error, tries) {
                Some(excuse) => output::tell(&format!("{excuse}; the run is made again")),
                None => return Err(Cut::Failed(error)),
            }
            tries += 1;
            std::thread::sleep(PAUSE);
        }
    }
}

/// The time of the longest run so far, in seconds.
fn longest_s(tuned: &Tuned) -> f64 {
    tuned.runs.iter().map(|run| run.seconds).fold(0.0, f64::max)
}

/// The places for the result.
struct Files {
    record: Destination,
    plan: Option<Destination>,
    page: Option<Destination>,
}

impl Files {
    fn new(typed: &Tune) -> Result<Self, CliError> {
        let plan = typed.output.as_deref().map(Destination::new).transpose()?;
        if typed.json && plan == Some(Destination::Stdout) {
            return Err(CliError::input(
                "--json and -o - both print on stdout; give -o a file's name",
            ));
        }
        let page =
            output::page(typed.html.as_deref(), typed.json || plan == Some(Destination::Stdout))?;
        let record = Destination::new(&typed.record())?;
        match record {
            Destination::File(_) => Ok(Files { record, plan, page }),
            _ => Err(CliError::input(
                "--record needs a file's name: it is written again after every run",
            )),
        }
    }

    fn write(&self, typed: &Tune, tuned: &Tuned) -> Result<(), CliError> {
        if let Some(page) = &self.page {
            page.write(&html::tune(tuned))?;
        }
        if typed.json {
            output::json(tuned)
        } else if [&self.plan, &self.page].contains(&&Some(Destination::Stdout)) {
            Ok(())
        } else {
            output::print(&tune::text(tuned))
        }
    }
}

/// Writes the winner, where it is one that a plan can hold.
fn write_plan(typed: &Tune, files: &Files, field: &Field, tuned: &Tuned) -> Result<(), CliError> {
    let (Some(destination), Some(verdict)) = (&files.plan, &tuned.verdict) else { return Ok(()) };
    let winner = &tuned.candidates[verdict.winner];
    if !verdict.safe {
        output::tell(says_why_none(winner));
        return Ok(());
    }
    let placement = match &winner.seats {
        Seats::Placement(placement) => placement.clone(),
        Seats::Order(list) => list.parse::<CpuList>().map(|list| list.0).unwrap_or_default(),
        Seats::Within(list) => {
            output::tell(&format!(
                "no plan is written: the winner is a mask; 'taskset -c {list}' gives it"
            ));
            return Ok(());
        }
        Seats::Kernel(setting) => {
            output::tell(&format!(
                "no plan is written: the winner is a switch of the kernel, {}",
                setting.switch
            ));
            return Ok(());
        }
        Seats::Free => return Ok(()),
        Seats::Ranks(_) => match field.rank_plan(verdict.winner)? {
            Some(plan) => {
                let method = format!("raced: {}", winner.name);
                let plan = RankPlan { method, date: Some(today()), tool: Some(tool()), ..plan };
                return destination.write(&plan.to_json());
            }
            None => unreachable!("ranks race on a cluster"),
        },
    };
    destination.write(&plan(typed, host_name(), &winner.name, placement).to_json())
}

/// Why a winner is not written down.
fn says_why_none(winner: &Entrant) -> &'static str {
    match winner.seats {
        Seats::Free => "no plan is written: no candidate was better than the default",
        _ => "no plan is written: the winner is not shown to be as good as the default",
    }
}

/// The plan of a winner.
fn plan(typed: &Tune, machine: String, winner: &str, placement: Vec<u32>) -> Plan {
    Plan {
        method: Some(format!("raced: {winner}")),
        pattern: typed.pattern.clone(),
        date: Some(today()),
        tool: Some(tool()),
        ..Plan::new(machine, placement)
    }
}

/// The CPUs that the race is about.
fn cpus(typed: &Tune) -> Result<(CpuSet, seatmap_machine::Topology), CliError> {
    let allowed = CpuSet::of_thread(0).map_err(CliError::work)?;
    let topology = verbs::check::topology()?;
    let Some(list) = &typed.cpus else { return Ok((allowed, topology)) };
    Cpus::read().map_err(CliError::work)?.check(&list.0).map_err(CliError::input)?;
    Ok((list.0.iter().copied().collect(), topology))
}
