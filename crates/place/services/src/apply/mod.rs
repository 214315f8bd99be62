//! Applies planned CPU sets to running services, and undoes that.
//!
//! Each service is changed through its owner: units by `systemctl set-property`, containers by
//! their engine, domains by `virsh`, control groups by `cpuset` files, other processes by thread
//! masks. No process leaves its group. Groups that an owner would overwrite are refused.
//!
//! Journal and guardian are as for [cells](seatmap_cell): after SIGKILL at any step the guardian
//! restores everything, or else the next `seatmap services`. Values set since by other programs
//! stay. A reboot ends the sets and the journal.
//!
//! | module | holds |
//! |---|---|
//! | `setting` | one setting of one owner: reading, changing and restoring it |
//! | `targets` | the settings that seat a service |
//! | `owners` | services that only their owner may seat |
//! | `drop_in` | the files that systemd writes for properties |
//! | `virsh` | the pins of a domain |
//! | [`host`] | this computer and its applied plans |
//! | [`seat`] | applying a plan |
//! | `undo` | undoing a plan |

mod drop_in;
pub mod host;
mod owners;
pub mod seat;
mod setting;
pub(crate) mod targets;
mod undo;
mod virsh;

pub use host::{AppliedPlan, ServicesHost};
pub use seat::{ApplyRequest, ApplyResult};
pub(crate) use setting::is_word;

use seatmap_data::document::Blame;
use std::io;

/// The folder of journals cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot read or write the journals of plans")]
pub struct PlanJournalError(#[from] io::Error);

seatmap_data::into_failure!(PlanJournalError);

impl Blame for PlanJournalError {
    fn is_input(&self) -> bool {
        false
    }
}
