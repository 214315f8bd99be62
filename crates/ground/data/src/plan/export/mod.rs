//! Plans in the formats of other tools.
//!
//! | module | output | tasks are |
//! |---|---|---|
//! | [`taskset`], [`hwloc`], [`numactl`] | a shell script that binds a process | processes |
//! | [`rankfile`] | Open MPI's `mpirun --rankfile` | ranks |
//! | [`slurm`] | the start of an `srun` command | ranks |
//! | [`omp_places`], [`gomp`], [`kmp`] | shell lines with OpenMP's variables | threads, by number |
//! | [`likwid_pin`] | the start of a `likwid-pin` command | threads, in the order of creation |
//! | [`dpdk`] | options of a DPDK program | lcores |
//! | [`nginx`] | lines of nginx's configuration | workers |
//! | [`redis`] | lines of redis's configuration | threads and child processes, by their role |
//! | [`systemd`] | a drop-in for a service | only the set of CPUs |
//! | [`container`] | options for a container | only the set of CPUs |
//! | [`Plan::to_json`](crate::plan::Plan::to_json) | the plan itself | |
//!
//! All of them identify PUs by their OS indices. Text from the plan appears only in comments,
//! without anything that ends a comment, so an exported script runs nothing of the plan's author.

mod by_task;
mod comment;
pub mod container;
pub mod dpdk;
mod environment;
mod error;
pub mod gomp;
pub mod hwloc;
pub mod kmp;
pub mod likwid_pin;
pub mod nginx;
pub mod numactl;
pub mod omp_places;
pub mod rankfile;
pub mod redis;
pub mod slurm;
pub mod systemd;
pub mod taskset;

pub use comment::one_line;
pub use error::PlanExportError;

use crate::plan::Plan;
use crate::statistics::words::joined;

/// Writes a plan in one format.
pub type PlanWriter = fn(&Plan) -> Result<String, PlanExportError>;

/// The formats, by their names on the command line.
pub const FORMATS: [(&str, PlanWriter); 16] = [
    ("taskset", |plan| Ok(taskset::write(plan))),
    ("omp-places", |plan| Ok(omp_places::write(plan))),
    ("gomp", gomp::write),
    ("kmp", |plan| Ok(kmp::write(plan))),
    ("likwid-pin", likwid_pin::write),
    ("rankfile", |plan| Ok(rankfile::write(plan))),
    ("slurm", |plan| Ok(slurm::write(plan))),
    ("systemd", |plan| Ok(systemd::write(plan))),
    ("hwloc", |plan| Ok(hwloc::write(plan))),
    ("numactl", |plan| Ok(numactl::write(plan))),
    ("docker", |plan| Ok(container::write(plan))),
    ("podman", |plan| Ok(container::write(plan))),
    ("dpdk", dpdk::write),
    ("nginx", nginx::write),
    ("redis", |plan| Ok(redis::write(plan))),
    ("json", |plan| Ok(plan.to_json())),
];

#[cfg(test)]
mod tests;
