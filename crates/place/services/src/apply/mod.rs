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

use crate::ServicesError;
use seatmap_cell::{CellError, NameError};
use seatmap_data::document::Blame;
use seatmap_os::rights;
use seatmap_os::root::FileError;
use std::io;

/// Why a plan was not applied or undone.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A service of the plan does not exist.
    #[error(transparent)]
    Services(#[from] ServicesError),
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The plan or its name does not suit this computer: a sentence.
    #[error("{0}")]
    Unfit(String),
    /// A setting was refused.
    #[error("cannot give service '{service}' CPUs {cpus}: {}{}", .source.path, advice(.source))]
    Refused {
        /// The service.
        service: String,
        /// Its CPUs.
        cpus: String,
        /// The kernel's or the owner's reason.
        source: FileError,
    },
    /// A setting was accepted, but has no effect: a sentence.
    #[error("{0}")]
    NotEffective(String),
    /// The folder of journals cannot be used.
    #[error("cannot read or write the journals of plans")]
    Remembering(#[from] io::Error),
    /// The guardian cannot be started.
    #[error(transparent)]
    Guardian(#[from] CellError),
}

/// errno(3).
const EBUSY: i32 = 16;

fn advice(error: &FileError) -> &'static str {
    match error.source.raw_os_error() {
        Some(EBUSY) => " (a group below it has other CPUs, or another group has these exclusively)",
        _ => rights::way_out(&error.source),
    }
}

impl Blame for ApplyError {
    fn is_input(&self) -> bool {
        match self {
            ApplyError::Services(error) => error.is_input(),
            ApplyError::Name(_) | ApplyError::Unfit(_) => true,
            _ => false,
        }
    }
}
