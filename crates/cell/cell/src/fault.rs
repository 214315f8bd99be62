//! Deliberate crashes, for tests that a host is always restored.
//!
//! Without the feature `faults`, points do nothing and no environment variable is read.

#[cfg(feature = "faults")]
mod injected;
#[cfg(feature = "faults")]
pub(crate) use injected::spare_guardian;
#[cfg(feature = "faults")]
pub use injected::{point, spare};

#[cfg(not(feature = "faults"))]
mod absent {
    use std::process::Command;

    /// Excludes a child from its parent's faults; there are none.
    pub fn spare(child: &mut Command) -> &mut Command {
        child
    }

    /// Excludes a guardian from its parent's faults; there are none.
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
