//! `seatmap doctor`.

use crate::args::{ColourChoice, Doctor};
use crate::error::CliError;
use crate::{output, view};
use seatmap_host::doctor::{Diagnosis, Level, examine};
use seatmap_report::terminal::Colour;

/// Examines this host.
pub fn run(typed: &Doctor, colour: ColourChoice) -> Result<(), CliError> {
    let topology = seatmap_host::topology::of_host().map_err(CliError::work)?;
    let found = examine(&topology);
    if typed.json {
        return output::print(&json(&found));
    }
    let coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
    output::print(&found.iter().map(|diagnosis| line(diagnosis, coloured)).collect::<String>())
}

fn json(found: &[Diagnosis]) -> String {
    let entry = |diagnosis: &Diagnosis| {
        serde_json::json!({
            "subject": diagnosis.subject,
            "level": diagnosis.level.word(),
            "found": diagnosis.found,
            "remedy": diagnosis.remedy,
        })
    };
    format!("{:#}\n", serde_json::json!(found.iter().map(entry).collect::<Vec<_>>()))
}

fn line(diagnosis: &Diagnosis, coloured: bool) -> String {
    let word = format!("{:<4}", diagnosis.level.word());
    let word = if coloured { format!("\x1b[{}m{word}\x1b[0m", sgr(diagnosis.level)) } else { word };
    let remedy = diagnosis.remedy.as_ref().map(|remedy| format!("\n{:22}-> {remedy}", "")).unwrap_or_default();
    format!("{word}  {:<14}  {}{remedy}\n", diagnosis.subject, diagnosis.found)
}

/// Green, none, yellow, red.
fn sgr(level: Level) -> &'static str {
    match level {
        Level::Ok => "32",
        Level::Info => "0",
        Level::Fix => "33",
        Level::No => "31",
    }
}
