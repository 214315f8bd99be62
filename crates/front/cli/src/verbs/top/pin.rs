//! Binds threads to CPUs when the user has said yes.

use seatmap_os::{CpuSet, Tid, affinity};
use seatmap_report::counted;

/// Binds threads, and says in a sentence what came of it.
pub fn pin(tids: &[Tid], cpus: &CpuSet) -> String {
    let mut failures = Vec::new();
    for tid in tids {
        match affinity::bind(*tid, cpus) {
            Ok(None) => {}
            Ok(Some(narrower)) => failures.push(format!("thread {tid} may run on {narrower} only")),
            Err(error) => failures.push(format!("thread {tid}: {error}")),
        }
    }
    match (&failures[..], tids) {
        ([], [tid]) => format!("thread {tid} may now run on {}", cpus.named()),
        ([], many) => format!("{} may now run on {}", counted(many.len(), "thread"), cpus.named()),
        ([first], _) => format!("not bound as asked: {first}"),
        ([first, more @ ..], _) => format!("not bound as asked: {first}, and {} more", more.len()),
    }
}
