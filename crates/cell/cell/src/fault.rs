//! Sudden death on purpose, for tests: that a host is restored whatever happens is shown by dying
//! everywhere.
//!
//! Only a build with the feature `faults` can die so, as tests and the lab have it. Without the
//! feature a point is nothing, and no environment variable is looked at.

#[cfg(feature = "faults")]
mod injected;
#[cfg(feature = "faults")]
pub(crate) use injected::spare_guardian;
#[cfg(feature = "faults")]
pub use injected::{point, spare};

#[cfg(not(feature = "faults"))]
mod absent {
    use std::process::Command;

    /// Keeps a process that is started from what was meant for its parent; there is nothing.
    pub fn spare(child: &mut Command) -> &mut Command {
        child
    }

    /// Keeps a guardian that is started from what was meant for its parent.
    pub(crate) fn spare_guardian(child: &mut Command) -> &mut Command {
        child
    }

    /// A point at which a process of another build may be killed.
    pub fn point() {}
}
#[cfg(not(feature = "faults"))]
pub(crate) use absent::spare_guardian;
#[cfg(not(feature = "faults"))]
pub use absent::{point, spare};
