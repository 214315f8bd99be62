//! The start of a `likwid-pin` command, for programs of several threads.

use super::{PlanExportError, joined};
use crate::plan::Plan;
use crate::statistics::words::counted;

/// `likwid-pin -c 3,1`: the main thread on the first PU, the others on the next ones in order of
/// creation.
///
/// A list without a domain letter has OS indices, in order.
///
/// # Errors
/// [`PlanExportError`] if a seat has several PUs, or if
/// tasks share a PU.
pub fn write(plan: &Plan) -> Result<String, PlanExportError> {
    PlanExportError::refuse_sets(plan, "likwid-pin")?;
    if plan.is_oversubscribed() {
        return Err(PlanExportError(format!(
            "likwid-pin cannot pin several tasks to one PU: it truncates a list longer than the \
             machine's hardware threads, and this plan has {} on {}; export it as gomp, kmp or \
             omp-places",
            counted(plan.placement.len(), "task"),
            counted(plan.pus_in_use().len(), "PU")
        )));
    }
    Ok(format!("likwid-pin -c {}\n", joined(&plan.placement, ",")))
}
