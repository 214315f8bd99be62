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

use crate::error::ServicesError;
use seatmap_cell::CellError;
use seatmap_cell::name::{Name, NameError};
use seatmap_data::document::Blame;
use seatmap_data::statistics::words::{counted, joined};
use seatmap_os::rights;
use seatmap_os::root::FileError;
use seatmap_os::{CpuSet, Tid};
use std::io;

/// Why a plan was not applied or undone.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A service of the plan does not exist.
    #[error(transparent)]
    Services(#[from] ServicesError),
    /// No applied plan has this name.
    #[error("no plan '{name}' is applied{}", alternatives(.standing))]
    NoSuchPlan {
        /// The name.
        name: Name,
        /// The applied plans.
        standing: Vec<Name>,
    },
    /// An applied plan has this name already.
    #[error("plan '{0}' is already applied; run 'seatmap services undo {0}', or give --name")]
    NameTaken(Name),
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Another plan has some of the CPUs.
    #[error(
        "CPUs {cpus} belong to the applied plan '{plan}'; undo it first, or plan both together"
    )]
    Claimed {
        /// The other plan.
        plan: Name,
        /// The CPUs in both plans.
        cpus: CpuSet,
    },
    /// Some CPUs are not online.
    #[error(
        "CPUs {missing} of the plan are not online here ({online} are); plan again on this computer"
    )]
    CpusMissing {
        /// The CPUs of the plan that are not online.
        missing: CpuSet,
        /// The online CPUs.
        online: CpuSet,
    },
    /// A cell has some of the CPUs.
    #[error("CPUs {0} belong to a cell; 'seatmap cell list' shows it")]
    InCell(CpuSet),
    /// The service is a unit, but systemd does not run here.
    #[error(
        "service '{0}' is a systemd unit, but systemd is not running here; name it by cgroup or pid"
    )]
    NoSystemd(String),
    /// The service is a pod, or part of one.
    #[error(
        "service '{0}' belongs to kubelet, which overwrites the CPUs of its pods; remove it from \
         services.toml and plan again, and reserve the CPUs of the others in kubelet's \
         reservedSystemCPUs"
    )]
    OfKubelet(String),
    /// The service is a whole Slurm job.
    #[error(
        "service '{service}' is a whole Slurm job, and Slurm overwrites its CPUs with each step; \
         name a step, such as {job}.0 or {job}.batch"
    )]
    WholeJob {
        /// The service.
        service: String,
        /// The job.
        job: String,
    },
    /// The plan gives a Slurm step CPUs outside its own.
    #[error(
        "service '{service}' is a Slurm step with CPUs {own}, but the plan gives it {beyond}, \
         which Slurm may give to others; a plan can only narrow a step: request more CPUs with \
         'srun --exclusive' or '--cpus-per-task'"
    )]
    BeyondStep {
        /// The service.
        service: String,
        /// The CPUs that Slurm gave it.
        own: CpuSet,
        /// The other CPUs of the plan.
        beyond: CpuSet,
    },
    /// The service is a domain, but `virsh` is not installed.
    #[error(
        "service '{0}' is a libvirt domain, but 'virsh' is not installed; install it \
         (libvirt-clients), or leave the service out of the plan"
    )]
    NoVirsh(String),
    /// A domain's name is not safe in commands.
    #[error(
        "service '{0}' is a libvirt domain with an unusable name (a number, or with other \
         characters than letters, digits and - _ . @); rename it with 'virsh domrename'"
    )]
    DomainName(String),
    /// The service has no cpuset, and no threads with changeable masks.
    #[error("service '{0}' has no thread with a changeable mask")]
    NoThreads(String),
    /// The service includes a process that the computer needs.
    #[error(
        "service '{service}' includes process {pid}, {kind}; name the processes of one program, by \
         pid, command, cgroup or unit"
    )]
    Vital {
        /// The service.
        service: String,
        /// The process.
        pid: Tid,
        /// The reason, in words.
        kind: &'static str,
    },
    /// The entry needs a setting that plans do not change.
    #[error(
        "service '{service}' would need a change of {path}, but plans never change that; name a \
         unit, container or domain by its name, or a control group below the cpuset hierarchy"
    )]
    NotASetting {
        /// The service.
        service: String,
        /// The setting for its entry.
        path: String,
    },
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
    /// A setting was accepted, but has no effect.
    #[error(
        "service '{service}': CPUs {cpus} were set, but {} may still run elsewhere: no cpuset \
         enforces the setting; name the service by pid or command to change the masks of its \
         threads",
        counted(.threads, "thread")
    )]
    NotEffective {
        /// The service.
        service: String,
        /// The number of threads outside its CPUs.
        threads: usize,
        /// Its CPUs.
        cpus: String,
    },
    /// Another program writes this setting too.
    #[error(
        "service '{service}': {path} was set to '{wanted}', but reads '{found}'; another program \
         writes it too"
    )]
    NotTaken {
        /// The service.
        service: String,
        /// The setting.
        path: String,
        /// The written value.
        wanted: String,
        /// The actual value.
        found: String,
    },
    /// The folder of journals cannot be used.
    #[error("cannot read or write the journals of plans")]
    Remembering(#[source] io::Error),
    /// The guardian cannot be started.
    #[error(transparent)]
    Guardian(#[from] CellError),
}

fn alternatives(names: &[Name]) -> String {
    if names.is_empty() {
        return "; 'seatmap services apply PLAN' applies one".to_owned();
    }
    format!("; applied: {}", joined(names.iter().map(|name| format!("'{name}'")), ", "))
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
            ApplyError::NoThreads(_)
            | ApplyError::Refused { .. }
            | ApplyError::NotEffective { .. }
            | ApplyError::NotTaken { .. }
            | ApplyError::Remembering(_)
            | ApplyError::Guardian(_) => false,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
