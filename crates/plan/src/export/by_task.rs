//! A shell script that seats one process, for tools that bind a process to a set of PUs.
//!
//! Such tools know nothing of threads or ranks, so the script looks up which task it is started as, binds itself and
//! becomes the program: signals, standard input and the exit code pass through, and any launcher of processes can
//! start it in place of the program.

use super::comment;
use crate::Plan;

/// Where the number of the task stands: our own variable, then what Open MPI and the MPICH family set for each rank.
const TASK: &str = "${SEATMAP_TASK:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}}";

/// The script; `bind` writes the binding command for a set of PUs, up to the program.
pub fn script(plan: &Plan, bind: impl Fn(&[u32]) -> String) -> String {
    let mut text = "#!/bin/sh\n".to_owned() + &comment::header(plan);
    text +=
        "# sh FILE COMMAND... runs COMMAND on the PU of the task whose number is in SEATMAP_TASK, else of its MPI\n";
    text += "# rank; where there is neither, on the PUs of all tasks.\n";
    text += &format!("task={TASK}\ncase $task in\n");
    for (task, pu) in plan.placement.iter().enumerate() {
        text += &format!("{task}) exec {} \"$@\" ;;{}\n", bind(&[*pu]), comment::name(plan, task));
    }
    text += &format!("'') exec {} \"$@\" ;;\n", bind(&plan.pus_in_use()));
    let last = plan.placement.len() - 1;
    text + &format!("*) echo \"$0: there is no task $task; the plan has 0 to {last}\" >&2; exit 2 ;;\nesac\n")
}
