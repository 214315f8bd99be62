//! Lines for nginx's configuration: worker k on the seat of task k.

use super::{PlanExportError, comment, joined};
use crate::plan::Plan;

/// The most CPUs of nginx's masks (`CPU_SETSIZE` of sched.h).
const MOST_CPUS: u32 = 1024;

/// `worker_processes 2; worker_cpu_affinity 1000 0010;` for the main context of `nginx.conf`: a
/// mask for each worker, with one binary digit per CPU, CPU 0 last (the core module's
/// documentation).
///
/// # Errors
/// [`PlanExportError`] if a PU is beyond the masks.
pub fn write(plan: &Plan) -> Result<String, PlanExportError> {
    let tasks = plan.placement.len();
    let digits = plan.pus_in_use().last().map_or(1, |last| last + 1);
    if digits > MOST_CPUS {
        return Err(PlanExportError::too_many("nginx", "CPUs", MOST_CPUS));
    }
    let masks = joined(
        (0..tasks).map(|task| {
            (0..digits)
                .rev()
                .map(|pu| if plan.seat(task).contains(&pu) { '1' } else { '0' })
                .collect::<String>()
        }),
        " ",
    );
    Ok(format!(
        "{}worker_processes {tasks};\nworker_cpu_affinity {masks};\n",
        comment::header(plan)
    ))
}
