//! Values of arguments for completions.

use clap::{Arg, Command};
use seatmap_cell::{CellHost, GuardianCommand};
use seatmap_console::running::{KnownValue, KnownValues};
use seatmap_os::CpuList;
use seatmap_services::apply::ServicesHost;

/// NAME is an existing cell.
const OF_CELLS: [&str; 5] = ["show", "run", "verify", "destroy", "renew"];

/// NAME is an applied plan.
const OF_PLANS: [&str; 3] = ["undo", "keep", "drift"];

pub fn of(command: &Command, argument: &Arg) -> Option<KnownValues> {
    let name = argument.get_value_names()?.first()?.as_str();
    let verb = command.get_name();
    match (name, argument.is_positional()) {
        // In other commands NAME means something else.
        ("NAME", true) if OF_CELLS.contains(&verb) => Some(cells),
        ("NAME", true) if OF_PLANS.contains(&verb) => Some(plans),
        // A matrix has rows of CPUs by number alone.
        ("LIST", _) if verb == "import" => Some(Vec::new),
        _ => None,
    }
}

fn cells() -> Vec<KnownValue> {
    // Listing starts no guardian.
    let cells = CellHost::here(GuardianCommand(Vec::new())).and_then(|host| host.cells());
    let cells = cells.unwrap_or_default().into_iter();
    cells
        .map(|cell| KnownValue::told(cell.name.to_string(), CpuList(cell.cpus).to_string()))
        .collect()
}

fn plans() -> Vec<KnownValue> {
    let host = ServicesHost::here(GuardianCommand(Vec::new()));
    let plans = host.and_then(|host| host.standing()).unwrap_or_default();
    plans.into_iter().map(|plan| KnownValue::from(plan.name.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use crate::verbs::command;
    use clap_complete::engine::ArgValueCompleter;
    use seatmap_console::completion::with_values;

    #[test]
    fn arguments_with_known_values_complete_them() {
        let mut completed = 0;
        let mut commands = vec![with_values(command(), super::of)];
        while let Some(command) = commands.pop() {
            completed += command
                .get_arguments()
                .filter(|arg| arg.get::<ArgValueCompleter>().is_some())
                .count();
            commands.extend(command.get_subcommands().cloned());
        }
        assert!(completed >= 12, "{completed}");
    }
}
