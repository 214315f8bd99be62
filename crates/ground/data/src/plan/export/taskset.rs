//! A script around `taskset` (util-linux), for programs of several processes.

use super::by_task;
use crate::plan::Plan;
use seatmap_os::CpuList;

/// The script: `SEATMAP_TASK=1 sh FILE COMMAND`, or `mpirun --bind-to none sh FILE COMMAND`.
///
/// `taskset` binds a process with all its threads to a set, so a program of several threads runs on
/// the right PUs, but its threads move among them.
pub fn write(plan: &Plan) -> String {
    by_task::script(plan, |_, pus| format!("taskset --cpu-list {}", CpuList(pus.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::export::{hostile, sample};

    #[test]
    fn taskset_export_has_one_line_per_task() {
        insta::assert_snapshot!(write(&sample()), @r#"
        #!/bin/sh
        # Seatmap plan: 3 tasks of ring:3 on desk.
        # sh FILE COMMAND... runs COMMAND on the seat of its task. The task is SEATMAP_TASK, else the rank on this
        # node as Open MPI, MPICH, Intel MPI, Cray's PMI or srun sets it; SEATMAP_TASK=all takes all tasks' PUs.
        task=${SEATMAP_TASK:-${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${MV2_COMM_WORLD_LOCAL_RANK:-${PMI_LOCAL_RANK:-${PALS_LOCAL_RANKID:-${JSM_NAMESPACE_LOCAL_RANK:-${FLUX_TASK_LOCAL_ID:-}}}}}}}}
        # srun numbers the tasks of a step; the 0 of a batch script is not a rank.
        [ -n "$task" ] || { [ -n "${SLURM_JOB_ID:-}" ] && [ -z "${SLURM_STEP_ID:-}" ]; } || task=${SLURM_LOCALID:-}
        case $task in
        0) exec taskset --cpu-list 3 "$@" ;; # left
        1) exec taskset --cpu-list 1 "$@" ;; # middle
        2) exec taskset --cpu-list 12 "$@" ;; # right
        all) exec taskset --cpu-list 1,3,12 "$@" ;;
        '') echo "$0: unknown task: the launcher has set no rank on this node (OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, MV2_COMM_WORLD_LOCAL_RANK, PMI_LOCAL_RANK, PALS_LOCAL_RANKID, JSM_NAMESPACE_LOCAL_RANK, FLUX_TASK_LOCAL_ID, SLURM_LOCALID); set SEATMAP_TASK to a task's number, or to 'all' for the PUs of all tasks" >&2; exit 2 ;;
        *) echo "$0: there is no task $task; the plan has tasks 0 to 2" >&2; exit 2 ;;
        esac
        "#);
    }

    #[test]
    fn hostile_names_stay_inside_comments() {
        let script = write(&hostile());
        let lines: Vec<&str> = script.lines().filter(|line| line.contains("touch")).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        # Seatmap plan: 2 tasks of x\n$(touch y)\r\u{85}\\ on x\n$(touch y)\r\u{85}\\.
        0) exec taskset --cpu-list 1 "$@" ;; # x\n$(touch y)\r\u{85}\\
        1) exec taskset --cpu-list 0 "$@" ;; # x\n$(touch y)\r\u{85}\\
        "#);
        assert_eq!(script.lines().count(), write(&sample()).lines().count() - 1);
    }
}
