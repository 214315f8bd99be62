//! A drop-in for a systemd service.

use super::{comment, joined};
use crate::plan::Plan;

/// `/etc/systemd/system/NAME.service.d/seats.conf`: the service's processes and threads on the PUs
/// in use, and their memory from the plan's nodes, if the plan gives some for every task.
///
/// systemd only knows the set. The empty assignment clears the unit's own setting; otherwise
/// systemd would merge the two sets (systemd.exec(5), `CPUAffinity=`).
pub fn write(plan: &Plan) -> String {
    let mut text = comment::header(plan);
    text += "# All threads share the plan's PUs: systemd cannot pin single threads. To pin each \
             task to its own PUs,\n";
    text += "# begin ExecStart= with 'seatmap run --plan PLAN --'.\n";
    text += &format!("[Service]\nCPUAffinity=\nCPUAffinity={}\n", joined(plan.pus_in_use(), " "));
    let memory = plan
        .memory_in_use()
        .map(|nodes| format!("NUMAPolicy=bind\nNUMAMask={}\n", joined(nodes, " ")));
    text + &memory.unwrap_or_default()
}
