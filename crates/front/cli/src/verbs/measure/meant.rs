//! Converts a command line into a measurement, or a usage error.

use crate::args::MeasureArgs;
use seatmap_console::error::{CliError, with_causes};
use seatmap_console::{here, input, output};
use seatmap_machines::catalog::{Capability, Machine, MachineKind};
use seatmap_measure::measurement::MeasurementRequest;
use seatmap_measure::plan::Effort;
use seatmap_measure::source::{MeasuredBy, RoundTripSource};
use seatmap_measure::wakeups::USUAL_PAIRS;
use std::sync::Arc;

pub fn request(typed: &MeasureArgs, machine: &Machine) -> Result<MeasurementRequest, CliError> {
    let source = source(typed, machine)?;
    let journal = source.journal(typed.output.as_deref()).unwrap_or_else(|error| {
        output::tell(&format!("the measurement will not be saved: {}", with_causes(&error)));
        None
    });
    if typed.resume && journal.is_none() {
        return Err(CliError::input("--resume needs -o FILE here: no measurement was saved"));
    }
    if !source.is_host() && typed.speed {
        return Err(CliError::input(format!(
            "--speed measures this host, not {}; a machine's file states the speed of its CPUs \
             ([speed])",
            source.name()
        )));
    }
    if !source.is_host() && typed.wakeups.is_some() {
        return Err(CliError::input(format!(
            "--wakeups measures this host, not {}; leave --wakeups out",
            source.name()
        )));
    }
    Ok(MeasurementRequest {
        source,
        effort: match (typed.quick, typed.thorough) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Thorough,
            _ => Effort::Usual,
        },
        passes: typed.passes,
        seed: typed.seed,
        parallel: typed.parallel,
        homes: typed.homes,
        utilisation_percent: typed.utilisation.unwrap_or(0).into(),
        loaded: typed.loaded,
        speed: typed.speed,
        wakeup_pairs: typed.wakeups.unwrap_or(USUAL_PAIRS),
        journal,
        resume: typed.resume,
        by: MeasuredBy { tool: here::tool(), date: here::today() },
    })
}

fn source(typed: &MeasureArgs, machine: &Machine) -> Result<RoundTripSource, CliError> {
    let cpus = typed.cpus.as_ref().map(|cpus| cpus.on(machine)).transpose()?;
    let cpus = cpus.as_ref();
    let is_host = machine.is_host();
    let is_model = matches!(machine.kind, MachineKind::Model(_));
    // A profile without distances, such as a topology, has nothing to replay.
    if !is_host && !is_model {
        machine.require(Capability::Distances).map_err(CliError::input)?;
    }
    // On the host homes are measured; a file or model must have them.
    if typed.homes > 1 && !is_host {
        machine.require(Capability::Homes).map_err(CliError::input)?;
    }
    if let Some(percent) = typed.utilisation.filter(|_| !is_model) {
        return Err(CliError::input(format!(
            "--utilisation {percent}: {} is {}; only a model can keep its other CPUs busy",
            typed.on,
            machine.kind()
        )));
    }
    let source = match &machine.kind {
        MachineKind::Host => RoundTripSource::host(here::cpus_to_measure(cpus)?),
        MachineKind::Model(model) => RoundTripSource::simulated(Arc::clone(model), cpus),
        _ => RoundTripSource::replayed(input::profile_of(machine)?, cpus),
    };
    Ok(source?)
}
