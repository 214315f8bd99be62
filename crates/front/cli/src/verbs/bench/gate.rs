//! `seatmap bench --file`, and `--base` with `--head`.

use super::{Bench, room, summary, tell};
use crate::verbs;
use seatmap_console::{AtPath, Bar, CliError, CliResult, StopFlag, here, input, output};
use seatmap_data::document::Failure;
use seatmap_launch::share::SoleWork;
use seatmap_report::gate;
use seatmap_trial::gate::session::GateRequest;
use seatmap_trial::gate::{BenchmarksFile, HistoryEntry};

pub fn run(typed: &Bench) -> CliResult {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let summary = summary(typed, &outputs)?;
    let request = meant(typed)?;
    let interrupt = StopFlag::listen()?;
    let mut bar = Some(Bar::new("running"));
    let (report, end) =
        seatmap_trial::gate::session::run(&request, &|| interrupt.is_raised(), &mut |event| {
            tell(&event, &mut bar);
        })?;
    drop(bar);
    outputs.write(&report, false)?;
    let page = gate::page(&report);
    if let Some(place) = &summary {
        place.write(&page.markdown())?;
    }
    output::even_unread(outputs.show(&report, &page))?;
    end.map_err(CliError::work)?;
    if let Some(history) = &typed.history {
        // Only complete sessions are added.
        let appended = HistoryEntry::of(&report).append(history);
        appended.work_at(history)?;
    }
    report.check(typed.strict).map_err(CliError::work)
}

fn meant(typed: &Bench) -> CliResult<GateRequest> {
    let file = match &typed.file {
        Some(path) => input::document(path, BenchmarksFile::from_toml)?,
        None => BenchmarksFile::of_command(
            typed.name.as_deref(),
            &typed.command,
            &typed.metric,
            typed.readings.direction(),
            typed.warmup,
        ),
    };
    let overrides = BenchmarksFile {
        base: typed.base.clone(),
        head: typed.head.clone(),
        fail_above_percent: typed.fail_above,
        runs: typed.runs,
        seconds: typed.seconds.map(|time| time.as_secs_f64()),
        ..BenchmarksFile::default()
    };
    let planned = file.planned(&overrides, typed.randomness.confidence);
    let request = GateRequest {
        benchmarks: planned.map_err(|error| refusal(typed, error))?,
        confidence: typed.randomness.confidence,
        seed: typed.randomness.seed,
        room: room(typed)?,
        label: typed.label.clone(),
        machine: here::host_name(),
        now: here::now,
    };
    request.check().map_err(CliError::input)?;
    if let Some(history) = &typed.history {
        HistoryEntry::check_place(history).at(history)?;
    }
    verbs::run::check_sole(SoleWork::Bench)?;
    Ok(request)
}

fn refusal(typed: &Bench, error: Failure) -> CliError {
    match &typed.file {
        Some(path) => CliError::at(path, error),
        None => CliError::input(error),
    }
}
