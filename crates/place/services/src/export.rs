//! Writes plans for systemd: a script that writes a drop-in for each unit, with its CPUs and NUMA
//! nodes. Comments list the other services.

use crate::{PlannedService, ServiceTarget, ServicesPlan};
use seatmap_data::document::{Failure, unfit};
use seatmap_data::plan::export::one_line;
use seatmap_data::statistics::words::counted;

/// Writes a plan in one format.
pub type ServicesWriter = fn(&ServicesPlan) -> Result<String, Failure>;

/// The formats by their names on the command line.
pub const FORMATS: [(&str, ServicesWriter); 2] =
    [("systemd", systemd), ("json", |plan| Ok(seatmap_data::document::written(plan)))];

/// The unit's full name, if safe in files and commands.
fn unit(planned: &PlannedService) -> Option<String> {
    let Some(ServiceTarget::Unit(name)) = planned.service.target() else { return None };
    let is_safe = crate::apply::is_word(&name) && !name.contains('\\') && !name.starts_with('.');
    is_safe.then(|| if name.contains('.') { name } else { format!("{name}.service") })
}

/// A script for `sh` that writes `NAME.d/50-seatmap.conf` for each unit into `/etc/systemd/system`,
/// or its first argument.
///
/// Empty assignments keep systemd from joining earlier sets. `CPUSetPartition=` (systemd 261,
/// systemd/systemd#42013) is only a comment, because the kernel refuses it below a group that is
/// not a partition, such as `system.slice`.
///
/// # Errors
/// [`Failure`]: no service is a unit.
pub fn systemd(plan: &ServicesPlan) -> Result<String, Failure> {
    let mut text = format!(
        "#!/bin/sh\n# Seatmap plan: {} on {}.\n",
        counted(plan.services.len(), "service"),
        one_line(&plan.machine)
    );
    text += "# Writes a drop-in for each unit below /etc/systemd/system, or below the folder \
             given as\n# argument. 'systemctl daemon-reload' reads them.\nset -eu\n\
             folder=${1:-/etc/systemd/system}\n";
    let mut is_empty = true;
    for planned in &plan.services {
        let Some(name) = unit(planned) else {
            let name = one_line(&planned.service.name);
            let target = planned.service.target().map(|target| target.to_string());
            let target = one_line(&target.unwrap_or_default());
            text += &format!("# Left out: {name} ({target}), not a systemd unit.\n");
            continue;
        };
        is_empty = false;
        text += &format!(
            "mkdir -p \"$folder/{name}.d\"\n\
             cat > \"$folder/{name}.d/50-seatmap.conf\" <<'END'\n\
             [{}]\nAllowedCPUs=\nAllowedCPUs={}\n",
            section(&name),
            planned.cpu_set()
        );
        if !planned.nodes.is_empty() {
            let nodes = &planned.nodes;
            text += &format!("AllowedMemoryNodes=\nAllowedMemoryNodes={nodes}\n");
        }
        if planned.service.is_alone() {
            text += "# From systemd 261, if the slice is a partition itself:\n\
                     # CPUSetPartition=root\n";
        }
        text += "END\n";
    }
    if is_empty { unfit("no service of this plan is a systemd unit") } else { Ok(text) }
}

/// The section for settings of resources (systemd.resource-control(5)).
fn section(unit: &str) -> &'static str {
    match unit.rsplit('.').next() {
        Some("slice") => "Slice",
        Some("scope") => "Scope",
        Some("socket") => "Socket",
        Some("mount") => "Mount",
        Some("swap") => "Swap",
        _ => "Service",
    }
}

#[cfg(test)]
mod tests;
