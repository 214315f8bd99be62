//! `seatmap bench`.

use crate::args::Bench;
use crate::{myself, verbs};
use seatmap_console::bar::Bar;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output::{self, Destination};
use seatmap_console::outputs::Outputs;
use seatmap_console::{here, input};
use seatmap_launch::Executable;
use seatmap_launch::share::SoleWork;
use seatmap_report::{bench, html, under_way};
use seatmap_tune::bench::{NamedCommand, OwnCells, RoomRequest};
use seatmap_tune::{BenchEvent, BenchRequest, Contestant, Length, Metric, Results};
use std::ffi::OsString;
use std::path::Path;

/// Runs the commands in blocks, and compares them.
pub fn run(typed: &Bench) -> Result<(), CliError> {
    let outputs = Outputs::new(typed.json, typed.output.as_deref(), typed.html.as_deref())?;
    let request = meant(typed, &outputs)?;
    let interrupt = Interrupt::listen()?;
    let mut bar = Some(Bar::new("running"));
    let (results, end) =
        seatmap_tune::bench::run(&request, &|| interrupt.is_raised(), &mut |event| {
            tell(&event, &mut bar);
        })?;
    drop(bar);
    let ended = end.check(&results).map_err(CliError::work);
    if results.runs.is_empty() {
        return ended;
    }
    // The complete result, over the one that was kept while the commands ran.
    if let Some(file) = &outputs.file {
        file.write(&results.to_json())?;
    }
    outputs.show(&results, html::bench, bench::text)?;
    // An interrupted session shows what it has, and then fails.
    ended?;
    typed.fail_above.map_or(Ok(()), |most| results.check_limit(most).map_err(CliError::work))
}

fn tell(event: &BenchEvent<'_>, bar: &mut Option<Bar>) {
    if let (BenchEvent::RunMade { runs, of }, Some(bar)) = (event, &bar) {
        bar.show(*runs, *of);
    }
    if let Some(line) = under_way::of_bench(event) {
        // A bar that is drawn on would write over the sentence.
        *bar = None;
        output::tell(&line);
    }
}

/// The comparison that the user means.
fn meant(typed: &Bench, outputs: &Outputs) -> Result<BenchRequest, CliError> {
    let better = typed.metric.better(typed.direction());
    // A test in CI would otherwise pass for ever.
    if typed.fail_above.is_some() && better.is_none() {
        return Err(CliError::input(
            "--fail-above needs to know which readings are worse: add --higher-is-better or --lower-is-better",
        ));
    }
    if typed.fail_above.is_some() && typed.compare.is_empty() && typed.baseline.is_none() {
        return Err(CliError::input(
            "--fail-above has nothing to compare COMMAND with: add --compare LINE or --baseline FILE",
        ));
    }
    let mut commands = vec![named(typed.name.as_deref(), &typed.command)?];
    for other in &typed.compare {
        commands.push(named(other.name.as_deref(), &other.command)?);
    }
    let baseline =
        typed.baseline.as_deref().map(|path| baseline(path, &typed.metric)).transpose()?;
    // After all errors of usage: each start on a node would report them, and this one as well.
    verbs::run::check_sole(SoleWork::Bench)?;
    let warm_ups = typed.warmup.into();
    Ok(BenchRequest {
        commands,
        metric: typed.metric.clone(),
        better,
        confidence: typed.confidence,
        seed: typed.seed,
        length: match (typed.runs, typed.seconds) {
            (Some(blocks), _) => Length::of_blocks(warm_ups, blocks),
            (None, Some(time)) => Length::of_time(warm_ups, time, typed.confidence),
            (None, None) => Length::usual(warm_ups, typed.confidence),
        },
        baseline,
        room: RoomRequest {
            cpus: typed.cpus.as_ref().map(|list| list.0.iter().copied().collect()),
            seats: typed.seats,
            is_quiet: typed.quiet,
            cells: OwnCells { guardian: myself::cell_guardian(), in_cell: myself::in_cell },
        },
        kept: match &outputs.file {
            // A stream can be written once only, at the end.
            Some(Destination::File(path)) => Some(path.clone()),
            _ => None,
        },
        machine: here::host_name(),
        now: here::now,
    })
}

/// A command that can be started, with its name or, without one, its words.
fn named(name: Option<&str>, words: &[OsString]) -> Result<NamedCommand, CliError> {
    // Before the first run, so that a misspelt second command does not cost a block.
    Executable::find(words).map_err(CliError::input)?;
    let contestant = Contestant { command: words.to_vec(), ..Contestant::default() };
    let name = name.map_or_else(|| contestant.line(), str::to_owned);
    Ok(NamedCommand { name, words: words.to_vec() })
}

fn baseline(path: &Path, metric: &Metric) -> Result<Results, CliError> {
    let text = String::from_utf8_lossy(&input::bytes(path)?).into_owned();
    let then =
        Results::from_json(&text).map_err(|error| CliError::input(AtFile::new(path, error)))?;
    // Seconds and requests have no ratio.
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
