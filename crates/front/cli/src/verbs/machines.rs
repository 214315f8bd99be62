//! `seatmap machines`.

use crate::args::Machines;
use seatmap_catalog::{MachineEntry, MachineList};
use seatmap_console::error::CliError;
use seatmap_console::output;

/// Lists the bundled machines with what each can do and how it was made.
pub fn run(typed: &Machines) -> Result<(), CliError> {
    let list = MachineList::bundled().map_err(CliError::work)?;
    if typed.json { output::json(&list) } else { output::print(&table(&list.machines)) }
}

fn table(machines: &[MachineEntry]) -> String {
    let longest = machines.iter().map(|entry| entry.machine.len()).max().unwrap_or(0);
    let widest = machines.iter().map(|entry| entry.can.join(" ").len()).max().unwrap_or(0);
    let mut table = String::new();
    for entry in machines {
        let model = if entry.kind == "model" { " (model)" } else { "" };
        let can = entry.can.join(" ");
        // Plural: a machine has two PUs or more.
        table += &format!(
            "{:longest$}  {:>3} PUs  {can:widest$}  {}{model}\n",
            entry.machine, entry.pus, entry.summary
        );
    }
    table
}
