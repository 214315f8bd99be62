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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::export::sample;

    #[test]
    fn kmp_export_lists_pus_in_task_order() {
        insta::assert_snapshot!(write(&sample()), @"
        # Seatmap plan: 3 tasks of ring:3 on desk.
        unset OMP_PLACES OMP_PROC_BIND GOMP_CPU_AFFINITY
        export OMP_NUM_THREADS=3
        export KMP_AFFINITY='granularity=fine,explicit,proclist=[3,1,12]'
        ");
    }
}
