//! `seatmap channels`.

use crate::args::{Channels, ChannelsWhat};
use crate::error::CliError;
use crate::model_input;
use crate::output::{self, Destination};
use seatmap_host::HostTestbed;
use seatmap_host::cpus::Cpus;
use seatmap_measure::channels::{self, ChannelsError, Chip, Found, Load, Wanted};
use seatmap_port::Testbed;
use seatmap_sim::CoherentBed;
use seatmap_sim::catalog::Model;
use seatmap_sim::coherent::Counters;
use std::sync::Arc;

/// Runs programs of channels.
pub fn run(typed: &Channels) -> Result<(), CliError> {
    let picture = typed.svg.as_deref().map(Destination::new).transpose()?;
    if typed.json && picture == Some(Destination::Stdout) {
        return Err(CliError::input("only one of --json and --svg - can have stdout"));
    }
    let wanted = wanted(typed);
    let found = match typed.on.as_str() {
        "host" => on_host(&wanted)?,
        name => on_model(name, &wanted)?,
    };
    if let Some(picture) = &picture {
        picture.write(&seatmap_report::svg::channels(&found))?;
    }
    match (typed.json, picture) {
        (true, _) => output::print(&(serde_json::to_string(&found).map_err(CliError::work)? + "\n")),
        (_, Some(Destination::Stdout)) => Ok(()),
        _ => output::print(&seatmap_report::channels::text(&found)),
    }
}

fn wanted(typed: &Channels) -> Wanted {
    let seed = typed.seed;
    match typed.what.clone() {
        ChannelsWhat::Curve { from, line, pairs, runs } => Wanted::curve(from, line, pairs.into(), runs, seed),
        ChannelsWhat::Slices { pairs, sections, lines, runs } => {
            Wanted::slices(pairs.into(), sections, lines.map(usize::from), runs, seed)
        }
        ChannelsWhat::ProducerConsumer { seats, iterations, values } => {
            Wanted::pairs(seats.into(), iterations, values, seed)
        }
        ChannelsWhat::Mandelbrot { coordinators, workers, lines, iterations, side, frames } => {
            let tasks = (coordinators.into(), workers.into());
            Wanted::renderer(tasks, lines.map(usize::from), iterations, (side, frames), seed)
        }
    }
}

fn on_host(wanted: &Wanted) -> Result<Found, CliError> {
    let topology = seatmap_host::topology::of_host().map_err(CliError::work)?;
    let allowed = Cpus::read().map_err(CliError::work)?.allowed;
    let chip = Chip::new(&topology, &allowed);
    let mut bed = HostTestbed::new(allowed, wanted.lines_needed()).map_err(CliError::work)?;
    let wanted = wanted.clone().with_batches(channels::BATCHES_ON_HOSTS);
    channels::run(&mut bed, &chip, &wanted, |_| None).map_err(failed)
}

fn on_model(name: &str, wanted: &Wanted) -> Result<Found, CliError> {
    let Model::Coherent(model) = model_input::model(name)? else {
        return Err(CliError::input(format!("{name} has no coherent caches; 'seatmap stats' and 'rank' run on it")));
    };
    let mut bed = CoherentBed::new(Arc::clone(&model));
    let chip = Chip::new(&model.topology, bed.pus());
    channels::run(&mut bed, &chip, wanted, |bed| Some(load(bed.counters()))).map_err(failed)
}

fn load(counters: &Counters) -> Load {
    let lanes: Vec<u64> = counters.lanes.iter().map(|lane| lane.busy_cycles).collect();
    let directories: Vec<u64> = counters.directories.iter().map(|directory| directory.busy_cycles).collect();
    Load::of(counters.cycles, counters.links.len(), &lanes, &directories)
}

/// Whose fault it is: what was asked for, or the work itself.
fn failed(error: ChannelsError) -> CliError {
    match error {
        ChannelsError::Unfit(_) => CliError::input(error),
        ChannelsError::Run(_) => CliError::work(error),
    }
}
