//! What else runs on CPUs: interrupts, kernel work and timers, kept away from a cell where the kernel lets us.
//!
//! Throttling of real-time tasks is left as it is: a cell runs ordinary tasks, which it does not touch.

use crate::change::{Change, What};
use crate::settings;
use crate::site::{Site, SiteError};
use seatmap_os::CpuSet;
use seatmap_os::root::Root;

/// Seconds between two updates of a CPU's memory statistics: each wakes a kernel thread there (`vm.stat_interval`,
/// `Documentation/admin-guide/sysctl/vm.rst`; the value is that of tuned's low-latency profiles, ten times over).
pub(crate) const STAT_INTERVAL_S: &str = "120";

/// The folder of interrupts.
const IRQS: &str = "/proc/irq";

/// Keeps away what can be kept away. The names of the interrupts that cannot be moved are returned.
///
/// # Errors
/// [`SiteError::Journal`].
pub fn keep(site: &mut Site<'_>) -> Result<Vec<String>, SiteError> {
    let interrupts = irqs(site.root).into_iter();
    let interrupts = interrupts.filter_map(|irq| site.keep_out(What::Cpus, &affinity_file(&irq))).collect();
    let refused = site.try_all(interrupts)?;
    let settings = self::others(site);
    // What the kernel refuses here is no worse than a kernel that has no such setting.
    site.try_all(settings)?;
    Ok(refused.iter().filter_map(|change| change.path.split('/').nth(3).map(str::to_owned)).collect())
}

fn others(site: &Site<'_>) -> Vec<Change> {
    let masks = [
        site.keep_out(What::CpuMask, settings::DEFAULT_AFFINITY),
        site.keep_out(What::CpuMask, settings::WORKQUEUES),
        site.keep_out(What::Cpus, settings::WATCHDOG),
    ];
    let interval = Change::of_file(site.root, What::Value, settings::STAT_INTERVAL, STAT_INTERVAL_S).ok();
    masks.into_iter().chain([interval]).flatten().collect()
}

/// The interrupts, by number.
#[must_use]
pub fn irqs(root: &Root) -> Vec<String> {
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    root.folders(IRQS).into_iter().filter(is_number).collect()
}

/// The file that says where an interrupt may go.
#[must_use]
pub fn affinity_file(irq: &str) -> String {
    format!("{IRQS}/{irq}/smp_affinity_list")
}

/// The CPUs that an interrupt goes to. The kernel follows a change at the next interrupt only.
#[must_use]
pub fn goes_to(root: &Root, irq: &str) -> CpuSet {
    let file = |name: &str| CpuSet::of_list(&root.read(&format!("{IRQS}/{irq}/{name}")).ok()?);
    file("effective_affinity_list")
        .filter(|set| !set.is_empty())
        .or_else(|| file("smp_affinity_list"))
        .unwrap_or_default()
}

/// Whether an interrupt can be moved: told by writing what stands there, which the kernel refuses for those that it
/// manages itself.
#[must_use]
pub fn can_move(root: &Root, irq: &str) -> bool {
    let path = affinity_file(irq);
    root.read(&path).is_ok_and(|text| root.write(&path, &text).is_ok())
}

/// What an interrupt is for, by its handlers; its number where it has none.
#[must_use]
pub fn name(root: &Root, irq: &str) -> String {
    let handlers = root.folders(&format!("{IRQS}/{irq}"));
    if handlers.is_empty() { irq.to_owned() } else { format!("{irq} ({})", handlers.join(", ")) }
}
