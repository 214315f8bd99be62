//! A script around `numactl`, for programs of several processes: CPUs and memory.

use super::by_task;
use crate::plan::Plan;
use seatmap_os::CpuList;

/// The script: as [`super::taskset::write`], with numactl's binding.
///
/// `--membind` is added if the plan gives a task's memory; `--physcpubind` counts CPUs as the
/// kernel does (numactl(8)).
pub fn write(plan: &Plan) -> String {
    by_task::script(plan, |task, pus| {
        // The entry `all` binds to the nodes of every task.
        let nodes = task.map_or_else(
            || plan.memory_in_use().unwrap_or_default(),
            |task| plan.memory_of(task).to_vec(),
        );
        let memory =
            if nodes.is_empty() { String::new() } else { format!(" --membind={}", CpuList(nodes)) };
        format!("numactl --physcpubind={}{memory} --", CpuList(pus.to_vec()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::export::{commands, near, sample};

    #[test]
    fn numactl_export_binds_memory_of_the_plan() {
        insta::assert_snapshot!(commands(&write(&near())), @"
        numactl --physcpubind=3 --membind=1 --
        numactl --physcpubind=0,1 --membind=0,1 --
        numactl --physcpubind=0,1,3 --membind=0,1 --
        ");
        insta::assert_snapshot!(commands(&write(&sample())), @"
        numactl --physcpubind=3 --
        numactl --physcpubind=1 --
        numactl --physcpubind=12 --
        numactl --physcpubind=1,3,12 --
        ");
    }
}
