//! Opens machines by name or file, once: [`Machine::open`].
//!
//! A verb asks the opened machine for a capability. A machine without it gives every verb the same
//! error, [`Lacks`]: one sentence with a remedy.
//!
//! | module | holds |
//! |---|---|
//! | [`machine`] | a machine: this host, a profile, a description or a model |
//! | [`capability`] | the capabilities of machines, and the error for a missing one |
//! | [`usable`] | the CPUs of this host that a placement may use now |
//! | [`bundled`], [`listing`] | the bundled machines, and their list |

pub mod bundled;
pub mod capability;
pub mod listing;
pub mod machine;
pub mod usable;

pub use capability::{Capability, Lacks};
pub use listing::{MachineEntry, MachineList};
pub use machine::{Machine, MachineKind, OpenError, ProfileError, Surroundings};
