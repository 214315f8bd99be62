//! `seatmap pattern`.

use crate::args::{PatternArgs, PatternCommand, PatternShow, PatternSource};
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::{pattern_input, view};
use seatmap_data::pattern::generate::GENERATORS;
use seatmap_report::{pattern, svg};
use std::path::Path;

/// Draws, converts or lists patterns.
pub fn run(typed: PatternArgs) -> Result<(), CliError> {
    match typed.command {
        PatternCommand::List => {
            let width = GENERATORS.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
            output::print(
                &GENERATORS
                    .iter()
                    .map(|(form, what)| format!("{form:width$}  {what}\n"))
                    .collect::<String>(),
            )
        }
        PatternCommand::Convert { source, output } => {
            // First, because stdin cannot be read again.
            let destination = Destination::new(output.as_deref().unwrap_or(Path::new("-")))?;
            destination.write(&read(&source)?.to_json())
        }
        PatternCommand::Show(show) => self::show(&show),
    }
}

fn read(source: &PatternSource) -> Result<seatmap_data::pattern::Pattern, CliError> {
    let mut pattern = pattern_input::pattern_of(&source.pattern, source.matrix.map(Into::into))?;
    pattern_input::give_loads(&mut pattern, source.load.as_deref())?;
    Ok(pattern)
}

type Drawer = fn(&seatmap_data::pattern::Pattern) -> String;

fn show(typed: &PatternShow) -> Result<(), CliError> {
    view::keep_to(typed.width);
    let asked = [
        ("--svg", typed.svg.as_deref(), svg::traffic as Drawer),
        ("--html", typed.forms.html.as_deref(), |pattern| pattern::page(pattern).html()),
    ];
    let mut files = Vec::new();
    for (option, path, draw) in asked {
        let destination = output::beside(path, None, option)?;
        files.extend(path.zip(destination).map(|(path, destination)| (path, destination, draw)));
    }
    let wanting_stdout =
        files.iter().filter(|(_, destination, _)| *destination == Destination::Stdout).count();
    // Two documents in a row on stdout are unreadable.
    if wanting_stdout + usize::from(typed.forms.json) > 1 {
        return Err(CliError::input(
            "only one of --json, --svg - and --html - can have stdout; give the others file names",
        ));
    }
    let pattern = read(&typed.source)?;
    for (path, destination, draw) in &files {
        let named = Some(*path).filter(|_| !typed.forms.json);
        destination.write_named(&draw(&pattern), named)?;
    }
    if typed.forms.json {
        output::print_exact(&pattern.to_json())
    } else if files.is_empty() {
        output::show(&pattern::drawn(&pattern, view::width()))
    } else {
        Ok(())
    }
}
