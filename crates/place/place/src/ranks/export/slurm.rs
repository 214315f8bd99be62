//! The file for `SLURM_HOSTFILE`: the number of a line is its rank (srun(1),
//! `--distribution=arbitrary`).

use crate::ranks::RankPlan;

/// The file. It has no comment, because Slurm reads every line as hosts.
pub fn write(plan: &RankPlan) -> String {
    super::hosts(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slurm_hostfile_has_one_line_per_rank() {
        assert_eq!(write(&crate::ranks::export::sample()), "n2\nn2\nn0\nn0\n");
    }
}
