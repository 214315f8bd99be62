//! Keeps other work off a cell's CPUs: interrupts, kernel work and timers.
//!
//! Real-time throttling stays, because it does not affect a cell's ordinary tasks.

use crate::site::{Site, SiteError};
use crate::{SettingChange, SettingKind, settings};
use seatmap_os::{CpuSet, FileError, Root, irq};

/// Seconds between updates of memory statistics, which wake a kernel thread (`vm.stat_interval`,
/// `Documentation/admin-guide/sysctl/vm.rst`): ten times as in tuned's low-latency profiles.
pub const STAT_INTERVAL_S: &str = "120";

/// Moves other work away. Returns interrupts that still arrive.
///
/// # Errors
/// [`SiteError`]: the journal cannot be written, or the interrupts cannot be listed.
pub fn keep(site: &mut Site) -> Result<Vec<String>, SiteError> {
    let all = irq::of_devices(site.root)?.into_iter();
    let interrupts =
        all.filter_map(|irq| site.keep_out(SettingKind::Cpus, &irq::affinity_file(&irq))).collect();
    // The kernel may refuse to move an interrupt that never arrives here.
    site.try_all(interrupts)?;
    let interval = settings::STAT_INTERVAL;
    let settings = [
        site.keep_out(SettingKind::CpuMask, settings::DEFAULT_AFFINITY),
        site.keep_out(SettingKind::CpuMask, settings::WORKQUEUES),
        site.keep_out(SettingKind::Cpus, settings::WATCHDOG),
        SettingChange::of_file(site.root, SettingKind::Value, interval, STAT_INTERVAL_S).ok(),
    ];
    // A refusal is like a kernel without the setting.
    site.try_all(settings.into_iter().flatten().collect())?;
    Ok(left(site.root, &site.cell)?)
}

fn left(root: &Root, cell: &CpuSet) -> Result<Vec<String>, FileError> {
    let mut left = irq::of_devices(root)?;
    left.retain(|irq| irq::goes_to(root, irq).meets(cell));
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{journal, set};

    fn computer(interrupts: &[(&str, &str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        for (irq, allowed, chosen) in interrupts {
            let files = [("smp_affinity_list", *allowed), ("effective_affinity_list", *chosen)];
            seatmap_needs::plant(&root.path(&format!("/proc/irq/{irq}")), &files);
        }
        (folder, root)
    }

    #[test]
    fn only_interrupts_on_the_cell_are_named() {
        let moved = ("4", "0-2", "3");
        let managed_here = ("5", "3", "3");
        let managed_elsewhere = ("6", "0-3", "1");
        let (_folder, root) = computer(&[moved, managed_here, managed_elsewhere]);
        assert_eq!(left(&root, &set("3")).unwrap(), ["5"]);
    }

    #[test]
    fn movable_interrupts_are_moved() {
        let (folder, root) = computer(&[("4", "0-3", "3"), ("5", "3", "3"), ("6", "0-1", "1")]);
        let mut journal = journal(folder.path(), "quiet", "3", 1);
        let cell = set("3");
        let rest = set("0-2");
        let mut site = Site { root: &root, journal: &mut journal, cell, rest, spared: Vec::new() };
        assert_eq!(keep(&mut site).unwrap(), Vec::<String>::new());
        assert_eq!(journal.changes.len(), 2, "the third needed no change");
    }
}
