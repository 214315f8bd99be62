//! The terminal of standard input.

use crate::ready::{self, Awaited};
use std::time::Duration;

/// Waits for input, a signal or a timeout. Returns false if the terminal is closed, so a caller
/// waiting for keys does not loop.
pub fn wait(time: Duration) -> bool {
    let keys = ready::wait([Awaited::data(&std::io::stdin())], Some(time));
    !keys.is_ok_and(|[keys]| keys.has_ended)
}
