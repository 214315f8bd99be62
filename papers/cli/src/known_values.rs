//! Known values of arguments, for completions.

use crate::verbs::study;
use clap::{Arg, Command};
use seatmap_console::running::{KnownValue, KnownValues};

/// An argument's values; `None` if they are unknown to this program.
pub fn of(command: &Command, argument: &Arg) -> Option<KnownValues> {
    let name = argument.get_value_names()?.first()?.as_str();
    match (command.get_name(), name) {
        ("study", "NAME") => Some(studies),
        ("workers", "WHAT") => Some(works),
        ("place" | "measure", "MACHINE") | ("workers", "MODEL") => Some(cells),
        ("rank" | "stats", "MACHINE") => Some(machines),
        _ => None,
    }
}

fn cells() -> Vec<KnownValue> {
    seatmap_cell_sim::catalog::names().map(KnownValue::from).collect()
}

fn machines() -> Vec<KnownValue> {
    let others = seatmap_machines::catalog::bundled::names().map(KnownValue::from);
    [KnownValue::from("host")].into_iter().chain(cells()).chain(others).collect()
}

fn works() -> Vec<KnownValue> {
    ["calls", "gains", "streams", "libspe2", "matrix:", "black-scholes:"]
        .map(KnownValue::from)
        .into()
}

fn studies() -> Vec<KnownValue> {
    let all = ["all".to_owned()].into_iter();
    all.chain(study::names()).map(KnownValue::from).collect()
}

#[cfg(test)]
mod tests {
    use crate::args::command;
    use clap_complete::engine::ArgValueCompleter;
    use seatmap_console::completion::with_values;

    #[test]
    fn help_of_study_lists_all_studies() {
        let mut command = command();
        let help = command.find_subcommand_mut("study").unwrap().render_help().to_string();
        let words: Vec<&str> = help.split_whitespace().collect();
        for name in super::study::names() {
            assert!(words.contains(&&*format!("{name},")), "{name}: {help}");
        }
    }

    /// The names used here must exist in the command line.
    #[test]
    fn arguments_with_known_values_complete_them() {
        let command = with_values(command(), super::of);
        let is_completed = |verb: &str, argument: &str| {
            let verb = command.find_subcommand(verb).unwrap();
            verb.get_arguments()
                .any(|arg| arg.get_id() == argument && arg.get::<ArgValueCompleter>().is_some())
        };
        assert!(
            is_completed("study", "name")
                && is_completed("workers", "what")
                && is_completed("rank", "pattern")
                && is_completed("place", "on")
        );
    }
}
