//! Options of a DPDK program: lcore k on the seat of task k.

use super::{PlanExportError, joined};
use crate::plan::Plan;

/// The most lcores of an ordinary build (`RTE_MAX_LCORE` of DPDK's configuration).
const MOST_LCORES: usize = 128;

/// `--lcores=0@3,1@1 --main-lcore=0` for DPDK's environment layer.
///
/// # Errors
/// [`PlanExportError`] if there are more tasks than lcores.
pub fn write(plan: &Plan) -> Result<String, PlanExportError> {
    if plan.placement.len() > MOST_LCORES {
        return Err(PlanExportError::too_many("DPDK", "lcores", MOST_LCORES));
    }
    // The main lcore is task 0, which starts the others.
    Ok(format!(
        "--lcores={} --main-lcore=0\n",
        joined((0..plan.placement.len()).map(|task| lcore(plan, task)), ",")
    ))
}

fn cpu_list(pus: &[u32]) -> String {
    match pus {
        [one] => one.to_string(),
        several => format!("({})", joined(several, ",")),
    }
}

fn lcore(plan: &Plan, task: usize) -> String {
    format!("{task}@{}", cpu_list(plan.seat(task)))
}
