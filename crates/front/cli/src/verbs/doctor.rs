//! `seatmap doctor`.

use clap::Args;
use seatmap_console::cpus::{OrAll, RequestedCpus, requested_cpus};
use seatmap_console::here::host_name;
use seatmap_console::{CliResult, ResultForms, view};
use seatmap_health::doctor::DoctorReport;
use seatmap_report::doctor;
use seatmap_report::terminal::Colour;

#[derive(Args)]
pub struct Doctor {
    /// The CPUs that should be quiet, such as 2-7 or near:eth0. Default: all but those of the first
    /// core.
    #[arg(long, value_name = "LIST", value_parser = requested_cpus)]
    cpus: Option<RequestedCpus>,
    #[command(flatten)]
    or_all: OrAll,
    /// Also run active tests: take a CPU for a moment, rewrite masks unchanged, and restore
    /// everything.
    #[arg(long = "try")]
    may_try: bool,
    #[command(flatten)]
    forms: ResultForms,
}

pub fn run(typed: &Doctor) -> CliResult {
    let outputs = typed.forms.outputs(None)?;
    let chosen = typed.or_all.here(typed.cpus.as_ref())?;
    let cpus = chosen.as_ref().map(|chosen| &chosen.list.0[..]);
    let found = seatmap_health::doctor::examine(cpus, typed.may_try)?;
    let is_coloured = view::colour(&std::io::stdout()) != Colour::None;
    let machine = host_name();
    let page = doctor::page(&machine, &found, is_coloured);
    outputs.show(&DoctorReport::new(&machine, &found), &page)
}
