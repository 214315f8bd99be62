//! The errors of exporting a plan.

use crate::plan::Plan;
use crate::statistics::words::counted;

/// Why a plan could not be written for another tool.
#[derive(Debug, thiserror::Error)]
pub enum PlanExportError {
    /// likwid-pin silently truncates its list at the number of hardware threads, which a plan does
    /// not have.
    #[error(
        "likwid-pin cannot pin several tasks to one PU: it truncates a list longer than the \
         machine's hardware threads, and this plan has {tasks} on {pus}; export it as gomp, kmp or \
         omp-places", pus = counted(.pus, "PU"), tasks = counted(.tasks, "task"))]
    LikwidShares {
        /// Tasks.
        tasks: usize,
        /// The number of PUs in use.
        pus: usize,
    },
    /// The tool binds a thread to one PU, and a seat of this plan has several.
    #[error(
        "{tool} binds each task to one PU, but task {task} may run on {pus}; export it as \
         omp-places or kmp",
        pus = counted(.pus, "PU")
    )]
    SinglePus {
        /// Tool.
        tool: &'static str,
        /// The first task with such a seat.
        task: usize,
        /// The number of PUs in its seat.
        pus: usize,
    },
    /// The tool's lists are too short for the plan.
    #[error("{tool} supports at most {most} {what}, but this plan needs more")]
    TooMany {
        /// Tool.
        tool: &'static str,
        /// Counted things.
        what: &'static str,
        /// Largest number of them.
        most: usize,
    },
}

impl PlanExportError {
    pub(super) fn refuse_sets(plan: &Plan, tool: &'static str) -> Result<(), PlanExportError> {
        let sizes = (0..plan.placement.len()).map(|task| (task, plan.seat(task).len()));
        let found = sizes.into_iter().find(|(_, pus)| *pus > 1);
        found.map_or(Ok(()), |(task, pus)| Err(PlanExportError::SinglePus { tool, task, pus }))
    }
}
