//! A process that outlives the controller, and undoes its cells if the controller dies.
//!
//! Guardians make sure that no cell stays half made. They do not know which threads were stopped to
//! let others have a turn, and which cells were to end with their client. This process takes care
//! of both, by the ledger.

use crate::error::ControlError;
use crate::ledger;
use crate::lock;
use seatmap_cell::{CellHost, GuardianCommand};
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Stdio};

/// A controller sends this when it has undone its cells itself.
const ALL_IS_WELL: u8 = b'd';

/// A warden that has been posted.
#[derive(Debug)]
pub struct Warden {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Warden {
    /// Posts one: the command becomes it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn post(command: &GuardianCommand) -> io::Result<Self> {
        let mut command = command.command()?;
        seatmap_cell::fault::spare(&mut command);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let pipe = child.stdin.take();
        Ok(Warden { child, pipe })
    }

    /// Says that all is well, and waits until it has gone.
    pub fn dismiss(mut self) {
        let _ = self.pipe.take().map(|mut pipe| pipe.write_all(&[ALL_IS_WELL]));
        let _ = self.child.wait();
    }
}

/// A warden's life.
///
/// # Errors
/// Some cells could not be dealt with; the next controller deals with them.
pub fn serve(host: &CellHost) -> Result<(), ControlError> {
    // SAFETY: all act on this process alone: what is typed at the controller's terminal must not
    // reach it.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"seatmap-warden".as_ptr());
    }
    let mut word = [0];
    if io::stdin().read_exact(&mut word).is_ok() && word[0] == ALL_IS_WELL {
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
