//! The scheduler that decides where threads run, and its settings.

use crate::bytes::words;
use crate::isolated;
use crate::root::Root;
use crate::{layout, mounts};
use std::collections::BTreeSet;

/// The switch of cache-aware scheduling (SCHED_CACHE, Linux 7.2), for root alone.
pub(crate) const CACHE_AWARE: &str = "/sys/kernel/debug/sched/llc_balancing/enabled";

/// The scheduler's features, for root alone: `SCHED_CACHE` or `NO_SCHED_CACHE` on kernels that have
/// it as one.
pub(crate) const FEATURES: &str = "/sys/kernel/debug/sched/features";

/// NUMA balancing: 0 is off, 1 and 2 are two kinds of it.
pub(crate) const NUMA_BALANCING: &str = "/proc/sys/kernel/numa_balancing";

/// The folder of the scheduler that a program has loaded.
const LOADED: &str = "/sys/kernel/sched_ext/root";

/// The kernel's scheduler and its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedulerSettings {
    /// The kernel's release.
    pub release: String,
    /// The scheduler that a program has loaded (sched_ext); `None` means the kernel's own.
    pub sched_ext: Option<String>,
    /// Whether the kernel is to keep the threads of a process near one cache; `None` where it does
    /// not know how, or this user may not ask.
    pub cache_aware: Option<bool>,
    /// Whether it moves memory and threads together (NUMA balancing); `None` where it does not know
    /// how.
    pub numa_balancing: Option<bool>,
    /// The CPUs among which it does not divide load, as a list (see [`isolated`]).
    pub isolated: String,
    /// The CPUs without a tick (`nohz_full`), as a list.
    pub no_hz_full: String,
}

impl SchedulerSettings {
    /// Reads the settings.
    #[must_use]
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

/// The first two numbers of a kernel's release: `6.1.0-21-amd64` is 6.1.
#[must_use]
pub fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|next: char| !next.is_ascii_digit()).map(str::parse::<u32>);
    numbers.next()?.ok().zip(numbers.next()?.ok())
}

/// The first release that keeps time for ordinary threads by a server of their own, whatever
/// `sched_rt_runtime_us` says (5f6bd380c7bd, "sched/rt: Remove default bandwidth control").
const FAIR_SERVER: (u32, u32) = (6, 12);

/// Whether the kernel stops real-time threads at `sched_rt_runtime_us`: since Linux 6.12 only one
/// with groups of real-time threads does (RT_GROUP_SCHED), whose files of version 1 show it, or
/// else its configuration.
#[must_use]
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

/// Whether anything obeys `cpu.uclamp.max`: the governor `schedutil` chooses speeds by it, and the
/// scheduler CPUs of different capacity (Documentation/scheduler/sched-util-clamp.rst).
#[must_use]
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

/// A switch as debugfs and sysctl write it: `Y`, `0`, or the word in brackets where it has several
/// positions.
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

/// Whether the list of the scheduler's features has this one on; `None` where it does not name it.
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
    fn a_kernel_that_says_nothing_has_its_own_scheduler() {
        assert_eq!(computer(&[]), SchedulerSettings::default());
        assert!(!SchedulerSettings::read(&Root::new("/")).release.is_empty());
    }

    #[test]
    fn settings_are_read_where_each_kernel_keeps_them() {
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
    fn switches_have_many_spellings() {
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
