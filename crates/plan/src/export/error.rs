//! Why a plan could not be written for another tool.

/// Why a plan could not be written for another tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// likwid-pin silently cuts its list at the number of hardware threads, which a plan does not hold.
    #[error(
        "likwid-pin cannot seat several tasks on one PU: it drops what is left of a list longer than the machine has \
         hardware threads, and this plan has {tasks} tasks on {pus} PUs; export it as gomp, kmp or omp-places"
    )]
    LikwidShares {
        /// Tasks.
        tasks: usize,
        /// PUs in use.
        pus: usize,
    },
}
