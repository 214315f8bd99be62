//! A script around `hwloc-bind`, for programs of several processes on any system that hwloc
//! supports.

use super::{by_task, joined};
use crate::plan::Plan;

/// The script: as [`super::taskset::write`], with hwloc's binding.
///
/// `--physical`, because hwloc's tools otherwise count PUs in the order of the topology;
/// `--strict`, so an unavailable PU is an error.
pub fn write(plan: &Plan) -> String {
    by_task::script(plan, |_, pus| {
        format!(
            "hwloc-bind --strict --physical {} --",
            joined(pus.iter().map(|pu| format!("pu:{pu}")), " ")
        )
    })
}
