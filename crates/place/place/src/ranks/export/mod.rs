//! A plan in the formats of launchers. `seatmap run --plan` pins the ranks, so launchers must not
//! bind.
//!
//! | function or module | is | taken by |
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
pub mod torchrun;

use crate::ranks::RankPlan;
use seatmap_os::CpuList;

/// A writer of one format.
pub type RankPlanWriter = fn(&RankPlan) -> Result<String, String>;

/// The formats by their names on the command line.
pub const FORMATS: [(&str, RankPlanWriter); 7] = [
    ("openmpi", |plan| Ok(openmpi(plan))),
    ("mpich", |plan| Ok(mpich(plan))),
    ("slurm-hostfile", |plan| Ok(slurm(plan))),
    ("rankfile", |plan| Ok(rankfile(plan))),
    ("torchrun", torchrun::write),
    ("groups", |plan| Ok(groups::write(plan))),
    ("json", |plan| Ok(plan.to_json())),
];

/// The file for `SLURM_HOSTFILE`: the number of a line is its rank (srun(1),
/// `--distribution=arbitrary`). It has no comment, because Slurm reads every line as hosts.
pub fn slurm(plan: &RankPlan) -> String {
    (0..plan.node_of_rank.len()).map(|rank| format!("{}\n", plan.node(rank))).collect()
}

/// A hostfile for Open MPI's sequential mapper: the number of a line is its rank (mpirun(1),
/// `--map-by seq`).
pub fn openmpi(plan: &RankPlan) -> String {
    let head = "# mpirun --map-by seq --bind-to none --hostfile THIS seatmap run --plan PLAN -- \
                PROGRAM...\n";
    head.to_owned() + &slurm(plan)
}

/// A host file for MPICH's Hydra: hosts with numbers of ranks, filled in order (Hydra's manual,
/// "Host File").
pub fn mpich(plan: &RankPlan) -> String {
    let mut text =
        "# mpiexec -f THIS -n RANKS -bind-to none seatmap run --plan PLAN -- PROGRAM...\n"
            .to_owned();
    for run in plan.node_of_rank.chunk_by(|a, b| a == b) {
        text += &format!("{}:{}\n", plan.nodes[run[0]], run.len());
    }
    text
}

/// A rankfile for Open MPI 4. Slots are OS indices only with the two options in its first line, and
/// never in Open MPI 5.
pub fn rankfile(plan: &RankPlan) -> String {
    let mut text = "# mpirun --use-hwthread-cpus --mca rmaps_rank_file_physical 1 --rankfile THIS \
                    PROGRAM...\n"
        .to_owned();
    for (rank, cpus) in plan.cpus_of_rank.iter().enumerate() {
        text += &format!("rank {rank}={} slot={}\n", plan.node(rank), CpuList(cpus.clone()));
    }
    text
}

#[cfg(test)]
pub(crate) fn sample() -> crate::ranks::RankPlan {
    crate::ranks::RankPlan::from_json(include_str!("sample.json")).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpich_host_file_merges_consecutive_ranks() {
        insta::assert_snapshot!(mpich(&sample()), @r"
        # mpiexec -f THIS -n RANKS -bind-to none seatmap run --plan PLAN -- PROGRAM...
        n2:2
        n0:2
        ");
    }

    #[test]
    fn openmpi_hostfile_has_one_line_per_rank() {
        insta::assert_snapshot!(openmpi(&sample()), @r"
        # mpirun --map-by seq --bind-to none --hostfile THIS seatmap run --plan PLAN -- PROGRAM...
        n2
        n2
        n0
        n0
        ");
    }

    #[test]
    fn rankfile_lists_node_and_cpus_per_rank() {
        insta::assert_snapshot!(rankfile(&sample()), @r"
        # mpirun --use-hwthread-cpus --mca rmaps_rank_file_physical 1 --rankfile THIS PROGRAM...
        rank 0=n2 slot=0,1
        rank 1=n2 slot=2,3
        rank 2=n0 slot=2,3
        rank 3=n0 slot=0,1
        ");
    }

    #[test]
    fn slurm_hostfile_has_one_line_per_rank() {
        assert_eq!(slurm(&sample()), "n2\nn2\nn0\nn0\n");
    }
}
