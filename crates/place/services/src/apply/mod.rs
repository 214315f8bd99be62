//! Gives planned sets to living services, and takes them back.
//!
//! Each service is changed in the way of its owner: a systemd unit by `systemctl set-property`, a
//! container by its engine, a domain by `virsh`, a control group by its `cpuset` files, and
//! processes without any of these by the masks of their threads. No process leaves its group.
//! Groups that an owner would write again are refused.
//!
//! Every change stands in a journal before it is made, in the format and with the guardian of
//! [cells](seatmap_cell): after SIGKILL at any step the guardian puts everything back, and where
//! it was killed as well, the next `seatmap services` does. A setting that somebody else has
//! changed since is left as that one set it. A boot ends the sets, and the journal with them.
//!
//! | module | holds |
//! |---|---|
//! | [`setting`] | one setting of one owner: its present value, a change, the way back |
//! | [`targets`] | the settings that seat a service |
//! | [`owners`] | services that only their owner may seat |
//! | `drop_in` | the files that systemd writes for properties |
//! | `virsh` | the pins of a domain |
//! | [`host`] | this computer, with the plans that stand |
//! | [`seat`] | giving the sets |
//! | [`undo`] | taking them back |

mod drop_in;
pub mod host;
pub mod owners;
pub mod seat;
pub mod setting;
pub mod targets;
pub mod undo;
mod virsh;

pub use host::{AppliedPlan, ServicesHost};
pub use seat::{ApplyRequest, ApplyResult};
pub(crate) use setting::is_word;

use crate::error::ServicesError;
use seatmap_cell::CellError;
use seatmap_cell::name::{Name, NameError};
use seatmap_data::document::Blame;
use seatmap_data::statistics::words::counted;
use seatmap_os::rights;
use seatmap_os::root::FileError;
use seatmap_os::{CpuSet, Tid};
use std::io;

