//! The start of a `likwid-pin` command, for programs of several threads.

use super::{PlanExportError, joined};
use crate::plan::Plan;

/// `likwid-pin -c 3,1`: the main thread on the first PU, the others on the next ones in order of
/// creation.
///
/// A list without a domain letter has OS indices, in order.
///
/// # Errors
/// [`PlanExportError::SinglePus`] if a seat has several PUs, [`PlanExportError::LikwidShares`] if
/// tasks share a PU.
pub fn write(plan: &Plan) -> Result<String, PlanExportError> {
    PlanExportError::refuse_sets(plan, "likwid-pin")?;
    if plan.is_oversubscribed() {
        return Err(PlanExportError::LikwidShares {
            tasks: plan.placement.len(),
            pus: plan.pus_in_use().len(),
        });
    }
    Ok(format!("likwid-pin -c {}\n", joined(&plan.placement, ",")))
}
