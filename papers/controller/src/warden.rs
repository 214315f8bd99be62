//! A process that outlives the controller, and destroys its cells if the controller dies.
//!
//! Guardians only ensure that no cell stays half created. From the ledger, the warden continues the
//! threads stopped during other cells' turns, and destroys the cells that end with their client.

use crate::error::ControlError;
use crate::ledger;
use crate::lock;
use seatmap_cell::{CellHost, GuardedHost, GuardianCommand};
use seatmap_os::guardian::{self, Guardian, Parting};
use std::io;

/// Starts a warden with this command.
///
/// # Errors
/// It cannot be started, or exits at once.
pub fn post(command: &GuardianCommand) -> io::Result<Guardian> {
    let mut command = command.command()?;
    Guardian::post(seatmap_cell::fault::spare(&mut command))
}

/// Runs a warden.
///
/// # Errors
/// Some cells could not be handled; the next controller handles them.
pub fn serve(host: &CellHost) -> Result<(), ControlError> {
    let parting = guardian::attend(|_| None).map_err(ControlError::Warden)?;
    if parting != Parting::Death {
        return Ok(());
    }
    // Another controller that has started meanwhile has done this.
    let Some(_lock) = lock::take(host)? else { return Ok(()) };
    host.run
        .lock_at_last()
        .map_err(ControlError::Lock)
        .and_then(|_held| host.recover().map_err(ControlError::Cell))?;
    ledger::wind_up(host).map(|_| ()).map_err(ControlError::Cell)
}