/// Why sets were not given or taken back. Nothing is left half done: what had been changed by then
/// has been put back.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A service of the plan is not there.
    #[error(transparent)]
    Services(#[from] ServicesError),
    /// No plan of this name stands.
    #[error("no plan '{name}' stands{}", alternatives(.standing))]
    NoSuchPlan {
        /// The name.
        name: Name,
        /// Those that stand.
        standing: Vec<Name>,
    },
    /// A plan of this name stands already.
    #[error("a plan '{0}' stands already; 'seatmap services undo {0}' ends it, or give --name")]
    NameTaken(Name),
    /// The name cannot be one.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Another plan has some of the CPUs.
    #[error(
        "CPUs {cpus} belong to plan '{plan}', which stands; undo it first, or plan both together"
    )]
    Claimed {
        /// The other plan.
        plan: Name,
        /// The CPUs that both claim.
        cpus: CpuSet,
    },
    /// Some CPUs do not run here.
    #[error(
        "CPUs {missing} of the plan do not run here ({online} do); plan again on this computer"
    )]
    CpusMissing {
        /// The CPUs of the plan that are not there.
        missing: CpuSet,
        /// The CPUs that run.
        online: CpuSet,
    },
    /// A cell has some of the CPUs.
    #[error("CPUs {0} belong to a cell; 'seatmap cell list' shows it")]
    InCell(CpuSet),
    /// A unit is to be changed, and systemd does not run this computer.
    #[error(
        "service '{0}' is a systemd unit, and systemd does not run this computer; name it by \
         cgroup or pid"
    )]
    NoSystemd(String),
    /// A pod is to be changed.
    #[error(
        "service '{0}' belongs to kubelet, which decides on the CPUs of its pods and writes them \
         again; take it out of services.toml and plan again, and reserve the CPUs of the others in \
         kubelet's reservedSystemCPUs"
    )]
    OfKubelet(String),
    /// A whole job of Slurm is to be changed.
    #[error(
        "service '{service}' is a whole job of Slurm, which writes the CPUs of a job again with \
         each step; name a step, such as {job}.0 or {job}.batch"
    )]
    WholeJob {
        /// The service.
        service: String,
        /// The job.
        job: String,
    },
    /// A step of Slurm is to get CPUs of others.
    #[error(
        "service '{service}' is a step that Slurm has given CPUs {own}, and the plan gives it \
         {beyond}, which Slurm may give to others; a plan can only narrow a step, and a job with \
         more CPUs is made by 'srun --exclusive' or '--cpus-per-task'"
    )]
    BeyondStep {
        /// The service.
        service: String,
        /// The CPUs that Slurm has given it.
        own: CpuSet,
        /// The CPUs of the plan that are not among them.
        beyond: CpuSet,
    },
    /// A domain is to be changed, and libvirt's program for that is not there.
    #[error(
        "service '{0}' is a libvirt domain, and 'virsh' is not installed here; install it \
         (libvirt-clients), or leave the service out of the plan"
    )]
    NoVirsh(String),
    /// The name of a domain cannot be given to a command.
    #[error(
        "service '{0}' is a libvirt domain whose name is a number, or has other characters than \
         letters, digits and - _ . @; 'virsh domrename' gives it another one"
    )]
    DomainName(String),
    /// A control group has no cpuset, and its threads none either.
    #[error("service '{0}' has no thread whose mask could be changed")]
    NoThreads(String),
    /// A process keeps the computer alive.
    #[error(
        "service '{service}' takes in process {pid}, {kind}; name the processes of one program, by \
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
    /// A plan cannot change this.
    #[error(
        "service '{service}' is to be changed by {path}, which no plan changes; name a unit, \
         container or domain by its name, or a control group below the cpuset hierarchy"
    )]
    NotASetting {
        /// The service.
        service: String,
        /// The setting that its entry leads to.
        path: String,
    },
    /// A setting was refused.
    #[error("service '{service}' cannot be given CPUs {cpus}: {}{}", .source.path, advice(.source))]
    Refused {
        /// The service.
        service: String,
        /// Its CPUs.
        cpus: String,
        /// The kernel's or the owner's reason.
        source: FileError,
    },
    /// A setting was taken, and has no effect.
    #[error(
        "service '{service}': CPUs {cpus} were set, and {} may still run elsewhere: no cpuset \
         carries the setting out; name the service by pid or command to change the masks of its \
         threads",
        counted(*.threads, "thread")
    )]
    NotEffective {
        /// The service.
        service: String,
        /// The threads outside.
        threads: usize,
        /// Its CPUs.
        cpus: String,
    },
    /// A setting reads otherwise than it was written: somebody else writes it as well.
    #[error(
        "service '{service}': {path} was set to '{wanted}' and reads '{found}'; something else \
         writes it as well"
    )]
    NotTaken {
        /// The service.
        service: String,
        /// The setting.
        path: String,
        /// The value that was written.
        wanted: String,
        /// The value that it has.
        found: String,
    },
    /// The folder of journals cannot be used.
    #[error("the journals of plans cannot be read or written")]
    Remembering(#[source] io::Error),
    /// The guardian cannot be started.
    #[error(transparent)]
    Guardian(#[from] CellError),
}

fn alternatives(names: &[Name]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    if names.is_empty() {
        "; 'seatmap services apply PLAN' makes one stand".to_owned()
    } else {
        format!("; there is {}", names.join(", "))
    }
}

/// errno(3): other groups stand in the way.
const EBUSY: i32 = 16;

/// The way out where the kernel's own words do not name one.
fn advice(error: &FileError) -> &'static str {
    match error.source.raw_os_error() {
        Some(EBUSY) => " (a group below it has other CPUs, or a neighbour has these for itself)",
        _ => rights::way_out(&error.source),
    }
}

impl Blame for ApplyError {
    fn is_input(&self) -> bool {
        match self {
            ApplyError::Services(error) => error.is_input(),
            ApplyError::NoSuchPlan { .. }
            | ApplyError::NameTaken(_)
            | ApplyError::Name(_)
            | ApplyError::Claimed { .. }
            | ApplyError::CpusMissing { .. }
            | ApplyError::InCell(_)
            | ApplyError::NoSystemd(_)
            | ApplyError::OfKubelet(_)
            | ApplyError::WholeJob { .. }
            | ApplyError::BeyondStep { .. }
            | ApplyError::NoVirsh(_)
            | ApplyError::Vital { .. }
            | ApplyError::NotASetting { .. }
            | ApplyError::DomainName(_) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
