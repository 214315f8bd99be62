//! A script around `hwloc-bind`, for programs of several processes on whatever system hwloc knows.

use super::{by_task, joined};
use crate::Plan;

/// The script: as [`super::taskset::write`], with hwloc's binding.
///
/// `--physical`, because hwloc's tools count PUs in the order of the topology otherwise;
/// `--strict`, so that a PU that cannot be had is an error.
#[must_use]
pub fn write(plan: &Plan) -> String {
    by_task::script(plan, |_, pus| {
        format!(
            "hwloc-bind --strict --physical {} --",
            joined(pus.iter().map(|pu| format!("pu:{pu}")), " ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample;

    #[test]
    fn each_task_has_its_line() {
        insta::assert_snapshot!(write(&sample()), @r#"
        #!/bin/sh
        # Seatmap plan: 3 tasks of ring:3 on desk.
        # sh FILE COMMAND... runs COMMAND on the seat of its task. The task is SEATMAP_TASK, else the rank on this
        # node as Open MPI, MPICH, Intel MPI, Cray's PMI or srun sets it; SEATMAP_TASK=all takes all tasks' PUs.
        task=${SEATMAP_TASK:-${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${MV2_COMM_WORLD_LOCAL_RANK:-${PMI_LOCAL_RANK:-${PALS_LOCAL_RANKID:-${JSM_NAMESPACE_LOCAL_RANK:-${FLUX_TASK_LOCAL_ID:-}}}}}}}}
        # srun numbers the tasks of a step; the 0 of a batch script is not a rank.
        [ -n "$task" ] || { [ -n "${SLURM_JOB_ID:-}" ] && [ -z "${SLURM_STEP_ID:-}" ]; } || task=${SLURM_LOCALID:-}
        case $task in
        0) exec hwloc-bind --strict --physical pu:3 -- "$@" ;; # left
        1) exec hwloc-bind --strict --physical pu:1 -- "$@" ;; # middle
        2) exec hwloc-bind --strict --physical pu:12 -- "$@" ;; # right
        all) exec hwloc-bind --strict --physical pu:1 pu:3 pu:12 -- "$@" ;;
        '') echo "$0: which task is this? The launcher has set no rank on this node (OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, MV2_COMM_WORLD_LOCAL_RANK, PMI_LOCAL_RANK, PALS_LOCAL_RANKID, JSM_NAMESPACE_LOCAL_RANK, FLUX_TASK_LOCAL_ID, SLURM_LOCALID); set SEATMAP_TASK to a task's number, or to 'all' for the PUs of all tasks" >&2; exit 2 ;;
        *) echo "$0: there is no task $task; the plan has 0 to 2" >&2; exit 2 ;;
        esac
        "#);
    }
}
