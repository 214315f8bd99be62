//! The start of a `likwid-pin` command, for programs of several threads.

use super::{PlanExportError, joined};
use crate::plan::Plan;

/// `likwid-pin -c 3,1`: the main thread on the first PU, the others on the next ones in the order
/// of creation.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::export::sample;

    #[test]
    fn likwid_export_lists_pus_in_task_order() {
        insta::assert_snapshot!(write(&sample()).unwrap(), @"likwid-pin -c 3,1,12");
    }

    #[test]
    fn likwid_export_refuses_shared_pus() {
        let error = write(&Plan::new("desk", vec![3, 1, 3])).unwrap_err().to_string();
        assert!(error.contains("this plan has 3 tasks on 2 PUs; export it as gomp"), "{error}");
    }
}
