//! `seatmap-papers measure`: the distances of a Cell as a profile, for every verb of `seatmap` that
//! takes one.

use crate::args::CellBeMeasureArgs;
use crate::machine;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};

/// Times a mailbox message there and back for each pair of SPEs.
pub fn run(typed: &CellBeMeasureArgs) -> Result<(), CliError> {
    let to = typed.output.as_deref().map(Destination::new).transpose()?;
    let model = machine::cell(&typed.on)?;
    let text = seatmap_cell_sim::profile(&model)?.to_json();
    to.map_or_else(|| output::print_exact(&text), |to| to.write(&text))
}
