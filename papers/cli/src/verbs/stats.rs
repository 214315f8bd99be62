//! `seatmap-papers stats`.

mod taken;

use crate::args::Stats;
use crate::machine::{self, ExperimentRunner};
use seatmap_cell_sim::channels::{Bed, BedError, HostBed};
use seatmap_cell_sim::{CellBed, CellModel};
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::values::LevelChoice;
use seatmap_console::{bar, here};
use seatmap_data::machine::{Level, Topology};
use seatmap_data::statistics::median;
use seatmap_experiments::cell_stats::{
    CellStatsPrimitive, CellStatsSurvey, Refused, Rooms, StatsError, StatsOptions, StatsResult,
    SurveyLatency, measure, survey,
};
use seatmap_experiments::primitives::{self, PrimitiveTimes};
use seatmap_machines::catalog::Capability;
use seatmap_machines::host::topology;
use seatmap_papers_report::{html, stats, svg};
use seatmap_sim::{CoherentBed, CoherentModel};
use serde::Serialize;
use std::sync::Arc;

/// The most operations per experiment of a survey; a deterministic machine may repeat itself
/// earlier.
const ON_MODELS: u64 = 128;
/// Fewer on models of many PUs, because each word of a copy is simulated.
const ON_COHERENT: u64 = 32;
/// More on a real machine, where the clock and other programs disturb the measurement.
const ON_HOST: u64 = 5000;

const FORMAT: &str = "seatmap-stats/1";

#[derive(Serialize)]
struct Document<'a, C> {
    format: &'static str,
    machine: &'a str,
    #[serde(flatten)]
    outcome: &'a StatsResult,
    counters: Option<&'a C>,
}

#[derive(Serialize)]
struct All<'a> {
    format: &'static str,
    machine: &'a str,
    #[serde(flatten)]
    survey: &'a CellStatsSurvey,
    recommendations: Vec<String>,
}

pub fn run(typed: &Stats) -> Result<(), CliError> {
    taken::check(typed)?;
    let runner = machine::runner(&typed.on, Capability::RunsChannels, &typed.figures)?;
    runner.check_cpus(typed.cpus.as_ref())?;
    match runner {
        ExperimentRunner::Host => on_host(typed),
        ExperimentRunner::CellBe(model) => on_cell(typed, &model),
        ExperimentRunner::Coherent(model) => on_coherent(typed, &model),
    }
}

fn on_cell(typed: &Stats, model: &Arc<CellModel>) -> Result<(), CliError> {
    // The default is "package", so another class was given.
    if typed.class != LevelChoice::Package {
        return Err(CliError::input(
            "--class is for machines whose CPUs share caches, not for a Cell",
        ));
    }
    let rooms = rooms(model);
    // Without a function, all are measured, each on a fresh bed.
    let Some(function) = typed.function else {
        return all(
            typed,
            &model.name,
            surveyed(|| Ok(CellBed::new(Arc::clone(model))), &rooms, ON_MODELS)?,
        );
    };
    let mut bed = CellBed::new(Arc::clone(model));
    let options = options(typed, function.0);
    // Opened before the run, so that an unwritable file is rejected early.
    let destination = typed.trace.as_deref().map(Destination::new).transpose()?;
    let outcome =
        measure(&mut bed, &rooms, &options).map_err(|error| failed(error, CliError::from))?;
    // Before the trace, which needs another run.
    let counters = bed.counters().clone();
    if let Some(destination) = destination {
        trace(&mut bed, &rooms, options, &destination)?;
    }
    one(typed, &model.name, &outcome, options, Some(&counters))
}

fn on_coherent(typed: &Stats, model: &Arc<CoherentModel>) -> Result<(), CliError> {
    let pus: Vec<u32> = model.topology.os_indices().collect();
    let mut bed = CoherentBed::new(Arc::clone(model));
    let rooms = shared_rooms(&model.topology, &pus, bed.modules(), typed.class.into())?;
    // A computer's rooms, except that a model is deterministic.
    let rooms = Rooms { is_deterministic: true, ..rooms };
    if typed.trace.is_some() {
        return Err(CliError::input("--trace needs a model of the Cell"));
    }
    let Some(function) = typed.function else {
        return all(
            typed,
            &model.name,
            surveyed(|| Ok(CoherentBed::new(Arc::clone(model))), &rooms, ON_COHERENT)?,
        );
    };
    let options = options(typed, function.0);
    let outcome =
        measure(&mut bed, &rooms, &options).map_err(|error| failed(error, CliError::from))?;
    one(typed, &model.name, &outcome, options, Some(bed.counters()))
}

/// On this computer, groups of a class count as chips, NUMA nodes as memories, and a CPU acts as
/// the controller.
fn on_host(typed: &Stats) -> Result<(), CliError> {
    let cpus = here::cpus_to_measure(typed.cpus.as_ref())?;
    let mut bed = HostBed::on(cpus.clone()).map_err(CliError::work)?;
    let topology = topology::reachable().map_err(CliError::work)?;
    let rooms = shared_rooms(&topology, bed.pus(), bed.modules(), typed.class.into())?;
    if typed.trace.is_some() {
        return Err(CliError::input(
            "--trace needs a model: the inside of this computer is not visible",
        ));
    }
    let name = here::host_name();
    let Some(function) = typed.function else {
        let here = surveyed(|| HostBed::on(cpus.clone()), &rooms, ON_HOST)?;
        return all(typed, &name, with_primitives(here, &topology, bed.pus())?);
    };
    let options = options(typed, function.0);
    if function.0 == CellStatsPrimitive::MkThread {
        return Err(CliError::input(
            "mkthread is for models of the Cell; leave -f out to measure this computer's threads",
        ));
    }
    let outcome =
        measure(&mut bed, &rooms, &options).map_err(|error| failed(error, failed_here))?;
    one(typed, &name, &outcome, options, None::<&()>)
}

