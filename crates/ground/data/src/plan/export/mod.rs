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
//! without anything that ends a comment, so an exported script runs nothing that the plan's author
//! wrote.

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
fn sample() -> crate::plan::Plan {
    crate::plan::Plan {
        pattern: Some("ring:3".into()),
        names: vec!["left".into(), "middle".into(), "right".into()],
        ..crate::plan::Plan::new("desk", vec![3, 1, 12])
    }
}

#[cfg(test)]
fn wide() -> crate::plan::Plan {
    crate::plan::Plan {
        seats: vec![vec![0, 1, 3], vec![1]],
        ..crate::plan::Plan::new("desk", vec![3, 1])
    }
}

#[cfg(test)]
fn near() -> crate::plan::Plan {
    let seats = vec![vec![3], vec![0, 1]];
    let memory = vec![vec![1], vec![0, 1]];
    crate::plan::Plan { seats, memory, ..crate::plan::Plan::new("desk", vec![3, 1]) }
}

#[cfg(test)]
fn commands(script: &str) -> String {
    let lines = script.lines().filter_map(|line| line.split_once("exec ")?.1.split_once(" \"$@\""));
    lines.map(|(command, _)| command).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
fn hostile() -> crate::plan::Plan {
    let word = "x\n$(touch y)\r\u{85}\\";
    crate::plan::Plan {
        pattern: Some(word.into()),
        names: vec![word.into(), word.into()],
        ..crate::plan::Plan::new(word, vec![1, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_with_memory_binding_write_it() {
        let mut one_each = near();
        assert!(slurm::write(&one_each).ends_with(" --mem-bind=mask_mem:0x2,0x3\n"));
        one_each.memory = vec![vec![1], vec![0]];
        assert!(slurm::write(&one_each).ends_with(" --mem-bind=map_mem:1,0\n"));
        assert!(systemd::write(&one_each).ends_with("NUMAPolicy=bind\nNUMAMask=0 1\n"));
        one_each.memory[0].clear();
        assert!(
            !slurm::write(&one_each).contains("mem-bind")
                && !systemd::write(&one_each).contains("NUMA")
        );
        assert!(!container::write(&one_each).contains("mems"));
    }

    #[test]
    fn exports_with_multi_pu_seats_write_them() {
        let line = |text: String, with: &str| {
            text.lines().find(|line| line.contains(with)).unwrap().to_owned()
        };
        assert_eq!(
            line(taskset::write(&wide()), "0)"),
            "0) exec taskset --cpu-list 0,1,3 \"$@\" ;;"
        );
        assert_eq!(
            line(hwloc::write(&wide()), "0)"),
            "0) exec hwloc-bind --strict --physical pu:0 pu:1 pu:3 -- \"$@\" ;;"
        );
        assert_eq!(line(omp_places::write(&wide()), "PLACES="), "export OMP_PLACES='{0,1,3},{1}'");
        assert_eq!(line(rankfile::write(&wide()), "rank 0"), "rank 0=localhost slot=0,1,3");
        assert!(kmp::write(&wide()).contains("proclist=[{0,1,3},1]"));
        assert!(systemd::write(&wide()).contains("CPUAffinity=0 1 3"));
        for refused in [gomp::write(&wide()), likwid_pin::write(&wide())] {
            assert!(
                matches!(refused, Err(PlanExportError::SinglePus { task: 0, pus: 3, .. })),
                "{refused:?}"
            );
        }
    }
}
