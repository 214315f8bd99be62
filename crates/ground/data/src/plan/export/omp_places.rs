//! `OMP_PLACES`, for every OpenMP runtime since 4.0.

use super::{environment, joined};
use crate::plan::Plan;

/// Shell lines: one place per task, and threads on the places in order.
///
/// `close` rather than `true`, which leaves the order to the runtime: with as many threads as
/// places, `close` puts thread k on place k (OpenMP 5.2, section 10.1.3).
pub fn write(plan: &Plan) -> String {
    let places = joined(
        (0..plan.placement.len()).map(|task| format!("{{{}}}", joined(plan.seat(task), ","))),
        ",",
    );
    environment::lines(plan, &[("OMP_PROC_BIND", "close".to_owned()), ("OMP_PLACES", places)])
}
