//! `seatmap bench`.

mod room;

use crate::args::Bench;
use crate::verbs;
use room::Room;
use seatmap_console::bar::Bar;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::here::host_name;
use seatmap_console::input;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output::{self, Destination};
use seatmap_launch::Executable;
use seatmap_launch::share::SoleWork;
use seatmap_os::cpus::Cpus;
use seatmap_os::{CpuList, CpuSet};
use seatmap_report::{bench, html};
use seatmap_statistics::signed_rank;
use seatmap_tune::document::{Command, FORMAT, SeatsUsed};
use seatmap_tune::metric::{Better, Metric};
use seatmap_tune::{Comparison, Contestant, End, Fingerprint, Length, Results, Runner, Session};
use std::cell::Cell;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// Blocks of a session where nobody says: enough for an interval with some to spare.
const USUAL_BLOCKS: usize = 10;

/// The time between two writes of the result, in multiples of the time that one takes.
const KEPT_SHARE: u32 = 20;

/// Short commands get more blocks, for this long and up to so many.
const USUAL_TIME: Duration = Duration::from_secs(3);
const MOST_USUAL_BLOCKS: usize = 100;

/// Runs the commands in blocks, and compares them.
pub fn run(typed: &Bench) -> Result<(), CliError> {
    let files = Files::new(typed)?;
    let better = better(typed)?;
    let commands = commands(typed)?;
    let baseline =
        typed.baseline.as_deref().map(|path| baseline(path, &typed.metric)).transpose()?;
    verbs::run::check_sole(SoleWork::Bench)?;
    let interrupt = Interrupt::listen()?;
    let room = Room::take(typed, wanted(typed, baseline.as_ref()).as_ref())?;
    let contestants: Vec<Contestant> =
        commands.iter().map(|command| room.contestant(command)).collect();
    let mut results = begun(typed, better, &commands, &room);
    let runner = Runner::new(typed.metric.clone()).raised(room.is_preferred());
    let end = session(typed, &runner, &contestants, &mut results, &files, &interrupt);
    drop(room);
    if let Some(then) = baseline {
        results.compare_with(&then);
    }
    if results.runs.is_empty() {
        return ended(end, &results);
    }
    files.write(&results, typed.json)?;
    ended(end, &results)?;
    typed.fail_above.map_or(Ok(()), |most| judge(&results, most))
}

/// A command with its name.
struct Named {
    name: String,
    words: Vec<OsString>,
}

fn commands(typed: &Bench) -> Result<Vec<Named>, CliError> {
    let line =
        |words: &[OsString]| Contestant { command: words.to_vec(), ..Contestant::default() }.line();
    let named = |name: &Option<String>, words: &Vec<OsString>| -> Result<Named, CliError> {
        Executable::find(words).map_err(CliError::input)?;
        Ok(Named { name: name.clone().unwrap_or_else(|| line(words)), words: words.clone() })
    };
    let others = typed.compare.iter().map(|other| named(&other.name, &other.command));
    std::iter::once(named(&typed.name, &typed.command)).chain(others).collect()
}

/// The better readings, as far as anybody can know.
fn better(typed: &Bench) -> Result<Option<Better>, CliError> {
    let better = match typed.metric {
        _ if typed.higher_is_better => Some(Better::Higher),
        _ if typed.lower_is_better => Some(Better::Lower),
        Metric::Time | Metric::Counted(_) => Some(Better::Lower),
        Metric::Printed(_) | Metric::Command(_) => None,
    };
    match typed.fail_above {
        Some(_) if better.is_none() => Err(CliError::input(
            "--fail-above needs to know which readings are worse: add --higher-is-better or --lower-is-better",
        )),
        Some(_) if typed.compare.is_empty() && typed.baseline.is_none() => Err(CliError::input(
            "--fail-above has nothing to compare COMMAND with: add --compare LINE or --baseline FILE",
        )),
        _ => Ok(better),
    }
}

fn baseline(path: &Path, metric: &Metric) -> Result<Results, CliError> {
    let text = String::from_utf8_lossy(&input::bytes(path)?).into_owned();
    let then =
        Results::from_json(&text).map_err(|error| CliError::input(AtFile::new(path, error)))?;
    if then.metric == metric.to_string() {
        Ok(then)
    } else {
        Err(CliError::input(format!(
            "{}: its metric is '{}', and this one is '{metric}'; give both the same --metric",
            path.display(),
            then.metric
        )))
    }
}

/// The CPUs that the user named, or else those of the earlier result: on others the two would not
/// be comparable, and which CPUs are quiet changes from hour to hour.
fn wanted(typed: &Bench, then: Option<&Results>) -> Option<CpuSet> {
    if let Some(list) = &typed.cpus {
        return Some(list.0.iter().copied().collect());
    }
    let before = then?.seats.cpus.parse::<CpuList>().ok()?.0;
    let are_here = Cpus::read().ok()?.check(&before).is_ok();
    (typed.seats.is_none() && are_here).then(|| before.into_iter().collect())
}

