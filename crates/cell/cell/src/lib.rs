//! Quiet partitions of this computer, created on demand and always undone, even after a crash.
//!
//! A *cell* is a set of CPUs without other threads, interrupts and kernel work. Creating one
//! changes dozens of settings. Each change is first recorded in a journal, from which any program
//! can undo a dead writer's changes.
//!
//! | module | contents |
//! |---|---|
//! | [`change`], `settings`, [`permitted`] | changes, and allowed values of settings |
//! | [`settings_lock`] | lets one program at a time make changes |
//! | [`journal`], [`undo`] | records changes; undoes them |
//! | [`fault`] | deliberate crashes, for tests |
//! | `site` | the host during changes for one cell |
//! | `backend`, `partition` | the levels at which a cell is closed |
//! | `hygiene` | keeps interrupts, kernel work and timers away |
//! | `host`, [`run_folder`] | this computer; the folder of journals and records |
//! | [`record`], [`name`] | a cell's record and name |
//! | `claim` | a second record, in case the folder is lost |
//! | [`standing`](fn@standing) | the existing cells, read-only |
//! | `orphan` | undoes cells without a record |
//! | [`mod@create`], [`mod@destroy`], [`renew`](fn@renew), [`verify`](fn@verify) | the commands |
//! | [`guardian`], [`posted`] | a process that undoes a dead creator's cell and ends leases |
//! | [`choose`], [`census`], [`memory`] | best CPUs, other threads on them, huge pages |
//! | [`aside`] | moves Seatmap's own threads off a cell's CPUs |
//! | `stay` | moves the calling process into a cell and back |
//! | [`document`] | cells as JSON |
//! | `error` | why a command failed |
//!
//! Quietness is measured by a busy loop, never assumed.
#![deny(missing_docs)]

pub mod aside;
mod backend;
pub mod census;
pub mod change;
pub mod choose;
mod claim;
pub mod create;
pub mod destroy;
pub mod document;
mod error;
pub mod fault;
pub mod guardian;
mod host;
mod hygiene;
pub mod journal;
mod mask_snapshot;
pub mod memory;
pub mod name;
mod orphan;
mod partition;
pub mod permitted;
pub mod posted;
pub mod record;
mod renew;
pub mod run_folder;
mod settings;
pub mod settings_lock;
mod site;
mod standing;
mod stay;
mod thread_mask;
pub mod undo;
mod verify;

pub use backend::CellBackend;
pub use change::{SettingChange, SettingKind};
pub use choose::CpuChoice;
pub use claim::CellClaim;
pub use create::{CellRequest, NoiseJudge, create};
pub use destroy::{Restored, destroy, restore};
pub use document::{CellList, CellVerdict};
pub use error::CellError;
pub use guardian::GuardedHost;
pub use host::CellHost;
pub use journal::{CellJournal, CellJournalHeader, JournalEntry};
pub use name::{Name, NameError};
pub use record::{CellRecord, CellState};
pub use renew::renew;
pub use run_folder::RunFolder;
pub use seatmap_os::guardian::GuardianCommand;
pub use standing::standing;
pub use stay::{Renewal, Stay};
pub use undo::Left;
pub use verify::{examine, examine_all, verify};

#[cfg(test)]
mod tests;
