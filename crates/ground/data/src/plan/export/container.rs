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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::export::{near, sample};

    #[test]
    fn container_export_lists_cpus_and_nodes() {
        insta::assert_snapshot!(write(&sample()), @"--cpuset-cpus=1,3,12");
        insta::assert_snapshot!(write(&near()), @"--cpuset-cpus=0,1,3 --cpuset-mems=0,1");
    }
}
