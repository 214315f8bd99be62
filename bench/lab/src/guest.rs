//! The part of the lab that runs inside a computer: experiments, and the program that they seat.

mod answer;
mod cells;
mod figures;
mod hotplug;
mod kernel;
mod living;
mod others;
mod programs;
mod seats;
mod threads;
mod verbs;

use std::process::ExitCode;

/// An experiment of the guest, or the program that is seated in it.
#[derive(Debug, clap::Subcommand)]
pub enum Guest {
    /// Ask every verb, and compare its answers with the kernel's own words.
    Verbs {
        /// Ask these verbs alone, with commas between them.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Take CPUs away, and bring them back, while each verb works.
    Hotplug {
        /// How often with each verb.
        #[arg(long, default_value_t = 50)]
        rounds: u32,
        /// Chooses the CPUs and the moments.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Disturb these verbs alone, with commas between them.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Seat, check and observe real programs.
    Programs {
        /// These programs alone, with commas between them.
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
pub fn run(guest: Guest) -> ExitCode {
    let is_right = match guest {
        Guest::Verbs { only } => verbs::run(&only),
        Guest::Hotplug { rounds, seed, only } => hotplug::run(rounds, seed, &only),
        Guest::Programs { only } => programs::run(&only),
        Guest::Threads(options) => {
            threads::run(options);
            true
        }
    };
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
