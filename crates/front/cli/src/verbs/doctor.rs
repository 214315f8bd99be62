//! `seatmap doctor`.

use crate::args::Doctor;
use seatmap_console::error::CliError;
use seatmap_console::here::host_name;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::{self, ColourChoice};
use seatmap_health::doctor::DoctorReport;
use seatmap_report::doctor;
use seatmap_report::terminal::Colour;

pub fn run(typed: &Doctor, colour: ColourChoice) -> Result<(), CliError> {
    let page = output::page(typed.forms.html.as_deref(), typed.forms.json)?;
    let cpus = typed.cpus.as_ref().map(|cpus| &cpus.0[..]);
    let found = seatmap_health::doctor::examine(cpus, typed.may_try)?;
    let is_coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
    let drawn = doctor::page(&host_name(), &found, is_coloured);
    if let Some(page) = &page {
        page.write(&drawn.html())?;
    }
    if typed.forms.json {
        return output::json(&DoctorReport::new(&host_name(), &found));
    }
    // The page is on stdout: the lines would break it.
    if page == Some(Destination::Stdout) {
        return Ok(());
    }
    output::show(&drawn)
}
