//! The ranks of a parallel start, as processes of this computer.

use crate::common::Place;
use std::process::{Child, Command, Stdio};

/// The variables by which launchers tell a process its rank, and those of a meeting.
const LAUNCHERS: [&str; 8] = [
    "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "MASTER_ADDR",
    "SEATMAP_SECRET",
    "RANK",
    "WORLD_SIZE",
];

/// A rank of a start of so many, as no launcher but the environment makes it.
pub fn rank(place: &Place, rank: usize, size: usize, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    outside(&mut command).env("RANK", rank.to_string()).env("WORLD_SIZE", size.to_string());
    command
}

/// A command that no launcher has started.
pub fn outside(command: &mut Command) -> &mut Command {
    for name in LAUNCHERS {
        command.env_remove(name);
    }
    command
}

/// A process that goes on beside the test.
pub fn begun(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}
