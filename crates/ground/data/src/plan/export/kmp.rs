//! `KMP_AFFINITY`, for LLVM's and Intel's OpenMP runtime.

use super::{environment, joined};
use crate::plan::Plan;

/// Shell lines: thread k on the k-th OS index of the list, or the k-th set in braces.
/// `granularity=fine` binds to a PU, not to its whole core.
pub fn write(plan: &Plan) -> String {
    let seats = (0..plan.placement.len()).map(|task| match plan.seat(task) {
        [pu] => pu.to_string(),
        several => format!("{{{}}}", joined(several, ",")),
    });
    let value = format!("granularity=fine,explicit,proclist=[{}]", joined(seats, ","));
    environment::lines(plan, &[("KMP_AFFINITY", value)])
}
