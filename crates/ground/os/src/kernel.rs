//! The kernel's scheduler settings.

use crate::bytes::words;
use crate::isolated;
use crate::root::Root;
use crate::{layout, mounts};
use std::collections::BTreeSet;

/// Cache-aware scheduling (SCHED_CACHE, Linux 7.2); readable for root only.
pub(crate) const CACHE_AWARE: &str = "/sys/kernel/debug/sched/llc_balancing/enabled";

/// Features, with `SCHED_CACHE` or `NO_SCHED_CACHE` on some kernels; readable for root only.
pub(crate) const FEATURES: &str = "/sys/kernel/debug/sched/features";

/// NUMA balancing: 0 is off, 1 and 2 are modes.
pub(crate) const NUMA_BALANCING: &str = "/proc/sys/kernel/numa_balancing";

const LOADED: &str = "/sys/kernel/sched_ext/root";

/// The kernel's scheduler and its settings.
#[derive(Debug, Default, PartialEq)]
pub struct SchedulerSettings {
    /// Kernel release.
    pub release: String,
    /// Scheduler loaded by a program (sched_ext); `None` for the kernel's own.
    pub sched_ext: Option<String>,
    /// Whether the kernel keeps a process's threads near one cache; `None` if unsupported or
    /// unreadable.
    pub cache_aware: Option<bool>,
    /// Whether the kernel moves memory and threads together (NUMA balancing); `None` if
    /// unsupported.
    pub numa_balancing: Option<bool>,
    /// CPUs without load balancing, as a list (see [`isolated`]).
    pub isolated: String,
    /// CPUs without a tick (`nohz_full`), as a list.
    pub no_hz_full: String,
}

impl SchedulerSettings {
    /// Reads the settings.
    pub fn read(root: &Root) -> Self {
        let is_loaded =
            root.read("/sys/kernel/sched_ext/state").is_ok_and(|state| state == "enabled");
        SchedulerSettings {
            release: root.read("/proc/sys/kernel/osrelease").unwrap_or_default(),
            sched_ext: is_loaded.then(|| {
                root.read(&format!("{LOADED}/ops"))
                    .unwrap_or_else(|_| "a scheduler without a name".into())
            }),
            cache_aware: root
                .read(CACHE_AWARE)
                .ok()
                .and_then(|text| is_on(&text))
                .or_else(|| feature(&root.read(FEATURES).ok()?, "SCHED_CACHE")),
            numa_balancing: root.read(NUMA_BALANCING).ok().and_then(|text| is_on(&text)),
            isolated: isolated::cpus(root).to_string(),
            no_hz_full: isolated::kernel_list(root, "nohz_full").to_string(),
        }
    }
}

/// A release's first two numbers: `6.1.0-21-amd64` is 6.1.
pub fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|next: char| !next.is_ascii_digit()).map(str::parse::<u32>);
    numbers.next()?.ok().zip(numbers.next()?.ok())
}

/// Reserves time for ordinary threads, regardless of `sched_rt_runtime_us` (5f6bd380c7bd,
/// "sched/rt: Remove default bandwidth control").
const FAIR_SERVER: (u32, u32) = (6, 12);

/// Whether the kernel limits real-time threads to `sched_rt_runtime_us`. Since Linux 6.12 this
/// needs RT_GROUP_SCHED, shown by version 1 files or the configuration.
pub fn limits_real_time(root: &Root) -> bool {
    let release = root.read("/proc/sys/kernel/osrelease").unwrap_or_default();
    if version(&release).is_none_or(|version| version < FAIR_SERVER) {
        return true;
    }
    let has_groups = mounts::all(root).iter().any(|mount| {
        mount.kind == "cgroup" && root.has(&format!("{}/cpu.rt_runtime_us", mount.folder))
    });
    let configuration = root.read(&format!("/boot/config-{release}")).unwrap_or_default();
    has_groups || configuration.lines().any(|line| line == "CONFIG_RT_GROUP_SCHED=y")
}

