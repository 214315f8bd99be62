//! `seatmap stats`.

use crate::args::Stats;
use crate::error::CliError;
use crate::output::{self, Destination};
use crate::{bar, model_input};
use seatmap_measure::cell_stats::{Function, Options, Outcome, Rooms, StatsError, measure, survey};
use seatmap_report::{html, stats};
use seatmap_sim::cell::Counters;
use seatmap_sim::{CellBed, CellModel, SimError};
use serde::Serialize;
use std::sync::Arc;

/// Operations of each experiment of a whole characterisation, where the machine does not repeat itself sooner.
const SURVEYED: u64 = 128;

/// One experiment's document.
#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    machine: &'a str,
    #[serde(flatten)]
    outcome: &'a Outcome,
    counters: &'a Counters,
}

/// The document of all of them.
#[derive(Serialize)]
struct All<'a> {
    format: &'static str,
    machine: &'a str,
    #[serde(flatten)]
    survey: &'a seatmap_measure::cell_stats::Survey,
    recommendations: Vec<String>,
}

const FORMAT: &str = "seatmap-stats/1";

/// Says what each way of communicating costs.
pub fn run(typed: &Stats) -> Result<(), CliError> {
    let mut bed = model_input::bed(&typed.on)?;
    let rooms = rooms(bed.model());
    match typed.function {
        Some(function) => one(typed, &mut bed, &rooms, options(typed, function.0)),
        None => all(typed, bed.model(), &rooms),
    }
}

fn rooms(model: &CellModel) -> Rooms {
    let spes = model.spes.len() as u32;
    Rooms {
        chips: (0..model.chips as u32).map(|chip| (chip * spes..(chip + 1) * spes).collect()).collect(),
        controller: Some(model.ppe()),
        modules: model.chips,
        worker: "SPE",
        is_deterministic: true,
    }
}

fn options(typed: &Stats, function: Function) -> Options {
    let usual = Options::new(function);
    Options {
        workers: typed.shared.or(typed.private).unwrap_or(if typed.between { 2 } else { 1 }),
        is_private: typed.private.is_some(),
        chip: typed.chip,
        module: typed.module,
        iterations: typed.iterations,
        warm_up: typed.warm_up,
        // A quadword is the smallest transfer that may be anywhere.
        size_bytes: typed.size.unwrap_or(if function.transfer().is_some() { 128 } else { usual.size_bytes }),
        between_workers: typed.between,
        stride_bytes: typed.stride,
        elements: typed.elements,
        by_system_call: typed.syscall,
        ..usual
    }
}

fn one(typed: &Stats, bed: &mut CellBed, rooms: &Rooms, options: Options) -> Result<(), CliError> {
    let destination = typed.trace.as_deref().map(Destination::new).transpose()?;
    let outcome = measure(bed, rooms, &options).map_err(failed)?;
    if let Some(destination) = destination {
        trace(bed, rooms, options, &destination)?;
    }
    let machine = bed.model().name.clone();
    if typed.json {
        let document = Document { format: FORMAT, machine: &machine, outcome: &outcome, counters: bed.counters() };
        return output::print(&(serde_json::to_string(&document).map_err(CliError::work)? + "\n"));
    }
    output::print(&stats::outcome(&machine, &outcome, options.iterations))
}

/// A short run of the same, with its trace.
fn trace(bed: &mut CellBed, rooms: &Rooms, options: Options, to: &Destination) -> Result<(), CliError> {
    bed.traces = true;
    measure(bed, rooms, &Options { iterations: options.iterations.min(64), warm_up: 0, ..options }).map_err(failed)?;
    bed.traces = false;
    let mut text = Vec::new();
    bed.trace().map_or(Ok(()), |trace| trace.write(&mut text)).map_err(CliError::work)?;
    to.write(&String::from_utf8_lossy(&text))
}

fn all(typed: &Stats, model: &Arc<CellModel>, rooms: &Rooms) -> Result<(), CliError> {
    let page = typed.html.as_deref().map(Destination::new).transpose()?;
    let bar = bar::Bar::new("measuring");
    let made = || CellBed::new(Arc::clone(model));
    let survey = survey(made, rooms, SURVEYED, |done, steps| bar.show(done, steps)).map_err(failed)?;
    drop(bar);
    if let Some(page) = page {
        page.write(&html::stats(&model.name, &survey))?;
    }
    if typed.json {
        let recommendations = stats::recommendations(&survey);
        let document = All { format: FORMAT, machine: &model.name, survey: &survey, recommendations };
        return output::print(&(serde_json::to_string(&document).map_err(CliError::work)? + "\n"));
    }
    output::print(&stats::survey(&model.name, &survey))
}

fn failed(error: StatsError<SimError>) -> CliError {
    match error {
        StatsError::Impossible(_) => CliError::input(error),
        StatsError::Run(error) => model_input::failed(error),
    }
}
