//! A process that outlives the controller, and undoes its cells if the controller dies.
//!
//! Guardians make sure that no cell stays half made. They do not know which threads were stopped to
//! let others have a turn, and which cells were to end with their client. This process takes care
//! of both, by the ledger.

use crate::error::ControlError;
use crate::ledger;
use crate::lock;
use seatmap_cell::{CellHost, GuardedHost, GuardianCommand};
use seatmap_os::guardian::{self, Guardian, Parting};
use std::io;

/// Posts a warden: the command becomes it.
///
/// # Errors
/// It cannot be started, or ends at once.
pub fn post(command: &GuardianCommand) -> io::Result<Guardian> {
    let mut command = command.command()?;
    Guardian::post(seatmap_cell::fault::spare(&mut command))
}

/// A warden's life.
///
/// # Errors
/// Some cells could not be dealt with; the next controller deals with them.
pub fn serve(host: &CellHost) -> Result<(), ControlError> {
    let parting = guardian::attend(|_| None).map_err(ControlError::Warden)?;
    if parting != Parting::Death {
        return Ok(());
    }
    // If another controller has started meanwhile, it has done this.
    let Some(_lock) = lock::take(host)? else { return Ok(()) };
    host.run
        .lock_at_last()
        .map_err(ControlError::Lock)
        .and_then(|_held| host.recover().map_err(ControlError::Cell))?;
    ledger::wind_up(host).map(|_| ()).map_err(ControlError::Cell)
}