/// Whether `cpu.uclamp.max` has an effect: with the governor `schedutil`, or CPUs of different
/// capacity (Documentation/scheduler/sched-util-clamp.rst).
pub fn obeys_clamps(root: &Root) -> bool {
    const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
    let policies = root.folders(POLICIES).unwrap_or_default();
    let has_governor = policies.iter().any(|policy| {
        root.read(&format!("{POLICIES}/{policy}/scaling_governor"))
            .is_ok_and(|governor| governor == "schedutil")
    });
    let cpus = layout::online(root).unwrap_or_default();
    let capacities: BTreeSet<String> = cpus
        .iter()
        .filter_map(|cpu| root.read(&format!("/sys/devices/system/cpu/cpu{cpu}/cpu_capacity")).ok())
        .collect();
    has_governor || capacities.len() > 1
}

/// Parses a debugfs or sysctl switch: `Y`, `0`, or a choice in brackets.
pub(crate) fn is_on(text: &str) -> Option<bool> {
    let chosen = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or(text, |(word, _)| word);
    match chosen.trim() {
        "" => None,
        "0" | "N" | "n" | "off" | "never" => Some(false),
        _ => Some(true),
    }
}

/// Whether a feature is on; `None` if the list lacks it.
pub(crate) fn feature(text: &str, name: &str) -> Option<bool> {
    words(text.as_bytes()).find_map(|word| match word.strip_prefix(b"NO_") {
        Some(without) if without == name.as_bytes() => Some(false),
        None if word == name.as_bytes() => Some(true),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;

    fn computer(files: &[(&str, &str)]) -> SchedulerSettings {
        let (_folder, root) = with_files(files);
        SchedulerSettings::read(&root)
    }

    #[test]
    fn missing_settings_give_the_default_scheduler() {
        assert_eq!(computer(&[]), SchedulerSettings::default());
        assert!(!SchedulerSettings::read(&Root::new("/")).release.is_empty());
    }

    #[test]
    fn settings_are_read_from_each_kernels_files() {
        let found = computer(&[
            ("/proc/sys/kernel/osrelease", "7.2.1\n"),
            ("/proc/sys/kernel/numa_balancing", "2\n"),
            ("/sys/kernel/sched_ext/state", "enabled\n"),
            (&format!("{LOADED}/ops"), "lavd_1.0.9\n"),
            ("/sys/kernel/debug/sched/features", "GENTLE NO_SCHED_CACHE WAKEUP\n"),
            ("/sys/devices/system/cpu/isolated", "2-3\n"),
            ("/sys/devices/system/cpu/nohz_full", "  (null)\n".trim_start()),
        ]);
        let wanted = SchedulerSettings {
            release: "7.2.1".into(),
            sched_ext: Some("lavd_1.0.9".into()),
            cache_aware: Some(false),
            numa_balancing: Some(true),
            isolated: "2,3".into(),
            no_hz_full: String::new(),
        };
        assert_eq!(found, wanted);
        assert_eq!(computer(&[("/sys/kernel/sched_ext/state", "disabled\n")]).sched_ext, None);
        assert_eq!(
            computer(&[(CACHE_AWARE, "1\n"), (FEATURES, "NO_SCHED_CACHE\n")]).cache_aware,
            Some(true)
        );
    }

    #[test]
    fn switch_spellings_are_parsed() {
        assert_eq!(
            ["Y", "1", "always [advise] never", "x [never]"].map(is_on),
            [true, true, true, false].map(Some)
        );
        assert_eq!(["", "0", "N"].map(is_on), [None, Some(false), Some(false)]);
        assert_eq!(
            [feature("A SCHED_CACHE_WAKE", "SCHED_CACHE"), feature("SCHED_CACHE", "SCHED_CACHE")],
            [None, Some(true)]
        );
    }
}
