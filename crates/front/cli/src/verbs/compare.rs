//! `seatmap compare`.

use clap::Args;
use seatmap_console::{CliResult, ResultForms, input, view};
use seatmap_measure::comparison::ProfileComparison;
use seatmap_report::compare;

#[derive(Args)]
pub struct CompareArgs {
    /// The first machine: host, the name of a bundled one, or a file.
    #[arg(value_name = "MACHINE")]
    first: String,
    /// The second machine; this computer by default.
    #[arg(value_name = "MACHINE", default_value = "host")]
    second: String,
    /// The width in columns; the terminal's by default.
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    width: Option<u16>,
    #[command(flatten)]
    forms: ResultForms,
}

pub fn run(typed: &CompareArgs) -> CliResult {
    view::keep_to(typed.width);
    let outputs = typed.forms.outputs(None)?;
    let profile = |name: &str| input::measured_profile_of(&input::machine(name)?);
    let comparison = ProfileComparison::of(&profile(&typed.first)?, &profile(&typed.second)?);
    outputs.show(&comparison, &compare::page(&comparison))
}
