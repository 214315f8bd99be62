//! `seatmap compare`.

use crate::args::CompareArgs;
use seatmap_console::error::CliError;
use seatmap_console::{input, view};
use seatmap_data::machine::Profile;
use seatmap_measure::comparison::ProfileComparison;
use seatmap_report::compare;

pub fn run(typed: &CompareArgs) -> Result<(), CliError> {
    view::keep_to(typed.width);
    let outputs = typed.forms.outputs(None)?;
    let first = profile(&typed.first)?;
    let second = profile(&typed.second)?;
    let comparison = ProfileComparison::of(&first, &second);
    outputs.show(&comparison, &compare::page(&comparison))
}

fn profile(name: &str) -> Result<Profile, CliError> {
    input::measured_profile_of(&input::machine(name)?)
}
