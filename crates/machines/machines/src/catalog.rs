//! Every machine by name or file, opened once: [`Machine::open`].
//!
//! A verb opens the machine that the user named and asks it for the capability that the verb needs.
//! A machine without that capability gives the same error for every verb: [`Lacks`], one sentence
//! with a remedy.
//!
//! | module | holds |
//! |---|---|
//! | [`machine`] | a machine: this host, a profile, a description or a model |
//! | [`capability`] | what a machine can do, and the error of one that cannot |
//! | [`runner`] | what runs programs on a machine |
//! | [`usable`] | the CPUs of this host that a placement may use now |
//! | [`bundled`], [`listing`] | the machines that come with Seatmap, and the list of them |

pub mod bundled;
pub mod capability;
pub mod listing;
pub mod machine;
pub mod runner;
pub mod usable;

pub use capability::{Capability, Lacks};
pub use listing::{MachineEntry, MachineList};
pub use machine::{Machine, MachineKind, OpenError, ProfileError, Surroundings};
pub use runner::{DistanceSource, Runner};
