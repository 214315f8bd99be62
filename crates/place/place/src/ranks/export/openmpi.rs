//! A hostfile for Open MPI's sequential mapper: the number of a line is its rank (mpirun(1),
//! `--map-by seq`).

use crate::ranks::RankPlan;

/// The file.
pub fn write(plan: &RankPlan) -> String {
    let head = "# mpirun --map-by seq --bind-to none --hostfile THIS seatmap run --plan PLAN -- \
                PROGRAM...\n";
    head.to_owned() + &super::hosts(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openmpi_hostfile_has_one_line_per_rank() {
        insta::assert_snapshot!(write(&crate::ranks::export::sample()), @r"
        # mpirun --map-by seq --bind-to none --hostfile THIS seatmap run --plan PLAN -- PROGRAM...
        n2
        n2
        n0
        n0
        ");
    }
}
