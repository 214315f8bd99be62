//! `seatmap export`.

use crate::args::{Export, ExportFormat};
use crate::error::CliError;
use crate::input;
use crate::output::Destination;
use seatmap_machine::{Profile, export};
use seatmap_report::{Order, svg};
use std::path::Path;

/// Writes a profile as another tool's file.
pub fn run(typed: Export) -> Result<(), CliError> {
    let destination = Destination::new(typed.output.as_deref().unwrap_or(Path::new("-")))?;
    let profile = input::machine(&typed.machine)?;
    destination.write(&text(&profile, typed.format)?)
}

fn text(profile: &Profile, format: ExportFormat) -> Result<String, CliError> {
    match format {
        ExportFormat::Csv => export::csv::write(profile).map_err(CliError::input),
        ExportFormat::HwlocXml => export::hwloc_xml::write(profile).map_err(CliError::input),
        ExportFormat::Svg => Ok(svg::heatmap(profile, Order::Group)),
        ExportFormat::Json => Ok(profile.to_json()),
    }
}
