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
            Ok(Some(narrower)) => failures.push(format!("thread {tid} may run on {narrower} only")),
            Err(error) => failures.push(format!("thread {tid}: {}", with_causes(&error))),
        }
    }
    match (&failures[..], tids) {
        ([], [tid]) => format!("thread {tid} may now run on {}", cpus.named()),
        ([], many) => format!("{} may now run on {}", counted(many.len(), "thread"), cpus.named()),
        ([first], _) => format!("not bound as asked: {first}"),
        ([first, more @ ..], _) => format!("not bound as asked: {first}, and {} more", more.len()),
    }
}

/// Offline CPUs that this kernel removed from a mask, and the command to add them.
fn lacking(tid: Tid, cpus: &CpuSet) -> Option<String> {
    let lost = forgotten::lost(tid, cpus);
    let command = affinity::commands(cpus, &[tid]);
    (!lost.is_empty()).then(|| {
        format!(
            "thread {tid} lacks {}, as this kernel takes CPUs that are offline out of masks; once \
             it is back, '{command}' gives it",
            lost.named()
        )
    })
}
