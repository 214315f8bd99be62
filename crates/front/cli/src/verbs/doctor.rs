//! `seatmap doctor`.

use crate::args::Doctor;
use seatmap_console::error::CliError;
use seatmap_console::here::host_name;
use seatmap_console::view::{self, ColourChoice};
use seatmap_health::doctor::DoctorReport;
use seatmap_report::doctor;
use seatmap_report::terminal::Colour;

pub fn run(typed: &Doctor, colour: ColourChoice) -> Result<(), CliError> {
    let outputs = typed.forms.outputs(None)?;
    let cpus = typed.cpus.as_ref().map(|cpus| &cpus.0[..]);
    let found = seatmap_health::doctor::examine(cpus, typed.may_try)?;
    let is_coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
    let machine = host_name();
    let page = doctor::page(&machine, &found, is_coloured);
    outputs.show(&DoctorReport::new(&machine, &found), &page)
}
