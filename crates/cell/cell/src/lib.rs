//! Quiet partitions of this computer, made on demand and undone whatever happens.
//!
//! A *cell* is a set of CPUs that all other work has left: threads, interrupts, kernel work. Making
//! one changes dozens of settings all over the system, and leaving one of them changed behind would
//! be worse than any noise. So the crate is built around a journal: every change is written down
//! before it is made, and any program that finds a journal whose writer died puts everything back.
//!
//! | module | does |
//! |---|---|
//! | [`change`], [`settings`], `permitted` | changes, and the values that settings may take |
//! | [`settings_lock`] | one program at a time makes changes |
//! | [`journal`], [`undo`] | writes changes down before they are made; undoes them |
//! | [`fault`] | sudden death on purpose, for tests |
//! | [`site`] | the host while it is being changed for one cell |
//! | [`backend`], [`partition`] | the ways to close a cell |
//! | [`hygiene`] | keeps other work away: interrupts, kernel work, timers |
//! | [`host`], [`run_folder`] | this computer as cells see it; the folder of journals and records |
//! | [`record`], [`name`] | the record of a cell; its name |
//! | [`claim`] | a second record, for when the folder is lost; takes over unfinished work |
//! | [`mod@standing`] | the cells that stand, for those who only look |
//! | `orphan` | what is put back where nothing is remembered |
//! | [`mod@create`], [`mod@destroy`], [`mod@renew`], [`mod@verify`] | the verbs |
//! | [`guardian`], [`posted`] | a process that puts all back where a creator dies; keeps leases |
//! | [`choose`], [`census`], [`memory`] | which CPUs, who else is there, huge pages |
//! | [`aside`] | Seatmap's own threads, off a cell's CPUs |
//! | [`stay`] | the calling process in a cell, and back |
//! | [`document`] | cells for programs that read them |
//! | [`error`] | why a cell could not be made or undone |
//!
//! Quiet is a measured figure here, never a setting: a CPU is as quiet as a busy loop on it finds
//! it to be.
#![deny(missing_docs)]

pub mod aside;
pub mod backend;
pub mod census;
pub mod change;
pub mod choose;
pub mod claim;
pub mod create;
pub mod destroy;
pub mod document;
pub mod error;
pub mod fault;
pub mod guardian;
pub mod host;
pub mod hygiene;
pub mod journal;
mod mask_snapshot;
pub mod memory;
pub mod name;
mod orphan;
pub mod partition;
mod permitted;
pub mod posted;
pub mod record;
pub mod renew;
pub mod run_folder;
pub mod settings;
pub mod settings_lock;
pub mod site;
pub mod standing;
pub mod stay;
mod thread_mask;
pub mod undo;
pub mod verify;

pub use backend::CellBackend;
pub use choose::CpuChoice;
pub use create::{CellRequest, NoiseJudge, create};
pub use destroy::{Restored, destroy, restore};
pub use document::{CellList, CellVerdict};
pub use error::CellError;
pub use guardian::GuardedHost;
pub use host::CellHost;
pub use name::{Name, NameError};
pub use record::{CellRecord, CellState};
pub use renew::renew;
pub use seatmap_os::guardian::GuardianCommand;
pub use standing::standing;
pub use stay::Stay;
pub use verify::{examine, examine_all, verify};
