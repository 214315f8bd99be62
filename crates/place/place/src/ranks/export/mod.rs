//! A plan in the formats of launchers. `seatmap run --plan` pins the ranks, so launchers must not
//! bind.
//!
//! | module | is | taken by |
//! |---|---|---|
//! | [`openmpi`] | a host on each line, rank by rank | `mpirun --map-by seq --hostfile` |
//! | [`mpich`] | runs of ranks on a host | `mpiexec -f` |
//! | [`slurm`] | a host on each line, rank by rank | `srun -m arbitrary` with `SLURM_HOSTFILE` |
//! | [`rankfile`] | node and CPUs of each rank | Open MPI 4's `mpirun --rankfile` |
//! | [`torchrun`] | a script that gives each node its rank | `torchrun --node-rank` |
//! | [`groups`] | groups of nodes with their ranks, as JSON | pod schedulers, by labels |
//!
//! Names are checked when a plan is read.

pub mod groups;
pub mod mpich;
pub mod openmpi;
pub mod rankfile;
pub mod slurm;
pub mod torchrun;

use crate::ranks::RankPlan;

/// A writer of one format.
pub type RankPlanWriter = fn(&RankPlan) -> Result<String, String>;

/// The formats by their names on the command line.
pub const FORMATS: [(&str, RankPlanWriter); 7] = [
    ("openmpi", |plan| Ok(openmpi::write(plan))),
    ("mpich", |plan| Ok(mpich::write(plan))),
    ("slurm-hostfile", |plan| Ok(slurm::write(plan))),
    ("rankfile", |plan| Ok(rankfile::write(plan))),
    ("torchrun", torchrun::write),
    ("groups", |plan| Ok(groups::write(plan))),
    ("json", |plan| Ok(plan.to_json())),
];

fn hosts(plan: &crate::ranks::RankPlan) -> String {
    (0..plan.node_of_rank.len()).map(|rank| format!("{}\n", plan.node(rank))).collect()
}

#[cfg(test)]
pub(crate) fn sample() -> crate::ranks::RankPlan {
    crate::ranks::RankPlan::from_json(include_str!("sample.json")).unwrap()
}