/// The result before the first run.
fn begun(typed: &Bench, better: Option<Better>, commands: &[Named], room: &Room) -> Results {
    let text =
        |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = |named: &Named| Command {
        name: named.name.clone(),
        command: text(&named.words),
        median: None,
    };
    let environment = seatmap_host::environment::read();
    Results {
        format: FORMAT.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        begun: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        complete: false,
        fingerprint: Fingerprint::new(
            host_name(),
            environment,
            room.size(),
            room.kept_by().to_owned(),
        ),
        metric: typed.metric.to_string(),
        unit: typed.metric.unit().to_owned(),
        better,
        confidence: typed.confidence,
        seed: typed.seed,
        seats: SeatsUsed { cpus: room.cpus().list().to_string(), notes: room.notes().to_vec() },
        commands: commands.iter().map(command).collect(),
        throttled: None,
        itself: None,
        comparisons: Vec::new(),
        baseline: None,
        runs: Vec::new(),
    }
}

fn session(
    typed: &Bench,
    runner: &Runner,
    contestants: &[Contestant],
    results: &mut Results,
    files: &Files,
    interrupt: &Interrupt,
) -> End {
    let length = length(typed);
    let bar = Bar::new("running");
    let steps = length.runs(contestants.len());
    let mut told = |results: &Results, done: usize| {
        bar.show(done, steps.max(done));
        files.keep(results, contestants.len());
    };
    Session { runner, contestants, stop: &|| interrupt.asked(), told: &mut told }
        .run(&length, results)
}

fn length(typed: &Bench) -> Length {
    let warm_ups = typed.warmup.into();
    let fewest = signed_rank::fewest(typed.confidence);
    match (typed.runs, typed.seconds) {
        (Some(runs), _) => {
            Length { warm_ups, least_blocks: runs, most_blocks: runs, time: Duration::ZERO }
        }
        (_, Some(time)) => Length { warm_ups, least_blocks: fewest, most_blocks: usize::MAX, time },
        _ => Length {
            warm_ups,
            least_blocks: USUAL_BLOCKS.max(fewest),
            most_blocks: MOST_USUAL_BLOCKS,
            time: USUAL_TIME,
        },
    }
}

/// The places for the result.
struct Files {
    result: Option<Destination>,
    page: Option<Destination>,
    /// When the runs are to be kept next.
    next: Cell<Instant>,
}

impl Files {
    fn new(typed: &Bench) -> Result<Self, CliError> {
        let result = typed.output.as_deref().map(Destination::new).transpose()?;
        if typed.json && result == Some(Destination::Stdout) {
            return Err(CliError::input(
                "--json and -o - both print on stdout; give -o a file's name",
            ));
        }
        let page =
            output::page(typed.html.as_deref(), typed.json || result == Some(Destination::Stdout))?;
        Ok(Files { result, page, next: Cell::new(Instant::now()) })
    }

    /// Keeps the runs so far after a block, so that little is lost with a power cut. The file holds
    /// all runs: it is written again once that takes a small part of the time, or many short blocks
    /// would do little else. A failure comes up again at the end.
    fn keep(&self, results: &Results, commands: usize) {
        let is_whole = !results.runs.is_empty() && results.runs.len().is_multiple_of(commands + 1);
        if let (true, Some(file @ Destination::File(_))) = (is_whole, &self.result)
            && self.next.get() <= Instant::now()
        {
            let began = Instant::now();
            let _ = file.write(&results.to_json());
            self.next.set(Instant::now() + began.elapsed() * KEPT_SHARE);
        }
    }

    fn write(&self, results: &Results, json: bool) -> Result<(), CliError> {
        if let Some(file) = &self.result {
            file.write(&results.to_json())?;
        }
        if let Some(page) = &self.page {
            page.write(&html::bench(results))?;
        }
        if json {
            output::json(results)
        } else if self.result == Some(Destination::Stdout) || self.page == Some(Destination::Stdout)
        {
            Ok(())
        } else {
            output::print(&bench::text(results))
        }
    }
}

/// A session that did not run all its blocks is a failure, though its runs are kept.
fn ended(end: End, results: &Results) -> Result<(), CliError> {
    let blocks = results.blocks().len();
    match end {
        End::Complete => Ok(()),
        End::Stopped => Err(CliError::work(format!(
            "interrupted after {}",
            seatmap_report::counted(blocks, "whole block")
        ))),
        End::Failed(error) => Err(CliError::work(error)),
    }
}

/// Exit code 1 where the first command is shown to be worse by more than this. Nothing is shown by
/// results that are not comparable, and nothing by too few runs.
fn judge(results: &Results, most_percent: f64) -> Result<(), CliError> {
    let Some(better) = results.better else { return Ok(()) };
    let of_earlier = results
        .baseline
        .as_ref()
        .and_then(|baseline| Some((baseline.comparison.as_ref()?, &baseline.name)));
    let others =
        results.comparisons.iter().map(|found| (found, &results.commands[found.with].name));
    let worse = |(found, name): (&Comparison, &String)| {
        let least =
            found.worse_by_at_least_percent(better).filter(|least| *least > most_percent)?;
        Some(format!(
            "'{}' is worse than '{name}' by at least {least:.1} %, and {most_percent} % is the limit",
            results.commands[0].name
        ))
    };
    let failures: Vec<String> = others.chain(of_earlier).filter_map(worse).collect();
    if failures.is_empty() { Ok(()) } else { Err(CliError::work(failures.join("; "))) }
}
