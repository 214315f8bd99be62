//! Converts a command line into a request, or a usage error.

use crate::args::Advise;
use crate::myself;
use crate::verbs::run as page;
use seatmap_advise::request::{AdviceDistances, PROOF, TRIAL};
use seatmap_advise::{AdviceRequest, Scope};
use seatmap_cluster::node_profile::remembered_or_measured;
use seatmap_console::error::CliError;
use seatmap_console::{here, input, living};
use seatmap_data::machine::{Profile, Topology};
use seatmap_launch::Executable;
use seatmap_machines::host::topology;
use seatmap_observe::SubjectCommand;
use seatmap_watch::ProcessChoice;

/// The request; `leaves_stdout` if stdout is for a document.
pub fn request(typed: &Advise, leaves_stdout: bool) -> Result<AdviceRequest, CliError> {
    let scope = scope(typed, leaves_stdout)?;
    let topology = topology::of_group().map_err(CliError::work)?;
    let distances = match &typed.on {
        Some(name) => {
            AdviceDistances::Elsewhere(Box::new(input::profile_of(&input::machine(name)?)?))
        }
        None => AdviceDistances::Here(measured_here),
    };
    Ok(AdviceRequest {
        scope,
        trial: typed.seconds.unwrap_or(if typed.prove { PROOF } else { TRIAL }),
        proves: typed.prove,
        metric: typed.metric.clone(),
        topology,
        distances,
        guardian: myself::mask_guardian(),
        machine: here::host_name(),
        begun: here::now(),
    })
}

fn scope(typed: &Advise, leaves_stdout: bool) -> Result<Scope, CliError> {
    if typed.command.is_empty() {
        let named =
            ProcessChoice::named(&typed.pid, true, typed.cgroup.clone(), typed.name.clone());
        let unit = typed.unit.clone().map(ProcessChoice::Unit);
        return Ok(Scope::Running(unit.or(named).unwrap_or(ProcessChoice::All)));
    }
    let how = "seatmap advise --name NAME";
    living::check_not_running(&typed.command, how).map_err(CliError::input)?;
    Executable::find(&typed.command).map_err(CliError::input)?;
    page::warn_of_handing_over(&typed.command);
    Ok(Scope::Command(SubjectCommand { words: typed.command.clone(), leaves_stdout }))
}

/// Remembered distances, or a quick measurement.
fn measured_here(topology: &Topology) -> Option<Profile> {
    let remembered = input::remembered_of_host();
    remembered_or_measured(remembered, topology.pus.len(), &mut myself::quick_measurement())
}
