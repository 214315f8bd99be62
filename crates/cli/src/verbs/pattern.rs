//! `seatmap pattern`.

use crate::args::{Pattern, PatternCommand};
use crate::error::CliError;
use crate::output::{self, Destination};
use crate::{pattern_input, view};
use seatmap_pattern::generate::GENERATORS;
use std::path::Path;

/// Draws, converts or lists patterns.
pub fn run(typed: Pattern) -> Result<(), CliError> {
    match typed.command {
        PatternCommand::List => {
            let width = GENERATORS.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
            let line = |(form, what): &(&str, &str)| format!("{form:width$}  {what}\n");
            output::print(&GENERATORS.iter().map(line).collect::<String>())
        }
        PatternCommand::Convert { pattern, output } => {
            let destination = Destination::new(output.as_deref().unwrap_or(Path::new("-")))?;
            destination.write(&pattern_input::pattern(&pattern)?.to_json())
        }
        PatternCommand::Show { pattern, width, json } => {
            let pattern = pattern_input::pattern(&pattern)?;
            if json {
                return output::print(&pattern.to_json());
            }
            output::print(&seatmap_report::pattern::drawn(&pattern, view::width(width)))
        }
    }
}
