//! The hidden verb of guardians.

use clap::Subcommand;
use seatmap_cell::Name;

/// The changes that a guardian restores if its creator dies. Seatmap starts these commands itself.
#[derive(Debug, Subcommand)]
pub enum GuardianVerb {
    /// The changes of a cell.
    Cell {
        /// The cell.
        name: Name,
    },
    /// The sets of a plan of services.
    Services {
        /// The plan.
        name: Name,
    },
    /// The masks of a program's threads.
    Masks,
    /// The switches of the kernel.
    Switches,
}
