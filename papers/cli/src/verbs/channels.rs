//! `seatmap-papers channels`.

use crate::args::{ChannelsArgs, ChannelsWhat};
use crate::figures::FigureChanges;
use crate::machine::{self, ExperimentRunner};
use seatmap_console::error::CliError;
use seatmap_console::here;
use seatmap_console::output::{self, Destination, OfMachine};
use seatmap_data::machine::{Origin, OriginKind, Profile, Topology};
use seatmap_data::port::Testbed;
use seatmap_experiments::channels;
use seatmap_experiments::channels::{ChannelsResult, Chip, ExperimentOptions, MachineLoad};
use seatmap_machines::catalog::Capability;
use seatmap_machines::host::HostTestbed;
use seatmap_papers_report::{channels as report, html};
use seatmap_sim::coherent::CoherentCounters;
use seatmap_sim::{CoherentBed, CoherentModel};
use std::sync::Arc;

struct Outcome {
    found: ChannelsResult,
    topology: Topology,
    model: Option<Arc<CoherentModel>>,
}

impl Outcome {
    fn machine(&self) -> String {
        self.model.as_ref().map_or_else(here::host_name, |model| model.name.clone())
    }
}

pub fn run(typed: &ChannelsArgs) -> Result<(), CliError> {
    let picture = output::beside(typed.svg.as_deref(), None, "--svg")?;
    let page = output::beside(typed.html.as_deref(), None, "--html")?;
    let wanting_stdout =
        [&picture, &page].iter().filter(|to| ***to == Some(Destination::Stdout)).count();
    if wanting_stdout + usize::from(typed.json) > 1 {
        return Err(CliError::input("only one of --json, --svg - and --html - can have stdout"));
    }
    let options = options(typed);
    let runner = machine::runner(&typed.on, Capability::RunsLines, &FigureChanges::default())?;
    runner.check_cpus(typed.cpus.as_ref())?;
    let outcome = match runner {
        ExperimentRunner::Host => on_host(&here::cpus_to_measure(typed.cpus.as_ref())?, &options)?,
        ExperimentRunner::Coherent(model) => on_model(model, &options)?,
        // SPEs share no lines, so the check for the capability has rejected these models.
        ExperimentRunner::CellBe(model) => {
            unreachable!("{} does not run programs that share lines", model.name)
        }
    };
    if let Some(picture) = &picture {
        picture.write(&seatmap_papers_report::svg::channels(&outcome.found))?;
    }
    if let Some(page) = &page {
        page.write(&page_of(&outcome))?;
    }
    match (typed.json, wanting_stdout) {
        (true, _) => {
            output::json(&OfMachine { document: &outcome.found, machine: &outcome.machine() })
        }
        (_, 0) => output::print(&report::text(&outcome.found)),
        _ => Ok(()),
    }
}

fn page_of(outcome: &Outcome) -> String {
    let name = outcome.machine();
    let Outcome { found, topology, model } = outcome;
    // The page shows only the topology, not the profile's origin.
    let origin = Origin { kind: OriginKind::Model, source: name.clone(), date: None, tool: None };
    let profile = Profile::new(&name, origin, topology.clone());
    let Some(seated) = found.seated() else { return html::channels(found, &name, None) };
    let pattern = report::pattern(&seated);
    let comparison = report::comparison(found, &seated, &pattern, &profile, model.as_deref());
    html::channels(found, &name, Some(&comparison))
}

fn options(typed: &ChannelsArgs) -> ExperimentOptions {
    let seed = typed.seed;
    match typed.what.clone() {
        ChannelsWhat::Curve { from, line, pairs, runs } => {
            ExperimentOptions::curve(from, line, pairs.into(), runs, seed)
        }
        ChannelsWhat::Slices { pairs, sections, lines, runs } => {
            ExperimentOptions::slices(pairs.into(), sections, lines.map(usize::from), runs, seed)
        }
        ChannelsWhat::ProducerConsumer { seats, iterations, values } => {
            ExperimentOptions::pairs(seats.into(), iterations, values, seed)
        }
        ChannelsWhat::Mandelbrot { coordinators, workers, lines, iterations, side, frames } => {
            let tasks = (coordinators.into(), workers.into());
            ExperimentOptions::renderer(
                tasks,
                lines.map(usize::from),
                iterations,
                (side, frames),
                seed,
            )
        }
    }
}

fn on_host(cpus: &[u32], options: &ExperimentOptions) -> Result<Outcome, CliError> {
    let topology = seatmap_machines::host::topology::reachable().map_err(CliError::work)?;
    let chip = Chip::new(&topology, cpus);
    let mut bed =
        HostTestbed::new(cpus.to_vec(), options.lines_needed()).map_err(CliError::work)?;
    // A real computer is noisy and needs several batches per pair; a model needs one.
    let options = options.clone().with_batches(channels::BATCHES_ON_HOSTS);
    let found = channels::run(&mut bed, &chip, &options, |_| None)?;
    Ok(Outcome { found, topology, model: None })
}

fn on_model(model: Arc<CoherentModel>, options: &ExperimentOptions) -> Result<Outcome, CliError> {
    let mut bed = CoherentBed::new(Arc::clone(&model));
    let chip = Chip::new(&model.topology, bed.pus());
    let found = channels::run(&mut bed, &chip, options, |bed| Some(load(bed.counters())))?;
    Ok(Outcome { found, topology: model.topology.clone(), model: Some(model) })
}

fn load(counters: &CoherentCounters) -> MachineLoad {
    let lanes: Vec<u64> = counters.lanes.iter().map(|lane| lane.busy_cycles).collect();
    let directories: Vec<u64> =
        counters.directories.iter().map(|directory| directory.busy_cycles).collect();
    MachineLoad::of(counters.cycles, counters.links.len(), &lanes, &directories)
}
