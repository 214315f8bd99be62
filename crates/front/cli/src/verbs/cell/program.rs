//! `seatmap cell run`.

use super::meant;
use crate::args::CellRun;
use crate::verbs::run;
use seatmap_cell::CellHost;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_health::noise::{NoiseListener, ProgramNoise};
use seatmap_launch::{Report, run_in_cell};
use seatmap_report::cell;
use serde::Serialize;

/// Runs a program in a cell. Its exit code is this process's.
pub fn run(host: &CellHost, typed: &CellRun) -> Result<(), CliError> {
    let destination = typed.report.as_deref().map(Destination::new).transpose()?;
    let meant = meant::program(host, typed)?;
    run::remark(&meant.seats.remarks, typed.quiet);
    let seats = meant.seats.allocator;
    run::warn_of_settings(&meant.program, &seats, false, typed.quiet);
    let cpus = &meant.cell.cpus;
    let (ending, report, noise) = run_in_cell(host, &meant.cell, &meant.program, seats, || {
        let listener = NoiseListener::begin();
        move || listener.end(cpus)
    })?;
    run::show(&report, typed.quiet);
    // Without a lasting cell, other work was on the CPUs too.
    if !typed.quiet && report.cell_end.is_none() {
        output::tell_each(cell::noise(&noise));
    }
    let seated = CellRunReport { report: &report, noise: &noise };
    if let Some(Err(error)) = destination.map(|file| run::write(&seated, &file)) {
        error.report();
    }
    ending.leave_alike()
}

/// The launcher's report of threads and CPUs, with the noise on those CPUs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CellRunReport<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// The interruptions of the cell's CPUs while it ran, including those after the cell's end if
    /// `cell_end` is set.
    noise: &'a ProgramNoise,
}
