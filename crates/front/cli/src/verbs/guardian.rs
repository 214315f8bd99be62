//! `seatmap guardian`: the hidden verb of processes that restore another one's changes.

use crate::args::GuardianVerb;
use crate::myself;
use seatmap_cell::CellHost;
use seatmap_cell::guardian::serve;
use seatmap_console::error::CliError;
use seatmap_os::Root;
use seatmap_services::apply::ServicesHost;
use seatmap_trial::live::guard;
use seatmap_trial::tune::varied;

pub fn run(typed: &GuardianVerb) -> Result<(), CliError> {
    match typed {
        GuardianVerb::Cell { name } => {
            let host = CellHost::here(myself::cell_guardian()).map_err(CliError::work)?;
            serve(&host, name).map_err(CliError::work)
        }
        GuardianVerb::Services { name } => {
            Ok(serve(&ServicesHost::here(myself::services_guardian())?, name)?)
        }
        GuardianVerb::Masks => guard::serve().map_err(CliError::work),
        GuardianVerb::Switches => varied::serve(&Root::new("/")).map_err(CliError::work),
    }
}
