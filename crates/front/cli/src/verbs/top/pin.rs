//! Pins threads to CPUs after the user's confirmation.

use seatmap_console::error::with_causes;
use seatmap_os::{CpuSet, Tid, affinity, forgotten};
use seatmap_report::counted;

pub fn pin(tids: &[Tid], cpus: &CpuSet) -> String {
    let mut failures = Vec::new();
    for tid in tids {
        match affinity::bind(*tid, cpus) {
            // Nothing waits for the CPU after this program's end.
            Ok(None) => failures.extend(lacking(*tid, cpus)),
            Ok(Some(narrower)) => failures.push(format!("thread {tid} may run only on {narrower}")),
            Err(error) => failures.push(format!("thread {tid}: {}", with_causes(&error))),
        }
    }
    match (&failures[..], tids) {
        ([], [tid]) => format!("thread {tid} may now run on {}", cpus.named()),
        ([], many) => format!("{} may now run on {}", counted(many.len(), "thread"), cpus.named()),
        ([first], _) => format!("pinning incomplete: {first}"),
        ([first, more @ ..], _) => format!("pinning incomplete: {first}, and {} more", more.len()),
    }
}

/// Offline CPUs that this kernel removed from a mask, and the command to add them.
fn lacking(tid: Tid, cpus: &CpuSet) -> Option<String> {
    let lost = forgotten::lost(tid, cpus);
    let command = affinity::commands(cpus, &[tid]);
    (!lost.is_empty()).then(|| {
        format!(
            "thread {tid} lacks {}, because this kernel removes offline CPUs from masks; when \
             online again, run '{command}'",
            lost.named()
        )
    })
}
