//! The file that `SLURM_HOSTFILE` names: the rank's number is the line's (srun(1),
//! `--distribution=arbitrary`).

use crate::ranks::RankPlan;

/// The file. Slurm takes every line for hosts, so that it has no comment.
#[must_use]
pub fn write(plan: &RankPlan) -> String {
    super::hosts(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_its_line() {
        assert_eq!(write(&crate::ranks::export::sample()), "n2\nn2\nn0\nn0\n");
    }
}
