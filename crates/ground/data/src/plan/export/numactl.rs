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
