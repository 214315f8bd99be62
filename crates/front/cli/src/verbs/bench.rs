//! `seatmap bench`.

mod args;
mod gate;
mod history;

pub use args::{Bench, BetterReadings, RandomOrders, SESSION};

use crate::{myself, verbs};
use args::BenchOverTime;
use seatmap_console::{
    Bar, CliError, CliResult, Destination, Outputs, StopFlag, here, input, output, program,
};
use seatmap_launch::share::SoleWork;
use seatmap_report::{bench, under_way};
use seatmap_trial::tune::bench::{OwnCells, RoomRequest, named, told_apart};
use seatmap_trial::tune::{BenchEvent, BenchRequest, BenchResults, Length};
use std::num::NonZeroUsize;
use std::path::Path;

pub fn run(typed: &Bench) -> CliResult {
    match &typed.over_time {
        Some(BenchOverTime::History(typed)) => history::run(typed),
        None if typed.is_of_versions() => gate::run(typed),
        None => commands(typed),
    }
}

fn commands(typed: &Bench) -> CliResult {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let summary = summary(typed, &outputs)?;
    let request = meant(typed, &outputs)?;
    let interrupt = StopFlag::listen()?;
    let mut bar = Some(Bar::new("running"));
    let (results, end) =
        seatmap_trial::tune::bench::run(&request, &|| interrupt.is_raised(), &mut |event| {
            tell(&event, &mut bar);
        })?;
    drop(bar);
    let ended = end.map_err(CliError::work);
    if results.runs.is_empty() {
        return ended;
    }
    outputs.write(&results, false)?;
    let page = bench::page(&results);
    if let Some(place) = &summary {
        place.write(&page.markdown())?;
    }
    output::even_unread(outputs.show(&results, &page))?;
    // An interrupted session shows its results, and then fails.
    ended?;
    let Some(most) = typed.fail_above else { return Ok(()) };
    results.check_limit(most).map_err(CliError::work)?;
    match results.check_shown(most) {
        Err(unshown) if typed.strict => Err(CliError::work(unshown)),
        Err(unshown) => {
            output::tell(&unshown.to_string());
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn summary(typed: &Bench, outputs: &Outputs) -> CliResult<Option<Destination>> {
    output::beside(typed.markdown.as_deref(), outputs.on_stdout(), "--markdown")
}

fn tell(event: &BenchEvent<'_>, bar: &mut Option<Bar>) {
    if let (BenchEvent::RunMade { runs, of }, Some(bar)) = (event, &bar) {
        bar.show(*runs, *of);
    }
    if let Some(line) = under_way::of_bench(event) {
        *bar = None;
        output::tell(&line);
        if matches!(event, BenchEvent::TooLong(_)) {
            *bar = Some(Bar::new("running"));
        }
    }
}

fn meant(typed: &Bench, outputs: &Outputs) -> CliResult<BenchRequest> {
    refuse_if!(
        typed.history.is_some() || typed.label.is_some(),
        "--history and --label need two versions of a program: add --file bench.toml, or \
         --base PROGRAM --head PROGRAM"
    );
    let way = typed.typed_side_by_side().filter(|_| !program::is_after_dashes(&typed.command));
    CliError::check_input(way)?;
    let own = named(typed.name.as_deref(), &typed.command);
    let others = typed.compare.iter();
    let others = others.map(|other| named(other.name.as_deref(), &other.command));
    let commands = std::iter::once(own).chain(others).collect::<Result<_, _>>();
    let request = BenchRequest {
        commands: told_apart(commands.map_err(CliError::input)?),
        metric: typed.metric.clone(),
        better: typed.metric.better(typed.readings.direction()),
        confidence: typed.randomness.confidence,
        seed: typed.randomness.seed,
        length: Length::new(
            typed.warmup.into(),
            typed.runs,
            typed.seconds,
            typed.randomness.confidence,
        ),
        baseline: typed.baseline.as_deref().map(|path| earlier(path, typed)).transpose()?,
        room: room(typed)?,
        kept: outputs.path().map(Path::to_owned),
        machine: here::host_name(),
        now: here::now,
    };
    // Otherwise a test in CI would always pass.
    if typed.fail_above.is_some() {
        CliError::check_input(request.limit_problem())?;
    }
    // After all errors of usage, which each instance reports.
    verbs::run::check_sole(SoleWork::Bench)?;
    Ok(request)
}

fn room(typed: &Bench) -> CliResult<RoomRequest> {
    let chosen = typed.or_all.here(typed.cpus.as_ref())?;
    Ok(RoomRequest {
        cpus: chosen.as_ref().map(|chosen| (&chosen.list).into()),
        words: chosen.and_then(|chosen| chosen.kept).map(|kept| kept.words),
        seats: typed.seats.map(NonZeroUsize::get),
        is_quiet: typed.quiet,
        cells: OwnCells { guardian: myself::cell_guardian(), in_cell: myself::in_cell },
    })
}

fn earlier(path: &Path, typed: &Bench) -> CliResult<BenchResults> {
    input::document(path, |text| BenchResults::baseline(text, &typed.metric))
}
