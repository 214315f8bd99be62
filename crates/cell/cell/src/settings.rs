//! The kernel settings that Seatmap changes, and its control groups.

use seatmap_os::{FileError, Root};

/// The mask for new interrupts.
pub const DEFAULT_AFFINITY: &str = "/proc/irq/default_smp_affinity";

/// The CPUs for unbound work.
pub const WORKQUEUES: &str = "/sys/devices/virtual/workqueue/cpumask";

/// The mask written to [`WORKQUEUES`] (Linux 6.7). That file hides the CPUs of isolated partitions.
const WORKQUEUES_REQUESTED: &str = "/sys/devices/virtual/workqueue/cpumask_requested";

/// A setting's configured value, to restore.
///
/// # Errors
/// [`FileError`].
pub fn value(root: &Root, path: &str) -> Result<String, FileError> {
    if path == WORKQUEUES && root.has(WORKQUEUES_REQUESTED) {
        root.read(WORKQUEUES_REQUESTED)
    } else {
        root.read(path)
    }
}

/// The configured size of a pool of huge pages, without temporary ones (`surplus_hugepages`).
pub fn pages(root: &Root, path: &str) -> Option<u64> {
    let surplus = path
        .strip_suffix("nr_hugepages")
        .and_then(|folder| number(root, &format!("{folder}surplus_hugepages")));
    Some(number(root, path)?.saturating_sub(surplus.unwrap_or(0)))
}

pub fn number(root: &Root, path: &str) -> Option<u64> {
    root.read(path).ok()?.parse::<u64>().ok()
}

/// The CPUs observed by the watchdog.
pub const WATCHDOG: &str = "/proc/sys/kernel/watchdog_cpumask";

/// Seconds between updates of a CPU's memory statistics.
pub const STAT_INTERVAL: &str = "/proc/sys/vm/stat_interval";

/// Prefix of group names, before a dot and the cell's name.
pub const PREFIX: &str = "seatmap";

/// The version 1 cpuset of all other threads. The `+` cannot be in a cell's name.
pub const REST: &str = "seatmap+rest";
