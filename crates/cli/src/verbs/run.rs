//! `seatmap run`.

use crate::args::Run;
use crate::error::CliError;
use crate::output::{self, Destination};
use crate::plan_input;
use seatmap_host::cpus::Cpus;
use seatmap_launch::rule::Who;
use seatmap_launch::{Beyond, LaunchError, Program, Report, Rule, Seating, Seats};
use serde::Serialize;
use std::io::Write;

/// Runs a program, or takes one that runs, and seats its threads. A program's exit code is this process's.
pub fn run(typed: &Run) -> Result<(), CliError> {
    let seating = seating(typed)?;
    let destination = typed.report.as_deref().map(Destination::new).transpose()?;
    if !typed.pid.is_empty() {
        let report = seatmap_launch::seat_running(&typed.pid, seating).map_err(failed)?;
        tell(&report, typed.quiet, destination.as_ref())?;
        return match report.troubled().count() {
            0 => Ok(()),
            count => Err(CliError::work(format!("{count} of {} threads could not be seated", report.created))),
        };
    }
    let program = Program::find(&typed.command).map_err(CliError::input)?;
    let (ending, report) = seatmap_launch::run(&program, seating).map_err(failed)?;
    // The program has had its say: that its seating could not be written must not change its exit code.
    if let Err(error) = tell(&report, typed.quiet, destination.as_ref()) {
        error.report();
    }
    ending.leave_alike()
}

/// What was asked for, if this host has it.
fn seating(typed: &Run) -> Result<Seating, CliError> {
    let seats = match (&typed.plan, &typed.cpus) {
        (Some(path), _) => Seats::of_plan(&plan_input::plan(path)?),
        (None, cpus) => {
            let beyond = if typed.once || !typed.pid.is_empty() { Beyond::Leave } else { Beyond::Cycle };
            Seats::of_cpus(cpus.clone().unwrap_or_default(), beyond)
        }
    };
    Cpus::read().map_err(CliError::work)?.check(&seats.cpus).map_err(CliError::input)?;
    let rules = Rule::parse_all(&typed.rules, &seats).map_err(CliError::input)?;
    let by_number = rules.iter().any(|rule| !matches!(rule.who, Who::Named(_)));
    if by_number && typed.pid.is_empty() {
        return Err(CliError::input(
            "numbers of threads are known only of programs that run; tid: and pid: need --pid",
        ));
    }
    Ok(Seating::new(seats, rules, typed.skip))
}

pub fn failed(error: LaunchError) -> CliError {
    match error {
        LaunchError::Execute { .. } | LaunchError::NoSuchProcess(_) => CliError::input(error),
        LaunchError::System { .. } | LaunchError::Forbidden(_) => CliError::work(error),
    }
}

fn tell(report: &Report, quiet: bool, destination: Option<&Destination>) -> Result<(), CliError> {
    show(report, quiet);
    destination.map_or(Ok(()), |destination| write(report, destination))
}

/// The table, and what to know beside it, on stderr: stdout is the program's.
pub fn show(report: &Report, quiet: bool) {
    if !quiet {
        // That nobody reads it is no failure.
        let _ = std::io::stderr().write_all(report.table().as_bytes());
        report.notes().iter().for_each(|note| output::tell(note));
    }
    report.troubles().iter().for_each(|trouble| output::tell(trouble));
}

/// The report as JSON.
pub fn write(report: &impl Serialize, destination: &Destination) -> Result<(), CliError> {
    destination.write(&seatmap_document::written(report))
}
