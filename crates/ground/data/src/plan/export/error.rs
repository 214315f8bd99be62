//! The errors of exporting a plan.

use crate::plan::Plan;
use crate::statistics::words::counted;
use std::fmt::Display;

/// Why a plan could not be written for another tool.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlanExportError(pub(super) String);

impl PlanExportError {
    /// Refuses a plan with a seat of several PUs, for a tool that binds a thread to one.
    pub(super) fn refuse_sets(plan: &Plan, tool: &'static str) -> Result<(), PlanExportError> {
        let sizes = (0..plan.placement.len()).map(|task| (task, plan.seat(task).len()));
        let found = sizes.into_iter().find(|(_, pus)| *pus > 1);
        found.map_or(Ok(()), |(task, pus)| {
            let pus = counted(pus, "PU");
            Err(PlanExportError(format!(
                "{tool} binds each task to one PU, but task {task} may run on {pus}; export it as \
                 omp-places or kmp"
            )))
        })
    }

    pub(super) fn too_many(tool: &str, what: &str, most: impl Display) -> Self {
        PlanExportError(format!("{tool} supports at most {most} {what}, but this plan needs more"))
    }
}
