//! The beginning of an `srun` command, for programs of several ranks on one node.

use super::joined;
use crate::Plan;

/// `srun --nodes=1 --ntasks=2 --cpu-bind=map_cpu:3,1`, with `--overcommit` where tasks share a PU.
///
/// Slurm carries `map_cpu` out only where the job has the whole node (srun(1), `--cpu-bind`).
#[must_use]
pub fn write(plan: &Plan) -> String {
    let shared = if plan.is_oversubscribed() { " --overcommit" } else { "" };
    let (tasks, pus) = (plan.placement.len(), joined(&plan.placement, ","));
    format!("srun --nodes=1 --ntasks={tasks}{shared} --cpu-bind=map_cpu:{pus}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample;

    #[test]
    fn pus_are_in_the_order_of_the_tasks() {
        insta::assert_snapshot!(write(&sample()), @"srun --nodes=1 --ntasks=3 --cpu-bind=map_cpu:3,1,12");
        let shared = Plan::new("desk", vec![3, 3]);
        insta::assert_snapshot!(write(&shared), @"srun --nodes=1 --ntasks=2 --overcommit --cpu-bind=map_cpu:3,3");
    }
}
