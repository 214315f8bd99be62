//! The terminal that a program reads its keys from.

use crate::ready::{self, Awaited};
use std::time::Duration;

/// Waits until standard input has something to read, a signal comes, or this time has passed.
/// Returns false where the terminal is gone: a reader that only waits for keys would find its end
/// over and over.
#[must_use]
pub fn wait(time: Duration) -> bool {
    let keys = ready::wait([Awaited::data(&std::io::stdin())], Some(time));
    !keys.is_ok_and(|[keys]| keys.has_ended)
}