fn rooms(model: &CellModel) -> Rooms {
    let spes = model.spes.len() as u32;
    Rooms {
        chips: (0..model.chips as u32)
            .map(|chip| (chip * spes..(chip + 1) * spes).collect())
            .collect(),
        controller: Some(model.ppe()),
        modules: model.chips,
        worker: "SPE",
        is_deterministic: true,
        has_system: true,
    }
}

fn shared_rooms(
    topology: &Topology,
    pus: &[u32],
    modules: usize,
    class: Level,
) -> Result<Rooms, CliError> {
    Rooms::of_computer(topology, pus, class, modules).ok_or_else(|| {
        CliError::input(format!(
            "this machine does not say which CPUs share a {}; use another --class",
            class.name()
        ))
    })
}

fn with_primitives(
    mut survey: CellStatsSurvey,
    topology: &Topology,
    cpus: &[u32],
) -> Result<CellStatsSurvey, CliError> {
    for PrimitiveTimes { what, batches_ns } in
        primitives::survey(topology, cpus).map_err(CliError::work)?
    {
        match batches_ns {
            Ok(batches) => survey
                .rows
                .extend(median(&batches).map(|latency_ns| SurveyLatency { what, latency_ns })),
            Err(why) => survey.refused.push(Refused { what, why }),
        }
    }
    Ok(survey)
}

fn options(typed: &Stats, function: CellStatsPrimitive) -> StatsOptions {
    let usual = StatsOptions::new(function);
    let is_among = typed.between || function.collective().is_some();
    // Transfers move a line of the Cell by default; the usual 4 bytes are for atomics.
    let usual_size_bytes = match (function.transfer(), function.collective()) {
        (Some(_), _) => 128,
        (None, Some(_)) => 1024,
        (None, None) => usual.size_bytes,
    };
    StatsOptions {
        // Operations between workers need at least two.
        workers: typed.shared.or(typed.private).unwrap_or(if is_among { 2 } else { 1 }),
        is_private: typed.private.is_some(),
        chip: typed.chip.unwrap_or(usual.chip),
        module: typed.module.unwrap_or(usual.module),
        iterations: typed.iterations.unwrap_or(usual.iterations),
        warm_up: typed.warm_up.unwrap_or(usual.warm_up),
        size_bytes: typed.size.unwrap_or(usual_size_bytes),
        between_workers: typed.between,
        stride_bytes: typed.stride,
        elements: typed.elements.unwrap_or(usual.elements),
        by_system_call: typed.syscall,
        ..usual
    }
}

fn one(
    typed: &Stats,
    machine: &str,
    outcome: &StatsResult,
    options: StatsOptions,
    counters: Option<&impl Serialize>,
) -> Result<(), CliError> {
    if typed.json {
        return output::json(&Document { format: FORMAT, machine, outcome, counters });
    }
    output::print(&stats::outcome(machine, outcome, options.iterations))
}

fn trace(
    bed: &mut CellBed,
    rooms: &Rooms,
    options: StatsOptions,
    to: &Destination,
) -> Result<(), CliError> {
    bed.traces = true;
    // A trace holds every event, and the pattern repeats after a few operations.
    let short = StatsOptions { iterations: options.iterations.min(64), warm_up: 0, ..options };
    measure(bed, rooms, &short).map_err(|error| failed(error, CliError::from))?;
    let mut text = Vec::new();
    bed.trace().map_or(Ok(()), |trace| trace.write(&mut text)).map_err(CliError::work)?;
    to.write(&String::from_utf8_lossy(&text))
}

fn surveyed<B: Bed>(
    made: impl Fn() -> Result<B, B::Error> + Sync,
    rooms: &Rooms,
    iterations: u64,
) -> Result<CellStatsSurvey, CliError> {
    let bar = bar::Bar::new("measuring");
    let found = survey(made, rooms, iterations, |done, steps| bar.show(done, steps));
    found.map_err(|error| failed(error, CliError::work))
}

fn all(typed: &Stats, machine: &str, survey: CellStatsSurvey) -> Result<(), CliError> {
    let files: [(_, _, &dyn Fn() -> String); 3] = [
        (&typed.html, "--html", &|| html::stats(machine, &survey)),
        (&typed.svg, "--svg", &|| svg::stats(&survey)),
        (&typed.csv, "--csv", &|| stats::csv(&survey)),
    ];
    let mut on_stdout = typed.json.then_some("--json");
    for (path, option, text) in files {
        let Some(to) = output::beside(path.as_deref(), on_stdout, option)? else { continue };
        to.write(&text())?;
        on_stdout = on_stdout.or((to == Destination::Stdout).then_some(option));
    }
    if typed.json {
        let recommendations = stats::recommendations(&survey);
        return output::json(&All { format: FORMAT, machine, survey: &survey, recommendations });
    }
    // Text after a file on stdout would become part of it.
    on_stdout.map_or_else(|| output::print(&stats::survey(machine, &survey)), |_| Ok(()))
}

fn failed<E: std::error::Error + 'static>(
    error: StatsError<E>,
    run: impl Fn(E) -> CliError,
) -> CliError {
    match error {
        StatsError::Impossible(text) => CliError::input(text),
        StatsError::Apart { .. } => CliError::work(error),
        StatsError::Run(error) => run(error),
    }
}

fn failed_here(error: BedError) -> CliError {
    match error {
        BedError::System { .. }
        | BedError::Topology(_)
        | BedError::Crew(_)
        | BedError::Panicked { .. } => CliError::work(error),
        _ => CliError::input(error),
    }
}
