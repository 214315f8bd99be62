//! `seatmap guardian`: the hidden verb of processes that restore another one's changes.

use crate::myself;
use clap::Subcommand;
use seatmap_cell::guardian::serve;
use seatmap_cell::{CellHost, Name};
use seatmap_console::{CliError, CliResult};
use seatmap_os::Root;
use seatmap_services::apply::ServicesHost;
use seatmap_trial::live::guard;
use seatmap_trial::tune::varied;

/// The changes that a guardian restores if its creator dies. Seatmap starts these commands itself.
#[derive(Subcommand)]
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

pub fn run(typed: &GuardianVerb) -> CliResult {
    match typed {
        GuardianVerb::Cell { name } => {
            let host = CellHost::here(myself::cell_guardian()).map_err(CliError::work)?;
            serve(&host, name).map_err(CliError::work)
        }
        GuardianVerb::Services { name } => {
            Ok(serve(&ServicesHost::here(myself::services_guardian())?, name)?)
        }
        GuardianVerb::Masks => Ok(guard::serve()?),
        GuardianVerb::Switches => Ok(varied::serve(&Root::new("/"))?),
    }
}
