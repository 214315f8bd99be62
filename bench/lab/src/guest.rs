//! The part of the lab that runs inside a computer.

mod answer;
mod cells;
mod figures;
mod kernel;
mod living;
mod others;
mod seats;
mod threads;
mod verbs;

use std::process::ExitCode;

/// An experiment in the guest, or the program that it places.
#[derive(Debug, clap::Subcommand)]
pub enum GuestCommand {
    /// Ask every verb, and compare its answers with the kernel's.
    Verbs {
        /// Ask only these verbs, separated by commas.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Start threads that print their affinity masks.
    Threads(threads::ThreadOptions),
}

fn is_among(only: &str, name: &str) -> bool {
    only.is_empty() || only.split(',').any(|one| one == name)
}

/// The exit status is 1 if something was wrong.
pub fn run(guest: GuestCommand) -> ExitCode {
    let is_right = match guest {
        GuestCommand::Verbs { only } => verbs::run(&only),
        GuestCommand::Threads(options) => {
            threads::run(options);
            true
        }
    };
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
