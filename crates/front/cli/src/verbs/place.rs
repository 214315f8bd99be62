//! `seatmap place`.

mod gallery;
mod outputs;
mod qaplib;
pub mod ranks;

use super::cluster;
use crate::args::{PlaceArgs, PreferChoice};
use outputs::PlaceOutputs;
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_console::waiting::Waiting;
use seatmap_console::{here, input, pattern_input};
use seatmap_data::machine::{Level, Profile};
use seatmap_data::pattern::Pattern;
use seatmap_machines::catalog::Machine;
use seatmap_machines::catalog::usable::{self, Usable};
use seatmap_measure::appraise::AppraisalRequest;
use seatmap_place::{PlaceMethod, PlaceRequest, Weight};

/// Places the tasks of a pattern on a machine, on the nodes of a cluster, or on the locations of a
/// QAPLIB instance. On the gallery, ranks its machines.
pub fn run(typed: &PlaceArgs) -> Result<(), CliError> {
    CliError::check_input(typed.unused())?;
    if let Some(folder) = typed.gallery() {
        CliError::check_input(typed.for_clusters())?;
        return gallery::run(typed, folder);
    }
    if typed.qaplib.is_none()
        && let Some(cluster) = cluster::of_file(&typed.on)?
    {
        return ranks::run(typed, &cluster);
    }
    CliError::check_input(typed.for_clusters())?;
    match &typed.qaplib {
        Some(file) => qaplib::run(typed, file),
        None => on_machine(typed),
    }
}

fn on_machine(typed: &PlaceArgs) -> Result<(), CliError> {
    let outputs = PlaceOutputs::new(typed)?;
    let inputs = Inputs::read(typed)?;
    let request = request(typed, &inputs, &outputs);
    CliError::check_input(typed.unused_loads(request.place.objective))?;
    let waiting = Waiting::new("searching", request.time.seconds());
    let appraisal = request.appraise()?;
    drop(waiting);
    outputs.write(&inputs, &appraisal)
}

fn pattern(typed: &PlaceArgs) -> Result<Pattern, CliError> {
    let mut pattern = pattern_input::pattern(typed.pattern.as_deref().unwrap_or_default())?;
    pattern_input::give_loads(&mut pattern, typed.load.as_deref())?;
    pattern.load_ns = typed.load_ns.or(pattern.load_ns);
    Ok(pattern)
}

struct Inputs {
    pattern: Pattern,
    machine: Machine,
    profile: Profile,
    weight: Weight,
    cpus: Option<Vec<u32>>,
}

impl Inputs {
    fn read(typed: &PlaceArgs) -> Result<Self, CliError> {
        let pattern = pattern(typed)?;
        let machine = input::machine(&typed.on)?;
        let profile = input::profile_of(&machine)?;
        let named = typed.cpus.as_ref().map(|cpus| cpus.on(&machine)).transpose()?;
        let named = named.map(|list| list.0);
        let fixed: Vec<u32> = typed.fix.iter().map(|(_, cpu)| *cpu).collect();
        let Usable { cpus, remarks } = usable::for_tasks(&machine, &profile, named, &fixed)?;
        output::tell_each(remarks);
        let weight = typed.weight.map_or(Weight::Bytes, Weight::from);
        Ok(Inputs { pattern, machine, profile, weight, cpus })
    }
}

fn request<'a>(
    typed: &PlaceArgs,
    inputs: &'a Inputs,
    outputs: &PlaceOutputs,
) -> AppraisalRequest<'a> {
    let method = typed.method();
    let mut place = PlaceRequest {
        weight: typed.weight.map(Into::into),
        waiting: typed.waiting(),
        cpus: inputs.cpus.clone(),
        kind: typed.kind.map(Into::into),
        equal_seats: typed.equal_kind,
        smt: typed.smt(),
        fixed: typed.fix.clone(),
        method,
        prefers_cache: typed.prefer == Some(PreferChoice::BigCache),
        homes: typed.homes || method == PlaceMethod::GetCore,
        threads: typed.threads(),
        seed: typed.seed,
        ..PlaceRequest::new(&inputs.profile, &inputs.pattern)
    };
    place.objective = typed
        .objective
        .map_or_else(|| place.usual_objective(), seatmap_data::plan::Objective::from);
    AppraisalRequest {
        machine: &inputs.machine,
        place,
        time: typed.time(),
        stop: None,
        rounds: typed.rounds(),
        widen: typed.widen.map(Level::from),
        near_memory: typed.memory,
        with_remarks: outputs.shows_remarks(),
        before: outputs.is_drawn().then_some(typed.before.into()),
        date: here::today(),
        tool: here::tool(),
    }
}
