//! The kernel's settings that Seatmap changes, their values as somebody set them, and the control
//! groups that it makes.

use seatmap_os::root::{FileError, Root};

/// The mask that new interrupts get.
pub const DEFAULT_AFFINITY: &str = "/proc/irq/default_smp_affinity";

/// The CPUs of work that belongs to no CPU.
pub const WORKQUEUES: &str = "/sys/devices/virtual/workqueue/cpumask";

/// The mask that was written to [`WORKQUEUES`] (Linux 6.7). That file shows it without the CPUs
/// that the kernel keeps out of it itself, for as long as some partition is isolated.
const WORKQUEUES_REQUESTED: &str = "/sys/devices/virtual/workqueue/cpumask_requested";

/// The value of a setting, as somebody set it and not as the kernel applies it now: this is what
/// has to be put back.
///
/// # Errors
/// [`FileError`].
pub(crate) fn value(root: &Root, path: &str) -> Result<String, FileError> {
    if path == WORKQUEUES && root.has(WORKQUEUES_REQUESTED) {
        root.read(WORKQUEUES_REQUESTED)
    } else {
        root.read(path)
    }
}

/// The pages that a pool of huge pages was set to have. Its number counts pages as well that the
/// kernel made beyond that for programs, and takes away after them (`surplus_hugepages`).
pub(crate) fn pages(root: &Root, path: &str) -> Option<u64> {
    // The file counts pages beyond the pool as well, which the kernel adds and takes away by
    // itself.
    let surplus = path
        .strip_suffix("nr_hugepages")
        .and_then(|folder| number(root, &format!("{folder}surplus_hugepages")));
    Some(number(root, path)?.saturating_sub(surplus.unwrap_or(0)))
}

fn number(root: &Root, path: &str) -> Option<u64> {
    root.read(path).ok()?.parse::<u64>().ok()
}

/// The CPUs that the watchdog looks at.
pub const WATCHDOG: &str = "/proc/sys/kernel/watchdog_cpumask";

/// Seconds between two updates of a CPU's memory statistics.
pub const STAT_INTERVAL: &str = "/proc/sys/vm/stat_interval";

/// The beginning of our groups' names: this, a dot, and the cell's name.
pub const PREFIX: &str = "seatmap";

/// The cpuset of version 1 of all other threads. No cell has this name: names hold no `+`.
pub(crate) const REST: &str = "seatmap+rest";
