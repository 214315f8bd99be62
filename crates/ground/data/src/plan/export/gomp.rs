//! `GOMP_CPU_AFFINITY`, for GCC's OpenMP runtime; LLVM's and Intel's know it too.

use super::{PlanExportError, environment, joined};
use crate::plan::Plan;

/// Shell lines: thread k on the k-th CPU of the list (libgomp's manual, section 4.20).
///
/// # Errors
/// [`PlanExportError`] if a seat has several PUs.
pub fn write(plan: &Plan) -> Result<String, PlanExportError> {
    PlanExportError::refuse_sets(plan, "GOMP_CPU_AFFINITY")?;
    Ok(environment::lines(plan, &[("GOMP_CPU_AFFINITY", joined(&plan.placement, " "))]))
}
