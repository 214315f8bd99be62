//! A script that writes a drop-in for each unit of a plan.

use super::{ServicesExportError, header, left_out, unit};
use crate::plan::ServicesPlan;
use std::fmt::Write;

/// A script for `sh` that writes `NAME.d/50-seatmap.conf` for each unit below a folder:
/// `/etc/systemd/system`, or the script's first argument.
///
/// The empty assignments drop what the unit said before; without them systemd adds the sets up.
/// `CPUSetPartition=` came with systemd 261 (systemd/systemd#42013). It stands in a comment: the
/// kernel refuses it below a group that is not a partition itself, such as `system.slice`.
///
/// # Errors
/// [`ServicesExportError::NoneFound`] where no service is a unit.
pub fn write(plan: &ServicesPlan) -> Result<String, ServicesExportError> {
    let mut text = String::from("#!/bin/sh\n");
    text += &header(plan);
    text += "# Writes a drop-in for each unit below /etc/systemd/system, or the folder that is \
             its argument;\n# 'systemctl daemon-reload' reads them.\nset -eu\n\
             folder=${1:-/etc/systemd/system}\n";
    let mut is_empty = true;
    for planned in &plan.services {
        let Some(name) = unit(planned) else {
            let _ = writeln!(text, "# {}", left_out(planned, "systemd"));
            continue;
        };
        is_empty = false;
        text += &format!("mkdir -p \"$folder/{name}.d\"\n");
        text += &format!("cat > \"$folder/{name}.d/50-seatmap.conf\" <<'END'\n");
        text += &format!("[{}]\nAllowedCPUs=\nAllowedCPUs={}\n", section(&name), planned.cpu_set());
        if !planned.nodes.is_empty() {
            let nodes = &planned.nodes;
            text += &format!("AllowedMemoryNodes=\nAllowedMemoryNodes={nodes}\n");
        }
        if planned.service.is_alone() {
            text += "# From systemd 261, in a slice that is a partition itself:\n\
                     # CPUSetPartition=root\n";
        }
        text += "END\n";
    }
    if is_empty {
        return Err(ServicesExportError::NoneFound { tool: "systemd", by: "unit" });
    }
    Ok(text)
}

/// The section of a unit's settings for resources (systemd.resource-control(5)).
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
