//! The request that a command line means. All errors of usage are made here.

use crate::args::Advise;
use crate::myself;
use seatmap_advise::request::{Distances, LOOK, PROOF, TRIAL};
use seatmap_advise::{AdviceRequest, Scope};
use seatmap_cluster::node_profile::measured_by;
use seatmap_console::error::CliError;
use seatmap_console::{here, input};
use seatmap_host::topology;
use seatmap_launch::Executable;
use seatmap_machine::{Profile, Topology};
use seatmap_observe::SubjectCommand;
use seatmap_watch::Choice;
use std::path::Path;
use std::time::Duration;

/// More CPUs than this are not measured first: that would take longer than the look.
const MOST_MEASURED: usize = 64;

/// The longest that a quick measurement of them may take.
const MEASURING: Duration = Duration::from_secs(20);

/// The request that was typed.
pub fn request(typed: &Advise) -> Result<AdviceRequest, CliError> {
    let scope = scope(typed)?;
    let topology = topology::of_group().map_err(CliError::work)?;
    let distances = match &typed.on {
        Some(machine) => {
            let profile = input::profile_of(&input::machine(machine)?)?;
            Distances::Elsewhere(Box::new(profile))
        }
        None => Distances::Here(measured_here),
    };
    Ok(AdviceRequest {
        scope,
        look: LOOK,
        trial: typed.seconds.unwrap_or(if typed.prove { PROOF } else { TRIAL }),
        proves: typed.prove,
        metric: typed.metric.clone(),
        topology,
        distances,
        guard: myself::mask_guard(),
        machine: here::host_name(),
        begun: here::now(),
    })
}

fn scope(typed: &Advise) -> Result<Scope, CliError> {
    if typed.command.is_empty() {
        let cgroup = typed.cgroup.clone();
        let named = Choice::named(&typed.pid, true, cgroup, typed.name.clone());
        let unit = typed.unit.clone().map(Choice::Unit);
        let choice = unit.or(named).unwrap_or(Choice::All);
        return Ok(Scope::Running(choice));
    }
    Executable::find(&typed.command).map_err(CliError::input)?;
    // Stdout is the document's or the page's then, and the command's output goes to stderr.
    let leaves_stdout = typed.forms.json || typed.forms.html.as_deref() == Some(Path::new("-"));
    Ok(Scope::Command(SubjectCommand { words: typed.command.clone(), leaves_stdout }))
}

/// The distances of this computer: as they are remembered, or measured now where that is quick.
fn measured_here(topology: &Topology) -> Option<Profile> {
    let remembered = input::remembered_of_host();
    let has_wakeups = remembered.as_ref().is_some_and(|profile| profile.wakeups.is_some());
    if has_wakeups || topology.pus.len() > MOST_MEASURED {
        return remembered;
    }
    // A measurement that fails leaves the program without a bound, which the advice says.
    let measured = measured_by(&mut myself::quick_measurement(), MEASURING);
    measured.ok().and_then(|(profile, _)| profile).or(remembered)
}
