//! A rankfile for Open MPI 4.
//!
//! Slots are OS indices only with the two options in its first line, and never in Open MPI 5.

use crate::ranks::RankPlan;
use seatmap_os::CpuList;

/// The file.
pub fn write(plan: &RankPlan) -> String {
    let mut text = "# mpirun --use-hwthread-cpus --mca rmaps_rank_file_physical 1 --rankfile THIS \
         PROGRAM...\n"
        .to_owned();
    for (rank, cpus) in plan.cpus_of_rank.iter().enumerate() {
        text += &format!("rank {rank}={} slot={}\n", plan.node(rank), CpuList(cpus.clone()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rankfile_lists_node_and_cpus_per_rank() {
        insta::assert_snapshot!(write(&crate::ranks::export::sample()), @r"
        # mpirun --use-hwthread-cpus --mca rmaps_rank_file_physical 1 --rankfile THIS PROGRAM...
        rank 0=n2 slot=0,1
        rank 1=n2 slot=2,3
        rank 2=n0 slot=2,3
        rank 3=n0 slot=0,1
        ");
    }
}
