//! Shell lines that set the environment of an OpenMP runtime.

use super::comment;
use crate::plan::Plan;

/// Everything that tells a runtime where threads go.
const PLACING: [&str; 4] = ["OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"];

/// Lines for `.` and `eval`. The runtimes rank these variables differently, so those not set are
/// unset. One thread a task: a team of another size would be laid out otherwise.
pub fn lines(plan: &Plan, variables: &[(&str, String)]) -> String {
    // Runtimes let one of these win over another; what the shell has set must not decide.
    let others = PLACING.iter().filter(|name| variables.iter().all(|(set, _)| set != *name));
    let mut text = comment::header(plan) + &format!("unset {}\n", super::joined(others, " "));
    text += &format!("export OMP_NUM_THREADS={}\n", plan.placement.len());
    for (name, value) in variables {
        text += &format!("export {name}='{value}'\n");
    }
    text
}
