//! A script around `taskset` (util-linux), for programs of several processes.

use super::by_task;
use crate::plan::Plan;
use seatmap_os::CpuList;

/// The script: `SEATMAP_TASK=1 sh FILE COMMAND`, or `mpirun --bind-to none sh FILE COMMAND`.
///
/// `taskset` binds a process with all its threads to a set, so the threads of a program run on the
/// right PUs, but move among them.
pub fn write(plan: &Plan) -> String {
    by_task::script(plan, |_, pus| format!("taskset --cpu-list {}", CpuList(pus.to_vec())))
}
