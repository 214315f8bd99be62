//! A host file for MPICH's Hydra: hosts with numbers of ranks, filled in order (Hydra's manual,
//! "Host File").

use crate::ranks::RankPlan;

/// One line for each run of ranks on one host.
pub fn write(plan: &RankPlan) -> String {
    let mut text =
        "# mpiexec -f THIS -n RANKS -bind-to none seatmap run --plan PLAN -- PROGRAM...\n"
            .to_owned();
    for run in plan.node_of_rank.chunk_by(|a, b| a == b) {
        text += &format!("{}:{}\n", plan.nodes[run[0]], run.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpich_host_file_merges_consecutive_ranks() {
        insta::assert_snapshot!(write(&crate::ranks::export::sample()), @r"
        # mpiexec -f THIS -n RANKS -bind-to none seatmap run --plan PLAN -- PROGRAM...
        n2:2
        n0:2
        ");
    }
}
