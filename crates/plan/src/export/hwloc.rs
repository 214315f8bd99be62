//! A script around `hwloc-bind`, for programs of several processes on whatever system hwloc knows.

use super::{by_task, joined};
use crate::Plan;

/// The script: as [`super::taskset::write`], with hwloc's binding.
///
/// `--physical`, because hwloc's tools count PUs in the order of the topology otherwise; `--strict`, so that a PU
/// that cannot be had is an error.
#[must_use]
pub fn write(plan: &Plan) -> String {
    let places = |pus: &[u32]| joined(pus.iter().map(|pu| format!("pu:{pu}")), " ");
    by_task::script(plan, |pus| format!("hwloc-bind --strict --physical {} --", places(pus)))
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
        # sh FILE COMMAND... runs COMMAND on the PU of the task whose number is in SEATMAP_TASK, else of its MPI
        # rank; where there is neither, on the PUs of all tasks.
        task=${SEATMAP_TASK:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}}
        case $task in
        0) exec hwloc-bind --strict --physical pu:3 -- "$@" ;; # left
        1) exec hwloc-bind --strict --physical pu:1 -- "$@" ;; # middle
        2) exec hwloc-bind --strict --physical pu:12 -- "$@" ;; # right
        '') exec hwloc-bind --strict --physical pu:1 pu:3 pu:12 -- "$@" ;;
        *) echo "$0: there is no task $task; the plan has 0 to 2" >&2; exit 2 ;;
        esac
        "#);
    }
}
