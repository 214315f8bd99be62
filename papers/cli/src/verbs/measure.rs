//! `seatmap-papers measure`: a Cell's distances as a profile, for all verbs of `seatmap` that use
//! one.

use crate::args::CellBeMeasureArgs;
use crate::figures::FigureChanges;
use crate::machine;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};

/// Times the round trip of a mailbox message for each pair of SPEs.
pub fn run(typed: &CellBeMeasureArgs) -> Result<(), CliError> {
    let to = typed.output.as_deref().map(Destination::new).transpose()?;
    let model = machine::cell(&typed.on, &FigureChanges::default())?;
    let text = seatmap_cell_sim::profile(&model)?.to_json();
    to.map_or_else(|| output::print_exact(&text), |to| to.write(&text))
}
