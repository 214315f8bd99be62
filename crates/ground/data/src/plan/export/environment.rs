//! Shell lines that set the environment of an OpenMP runtime.

use super::comment;
use crate::plan::Plan;

const PLACING: [&str; 4] = ["OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"];

/// Lines for `.` and `eval`. The runtimes rank these variables differently, so the others are
/// unset. One thread per task, because another team would be placed differently.
pub fn lines(plan: &Plan, variables: &[(&str, String)]) -> String {
    let others = PLACING.iter().filter(|name| variables.iter().all(|(set, _)| set != *name));
    let mut text = comment::header(plan) + &format!("unset {}\n", super::joined(others, " "));
    text += &format!("export OMP_NUM_THREADS={}\n", plan.placement.len());
    for (name, value) in variables {
        text += &format!("export {name}='{value}'\n");
    }
    text
}
