//! Undoes a cell of which only the control group remains. Settings that such a cell leaves get the
//! kernel's defaults, or are reported if their old values are unknown.

use crate::{Left, hygiene, settings};
use seatmap_os::layout::CpusetMounts;
use seatmap_os::{CpuSet, Root, irq};

pub fn cpus_of(root: &Root, group: &str) -> CpuSet {
    root.cpus(&format!("{group}/cpuset.cpus")).unwrap_or_default()
}

/// For when every cell has ended. Returns what could not be restored.
pub fn put_back(root: &Root, layout: &CpusetMounts, cell: &CpuSet, online: &CpuSet) -> Vec<Left> {
    let narrow = online.without(cell);
    let mut left = Vec::new();
    if let Some(base) = &layout.v1 {
        let balance = format!("{base}/cpuset.sched_load_balance");
        if root.read(&balance).is_ok_and(|found| found == "0") {
            left.extend(write(root, &balance, "1"));
        }
    }
    for path in [settings::DEFAULT_AFFINITY, settings::WORKQUEUES] {
        let mask = settings::value(root, path).ok().and_then(|text| CpuSet::of_mask(&text));
        if mask.as_ref() == Some(&narrow) {
            left.extend(write(root, path, &online.to_mask()));
        }
    }
    if root.cpus(settings::WATCHDOG).as_ref() == Some(&narrow) {
        left.extend(write(root, settings::WATCHDOG, &online.to_string()));
    }
    left.extend(interrupts(root, &narrow, online));
    let path = settings::STAT_INTERVAL;
    if root.read(path).is_ok_and(|found| found == hygiene::STAT_INTERVAL_S) {
        let found = hygiene::STAT_INTERVAL_S;
        let why = format!("its old value is unknown; it is {found} now (kernel default: 1)");
        left.push(Left::new(path, why));
    }
    left
}

/// Returns a refused setting, as in containers.
fn write(root: &Root, path: &str, value: &str) -> Option<Left> {
    let error = root.write(path, value).err()?;
    Some(Left::new(path, format!("{}; it should be {value}", error.source)))
}

fn interrupts(root: &Root, narrow: &CpuSet, online: &CpuSet) -> Vec<Left> {
    let all = match irq::all(root) {
        Ok(all) => all,
        Err(error) => return vec![Left::unlisted(&error)],
    };
    let paths = all.iter().map(|irq| irq::affinity_file(irq));
    let left = paths.filter(|path| root.cpus(path).as_ref() == Some(narrow)).map(|path| {
        let why = format!(
            "its old value is unknown; it is {narrow} now, and 'echo {online} > {path}' allows \
             all CPUs"
        );
        Left::new(path, why)
    });
    left.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::set;

    #[test]
    fn restorable_settings_are_restored_and_the_rest_named() {
        let balance = "/cg/cpuset.sched_load_balance";
        let folder = seatmap_needs::tree(&[
            (balance, "0"),
            (settings::DEFAULT_AFFINITY, "5"),
            (settings::WORKQUEUES, "7"),
            (settings::WATCHDOG, "0,2"),
            ("/proc/irq/4/smp_affinity_list", "0,2"),
            ("/proc/irq/5/smp_affinity_list", "1"),
            (settings::STAT_INTERVAL, "120"),
        ]);
        let root = Root::new(folder.path());
        let layout = CpusetMounts { v1: Some("/cg".into()), v2: None };
        let left = put_back(&root, &layout, &set("1"), &set("0-2"));
        let now = |path| root.read(path).unwrap();
        let all = [balance, settings::DEFAULT_AFFINITY, settings::WORKQUEUES, settings::WATCHDOG];
        assert_eq!(all.map(now), ["1", "00000007", "7", "0-2"]);
        let named: Vec<&str> = left.iter().map(|left| left.path.as_str()).collect();
        assert_eq!(named, ["/proc/irq/4/smp_affinity_list", settings::STAT_INTERVAL]);
        let command = left[0].why.split('\'').nth(1).unwrap();
        let command = command.replace("/proc/", &format!("{}/proc/", folder.path().display()));
        assert!(
            std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success()
        );
        assert_eq!(now("/proc/irq/4/smp_affinity_list"), "0-2");
    }

    #[test]
    fn unwritable_setting_is_named() {
        // Read-only even for root, and 0 on most computers.
        let fixed = "/sys/devices/system/cpu/cpu0/topology/physical_package_id";
        if !std::fs::read_to_string(fixed).is_ok_and(|text| text == "0\n") {
            return seatmap_needs::skipped!("{fixed} does not say 0");
        }
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::create_dir(root.path("/cg")).unwrap();
        let balance = "/cg/cpuset.sched_load_balance";
        std::os::unix::fs::symlink(fixed, root.path(balance)).unwrap();
        let layout = CpusetMounts { v1: Some("/cg".into()), v2: None };
        let left = put_back(&root, &layout, &set("1"), &set("0-2"));
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].path, balance);
        assert!(left[0].why.ends_with("; it should be 1"), "{left:?}");
    }
}
