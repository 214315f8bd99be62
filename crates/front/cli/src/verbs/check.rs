//! `seatmap check`.

mod page;

use crate::args::Check;
use crate::verbs::place::ranks;
use page::Page;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::view::ColourChoice;
use seatmap_console::{here, input, plan_input};
use seatmap_host::topology;
use seatmap_machine::Topology;
use seatmap_os::Tid;
use seatmap_watch::{CheckRequest, Choice, Expected, Rule, SeatSource};
use std::path::Path;

pub(super) use seatmap_watch::Standard;

/// Checks where the threads of living programs sit. Exit code 1 means that something is wrong.
pub fn run(typed: &Check, colour: ColourChoice) -> Result<(), CliError> {
    let page = Page::new(typed, colour)?;
    let request = request(typed)?;
    // A single check leaves Ctrl-C alone, and ends at once by it.
    let interrupt = typed.watch.map(|_| Interrupt::listen()).transpose()?;
    let mut check = request.begin()?;
    while let Some(step) = check.next(&|| interrupt.as_ref().is_some_and(Interrupt::is_raised))? {
        page.show(&step)?;
    }
    check.result().map_or(Ok(()), |(worst, findings)| page.end(worst, &findings))
}

/// The request that the command line means.
fn request(typed: &Check) -> Result<CheckRequest, CliError> {
    Ok(CheckRequest {
        choice: choice(typed),
        window: typed.seconds,
        trace: typed.trace,
        standard: standard(&typed.rules, typed.expect.as_deref(), typed.any_machine, typed.strict)?,
        topology: topology()?,
        machine: here::host_name(),
        may_be_empty: typed.all,
        again_every: typed.watch,
    })
}

/// The processes that the user chose; without a choice, those that are bound.
fn choice(typed: &Check) -> Choice {
    match &typed.unit {
        Some(unit) => Choice::Unit(unit.clone()),
        None if typed.slurm_step => Choice::SlurmStep,
        None => {
            let usual = if typed.all { Choice::All } else { Choice::Bound };
            named(&typed.pid, typed.children, &typed.cgroup, &typed.name).unwrap_or(usual)
        }
    }
}

/// The processes that are named by their numbers, by a control group or by their programs.
pub(super) fn named(
    pids: &[Tid],
    with_children: bool,
    group: &Option<String>,
    name: &Option<String>,
) -> Option<Choice> {
    // The parser lets one of them through only; the order decides nothing.
    match (pids, group, name) {
        ([], None, name) => name.clone().map(Choice::Name),
        ([], Some(group), _) => Some(Choice::Group(group.clone())),
        _ => Some(Choice::Processes { pids: pids.to_vec(), with_children }),
    }
}

/// These rules, and the seats of a file: a plan, a plan for ranks, or a seating.
pub(super) fn standard(
    rules: &[Rule],
    expect: Option<&Path>,
    any_machine: bool,
    strict: bool,
) -> Result<Standard, CliError> {
    let seats = expect.map(|path| seats(path, any_machine)).transpose()?.unwrap_or_default();
    Ok(Standard { rules: rules.to_vec(), seats, strict })
}

fn seats(path: &Path, any_machine: bool) -> Result<SeatSource, CliError> {
    let bytes = input::bytes(path)?;
    // By what the document says of itself, as the user names a file and no kind.
    if let Some(plan) = ranks::of_bytes(path, &bytes)? {
        let seats = seatmap_cluster::ranks_here::seats(&plan, &here::host_name(), any_machine);
        return Ok(SeatSource::Ranks(seats));
    }
    if seatmap_plan::plan::is_plan(&bytes) {
        let plan = plan_input::plan_of_host(path, &bytes, any_machine)?;
        return Ok(SeatSource::Given(Expected::of_plan(&plan)));
    }
    Expected::of_seating(&String::from_utf8_lossy(&bytes))
        .map(SeatSource::Given)
        .map_err(|error| CliError::at(path, format!("neither a plan nor a seating: {error}")))
}

/// The whole computer, as far as this process's control group shows it. Its own mask hides nothing.
pub(super) fn topology() -> Result<Topology, CliError> {
    topology::of_group().map_err(CliError::work)
}
