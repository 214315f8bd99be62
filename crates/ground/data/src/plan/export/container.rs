//! Options of `docker run` and `podman run`.

use crate::plan::Plan;
use seatmap_os::CpuList;

/// `--cpuset-cpus=1,3 --cpuset-mems=0`: the container's processes on the PUs in use, and their
/// memory from the plan's nodes, if the plan gives some for every task.
///
/// A container only knows the set. The options of both tools are the same (docker-run(1),
/// podman-run(1)).
pub fn write(plan: &Plan) -> String {
    let memory = plan
        .memory_in_use()
        .map(|nodes| format!(" --cpuset-mems={}", CpuList(nodes)))
        .unwrap_or_default();
    format!("--cpuset-cpus={}{memory}\n", CpuList(plan.pus_in_use()))
}
