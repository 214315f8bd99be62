//! Deliberate crashes, for tests that a host is always restored.
//!
//! Without the feature `faults`, points do nothing and no environment variable is read.

#[cfg(feature = "faults")]
mod injected;

use std::process::Command;

/// Excludes a child from its parent's faults.
pub fn spare(child: &mut Command) -> &mut Command {
    #[cfg(feature = "faults")]
    injected::spare(child);
    child
}

/// Excludes a guardian from its parent's faults, and passes its own.
pub(crate) fn spare_guardian(child: &mut Command) -> &mut Command {
    #[cfg(feature = "faults")]
    injected::spare_guardian(child);
    child
}

/// A point at which a process may be killed.
pub fn point() {
    #[cfg(feature = "faults")]
    injected::point();
}
