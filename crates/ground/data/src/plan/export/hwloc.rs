//! A script around `hwloc-bind`, for programs of several processes on any system that hwloc
//! supports.

use super::{by_task, joined};
use crate::plan::Plan;

/// The script: as [`super::taskset::write`], with hwloc's binding.
///
/// `--physical`, because hwloc's tools otherwise count PUs in the order of the topology;
/// `--strict`, so that an unavailable PU is an error.
pub fn write(plan: &Plan) -> String {
    by_task::script(plan, |_, pus| {
        format!(
            "hwloc-bind --strict --physical {} --",
            joined(pus.iter().map(|pu| format!("pu:{pu}")), " ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::export::{commands, sample};

    #[test]
    fn hwloc_export_has_one_line_per_task() {
        insta::assert_snapshot!(commands(&write(&sample())), @"
        hwloc-bind --strict --physical pu:3 --
        hwloc-bind --strict --physical pu:1 --
        hwloc-bind --strict --physical pu:12 --
        hwloc-bind --strict --physical pu:1 pu:3 pu:12 --
        ");
    }
}
