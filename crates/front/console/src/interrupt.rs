//! Handles Ctrl-C and requests to stop.

use crate::error::CliResult;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program was asked to stop. The work checks this between two measurements, so nothing
/// is cut off.
#[derive(Clone)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Handles the signals from now on. A second Ctrl-C ends the program at once.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub fn listen() -> CliResult<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The order matters: the second signal finds the flag set and takes the default action.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))?;
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        Ok(StopFlag(stop))
    }

    /// Whether the program was asked to stop.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether work in steps should continue.
    pub fn flow(&self) -> ControlFlow<()> {
        if self.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
