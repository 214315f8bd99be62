//! A shell script that binds one process, for tools that bind a process to a set of PUs.
//!
//! Such tools know neither threads nor ranks, so the script finds its task, binds itself and
//! becomes the program: signals, standard input and the exit code pass through, and any launcher
//! can start it.
//!
//! A plan is for one machine, so a task is a rank *on this node*. A rank of the whole job is not
//! enough, and the script refuses to guess.

use super::{comment, joined};
use crate::plan::Plan;
use crate::plan::local_rank::{ALL, LAUNCHERS, OWN};

/// Slurm's number is last, because a batch script and its children have `SLURM_LOCALID=0` too
/// (`sbatch(1)`); only tasks of a step (`srun(1)`) have a `SLURM_STEP_ID`.
const SLURM: &str = "\
# srun numbers the tasks of a step; the 0 of a batch script is not a rank.
[ -n \"$task\" ] || { [ -n \"${SLURM_JOB_ID:-}\" ] && [ -z \"${SLURM_STEP_ID:-}\" ]; } || \
task=${SLURM_LOCALID:-}
";

/// The shell expression for the task's number: Seatmap's own variable, then those of launchers.
fn task() -> String {
    // From the inside of the nested defaults outwards, so the first launcher takes precedence.
    let launchers = LAUNCHERS.iter().rev().map(|launcher| launcher.rank);
    let of_launchers = launchers.fold(String::new(), |rest, name| format!("${{{name}:-{rest}}}"));
    format!("${{{OWN}:-{of_launchers}}}")
}

fn unknown() -> String {
    let names = LAUNCHERS.iter().map(|launcher| launcher.rank).chain(["SLURM_LOCALID"]);
    format!(
        "unknown task: the launcher has set no rank on this node ({}); set {OWN} to a task's \
         number, or to '{ALL}' for the PUs of all tasks",
        joined(names, ", ")
    )
}

/// The script; `bind` writes the binding command for a task's PUs or for those of all tasks.
pub fn script(plan: &Plan, bind: impl Fn(Option<usize>, &[u32]) -> String) -> String {
    let mut text = "#!/bin/sh\n".to_owned() + &comment::header(plan);
    text += "# sh FILE COMMAND... runs COMMAND on the seat of its task. The task is SEATMAP_TASK, \
             else the rank on this\n";
    text += "# node as Open MPI, MPICH, Intel MPI, Cray's PMI or srun sets it; SEATMAP_TASK=all \
             takes all tasks' PUs.\n";
    text += &format!("task={}\n{SLURM}case $task in\n", task());
    // `exec`: the program replaces the script, and gets its signals and its parent.
    for task in 0..plan.placement.len() {
        text += &format!(
            "{task}) exec {} \"$@\" ;;{}\n",
            bind(Some(task), plan.seat(task)),
            comment::name(plan, task)
        );
    }
    text += &format!("all) exec {} \"$@\" ;;\n", bind(None, &plan.pus_in_use()));
    text += &format!("'') echo \"$0: {}\" >&2; exit 2 ;;\n", unknown());
    let last = plan.placement.len() - 1;
    text + &format!(
        "*) echo \"$0: there is no task $task; the plan has tasks 0 to {last}\" >&2; exit 2 ;;\n\
         esac\n"
    )
}
