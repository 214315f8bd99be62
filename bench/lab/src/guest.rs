//! The part of the lab that runs inside a computer: experiments, and the program that they seat.

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

/// An experiment of the guest, or the program that is seated in it.
#[derive(Debug, clap::Subcommand)]
pub enum GuestCommand {
    /// Ask every verb, and compare its answers with the kernel's own words.
    Verbs {
        /// Ask these verbs alone, with commas between them.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Start threads that say where the kernel lets them run.
    Threads(threads::ThreadOptions),
}

/// Whether a name is among those of a list, or the list is empty.
fn is_among(only: &str, name: &str) -> bool {
    only.is_empty() || only.split(',').any(|one| one == name)
}

/// Runs it. The exit status is 1 where something was wrong.
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
