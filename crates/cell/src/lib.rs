//! Quiet partitions of this computer, made on demand and undone whatever happens.
//!
//! A *cell* is some CPUs that everybody else has left: threads, interrupts, kernel work. Making one changes dozens of
//! settings all over the system, and leaving one of them changed behind would be worse than any noise. So the crate is
//! built around a journal: nothing is changed that is not written down first, and whoever finds a journal whose writer
//! died puts everything back.
//!
//! | module | does |
//! |---|---|
//! | [`root`], [`set`], [`layout`], [`tasks`], [`boot`] | the computer's files, CPU sets, control groups, threads |
//! | [`change`], [`journal`], [`undo`], [`fault`] | changes, written down before they are made; undoing them; dying on purpose |
//! | [`site`] | the host while it is being changed for one cell |
//! | [`backend`], [`partition`], [`hygiene`], [`group`] | the ways to close a cell, and what else is kept away |
#![deny(missing_docs)]

pub mod backend;
pub mod boot;
pub mod change;
pub mod fault;
pub mod group;
pub mod hygiene;
pub mod journal;
pub mod layout;
pub mod name;
pub mod partition;
pub mod root;
pub mod set;
pub mod site;
pub mod tasks;
pub mod undo;

pub use backend::Backend;
pub use name::{Name, NameError};
pub use root::Root;
pub use set::CpuSet;
