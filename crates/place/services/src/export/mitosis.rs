//! A configuration of `scx_mitosis`, a scheduler of sched_ext: a cell for each service.

use super::{ServicesExportError, group, unit};
use crate::file::ServiceTarget;
use crate::plan::{PlannedService, ServicesPlan};
use serde::Serialize;

/// A cell, as `CellSpec` of scx_mitosis reads it. It ignores `comment`.
#[derive(Serialize)]
struct MitosisCell {
    name: String,
    comment: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<MitosisMatch>,
}

#[derive(Serialize)]
enum MitosisMatch {
    CgroupRegex(String),
}

/// The cells as JSON, and the last one for everything else. `scx_mitosis` finds control groups
/// alone, and takes a cell's CPUs from the `cpuset.cpus` of its group: `seatmap services apply` or
/// the drop-ins of [`systemd`](super::systemd) set these.
///
/// # Errors
/// [`ServicesExportError::NoneFound`] where no service is a unit or a group.
pub fn write(plan: &ServicesPlan) -> Result<String, ServicesExportError> {
    let mut cells: Vec<MitosisCell> = plan.services.iter().filter_map(cell).collect();
    if cells.is_empty() {
        let by = "unit and cgroup";
        return Err(ServicesExportError::NoneFound { tool: "scx_mitosis", by });
    }
    let lost = plan.services.iter().filter(|planned| cell(planned).is_none());
    let lost = lost.map(|planned| super::left_out(planned, "scx_mitosis"));
    cells.push(MitosisCell {
        name: "rest".to_owned(),
        comment: std::iter::once("Everything else.".to_owned())
            .chain(lost)
            .collect::<Vec<_>>()
            .join(" "),
        matches: None,
    });
    Ok(seatmap_document::written(&cells))
}

fn cell(planned: &PlannedService) -> Option<MitosisCell> {
    // The scheduler compares with a folder's full path, which has no slash at its end. Its other
    // match, a part of the path, would take 'web' for 'webmail' too.
    let pattern = match planned.service.target()? {
        ServiceTarget::Unit(_) => format!("/{}$", literal(&unit(planned)?)),
        ServiceTarget::Cgroup(path) => {
            let below = group(&path)?;
            format!("^/sys/fs/cgroup/{}$", literal(below))
        }
        _ => return None,
    };
    Some(MitosisCell {
        name: planned.service.name.clone(),
        comment: format!("needs cpuset.cpus = {} in its group", planned.cpu_set()),
        matches: Some(MitosisMatch::CgroupRegex(pattern)),
    })
}

/// Text without a meaning in a regular expression.
fn literal(text: &str) -> String {
    let escaped = text.chars().map(|letter| {
        if r"\.+*?()|[]{}^$#&-~".contains(letter) { format!("\\{letter}") } else { letter.into() }
    });
    escaped.collect()
}
