//! Limits on CPU time, as control groups set them: `cpu.max` of version 2, `cpu.cfs_quota_us` of
//! version 1 (Documentation/scheduler/sched-bwc.rst).
//!
//! The members of a group may use so much CPU time in each period. When it is used up, the kernel
//! stops ("throttles") them until the next period begins. Every group from a thread's own up to the
//! root may have such a quota, and any of them may be the one that stops the thread.

use crate::brake::Brake;
use crate::hierarchy::Hierarchies;
use crate::root::Root;

/// The folder that is there where systemd runs the computer (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

/// The quota of one control group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quota {
    /// The group's path below the mounted hierarchy; `/` for the group that is mounted.
    pub group: String,
    /// The group's folder.
    pub folder: String,
    /// The file that holds the quota.
    pub file: String,
    /// The CPU time that the members may take, in CPUs: 1.5 are three seconds in two.
    pub cpus: f64,
    /// The length of a period, in microseconds.
    pub period_us: u64,
    /// The periods in which it was used up since the group was made; `None` where the kernel does
    /// not count them.
    pub throttled: Option<u64>,
    /// The periods in which a member ran, since the group was made.
    pub periods: Option<u64>,
    /// The time for which the kernel stopped the members since the group was made, in nanoseconds.
    /// Each CPU counts.
    pub stopped_ns: Option<u64>,
    /// The unit of systemd that sets it, where there is one: systemd writes the file again when it
    /// likes.
    pub unit: Option<String>,
    /// Whether the file cannot be written from here, as in most containers.
    pub is_read_only: bool,
}

impl Quota {
    /// The quota of the group in this folder, of either version; `None` where it has none.
    #[must_use]
    pub fn of_folder(root: &Root, folder: &str) -> Option<Self> {
        let group = folder.to_owned();
        let quota = Quota::read(root, folder, true).or_else(|| Quota::read(root, folder, false))?;
        Some(Quota { group, ..quota })
    }

    /// The quota of the group in this folder; `None` where it has none.
    pub(crate) fn read(root: &Root, folder: &str, is_v2: bool) -> Option<Self> {
        let (name, text) = if is_v2 {
            ("cpu.max", root.read(&format!("{folder}/cpu.max")).ok()?)
        } else {
            // Without a limit the quota is -1.
            (
                "cpu.cfs_quota_us",
                format!(
                    "{} {}",
                    root.read(&format!("{folder}/cpu.cfs_quota_us")).ok()?,
                    root.read(&format!("{folder}/cpu.cfs_period_us")).ok()?
                ),
            )
        };
        let mut figures = text.split_whitespace().map(|figure| figure.parse::<u64>().ok());
        let quota_us = figures.next()??;
        let period_us = figures.next()??;
        let stat = root.read(&format!("{folder}/cpu.stat")).ok().unwrap_or_default();
        // Version 1 counts nanoseconds, version 2 microseconds.
        let stopped_us = counted(&stat, "throttled_usec");
        let stopped_ns = stopped_us
            .map(|us| us.saturating_mul(1000))
            .or_else(|| counted(&stat, "throttled_time"));
        (period_us > 0).then(|| Quota {
            group: String::new(),
            folder: folder.to_owned(),
            file: format!("{folder}/{name}"),
            cpus: quota_us as f64 / period_us as f64,
            period_us,
            throttled: counted(&stat, "nr_throttled"),
            periods: counted(&stat, "nr_periods"),
            stopped_ns,
            unit: unit(root, folder),
            is_read_only: false,
        })
    }

    /// The quota in words: `0.5 CPUs in periods of 100 ms`.
    #[must_use]
    pub fn words(&self) -> String {
        let cpus = if self.cpus == 1.0 { "CPU" } else { "CPUs" };
        format!("{} {cpus} in periods of {} ms", self.cpus, self.period_us as f64 / 1000.0)
    }
}

/// A number of a group's `cpu.stat`, by its name.
fn counted(stat: &str, name: &str) -> Option<u64> {
    let values = stat.lines().filter_map(|line| line.split_once(' '));
    let (_, value) = values.into_iter().find(|(key, _)| *key == name)?;
    value.trim().parse().ok()
}

/// The unit of systemd that owns the group with this path, by its name.
pub(crate) fn unit(root: &Root, path: &str) -> Option<String> {
    let mut names = path.rsplit('/');
    let name = names.next()?;
    let is_unit = name.ends_with(".slice") || is_leaf(name);
    // Below a service or scope another systemd has the units, a user's or a container's: the one of
    // the computer knows none of that name, or another one.
    let is_handed_on = names.any(is_leaf);
    (is_unit && !is_handed_on && root.has(SYSTEMD)).then(|| name.to_owned())
}

/// Whether a unit of this name has no units below it.
fn is_leaf(name: &str) -> bool {
    name.ends_with(".service") || name.ends_with(".scope")
}

/// The command that gives a group this many CPUs, through systemd where a unit of it owns the
/// group.
#[must_use]
pub fn raise(file: &str, period_us: u64, unit: Option<&str>, cpus: usize) -> String {
    let quota_us = period_us.saturating_mul(cpus as u64);
    match unit {
        Some(unit) => format!("systemctl set-property --runtime {unit} CPUQuota={}%", 100 * cpus),
        None if file.ends_with("/cpu.max") => format!("echo {quota_us} {period_us} > {file}"),
        None => format!("echo {quota_us} > {file}"),
    }
}

/// The quotas on a process, from its own group up to the root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quotas {
    /// The quotas, that of its own group first.
    pub all: Vec<Quota>,
    /// The other settings of these groups that hold their members back.
    pub brakes: Vec<Brake>,
    /// Why there may be others; `None` where every group up to the root could be seen.
    pub unseen: Option<String>,
}

impl Quotas {
    /// The quotas on the thread that calls, and so on each command that it starts. Version 1 and
    /// threaded groups of version 2 may limit single threads.
    #[must_use]
    pub fn of_self(root: &Root) -> Self {
        let Ok(membership) = root.read("/proc/thread-self/cgroup") else {
            let unseen = root
                .has("/proc/self")
                .then(|| "/proc/thread-self/cgroup cannot be read".to_owned());
            return Quotas { unseen, ..Quotas::default() };
        };
        let groups = Hierarchies::read(root).groups(root, crate::task::own_tid(), &membership);
        let limits = Hierarchies::limits(root, &groups);
        Quotas {
            all: limits.quotas,
            brakes: limits.brakes,
            unseen: groups.unseen().map(str::to_owned),
        }
    }

    /// The smallest of them.
    #[must_use]
    pub fn tightest(&self) -> Option<&Quota> {
        self.all.iter().min_by(|a, b| a.cpus.total_cmp(&b.cpus))
    }

    /// The tightest one in words, for the fingerprint of a measurement: no group's name, as that
    /// says nothing about speed.
    #[must_use]
    pub fn words(&self) -> String {
        let quota = match (self.tightest(), &self.unseen) {
            (Some(quota), _) => quota.words(),
            (None, None) => "none".to_owned(),
            (None, Some(_)) => "none that can be seen".to_owned(),
        };
        self.brakes.iter().fold(quota, |words, brake| format!("{words}; {}", brake.words()))
    }

    /// The quotas that were used up since an earlier reading.
    #[must_use]
    pub fn used_up_since(&self, earlier: &Quotas) -> Vec<UsedUp<'_>> {
        self.all.iter().filter_map(|quota| UsedUp::since(quota, earlier)).collect()
    }
}

/// A quota that was used up between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsedUp<'a> {
    /// The quota as it is now.
    pub quota: &'a Quota,
    /// The periods in which it was used up.
    pub throttled: u64,
    /// The periods in which a member ran, those among them.
    pub periods: u64,
    /// The time for which the kernel stopped the members, in nanoseconds; each CPU counts. `None`
    /// where the kernel does not count it.
    pub stopped_ns: Option<u64>,
}

impl<'a> UsedUp<'a> {
    fn since(quota: &'a Quota, earlier: &Quotas) -> Option<Self> {
        let before = earlier.all.iter().find(|other| other.file == quota.file)?;
        let throttled = since(quota.throttled, before.throttled).filter(|periods| *periods > 0)?;
        let periods = since(quota.periods, before.periods).unwrap_or(0).max(throttled);
        let stopped_ns = since(quota.stopped_ns, before.stopped_ns);
        Some(UsedUp { quota, throttled, periods, stopped_ns })
    }
}

fn since(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}

/// The quotas on this process, watched from one moment to another.
#[derive(Clone, Debug)]
pub struct QuotaWatch {
    root: Root,
    before: Quotas,
}

impl QuotaWatch {
    /// Begins to watch.
    #[must_use]
    pub fn begin() -> Self {
        let root = Root::new("/");
        QuotaWatch { before: Quotas::of_self(&root), root }
    }

    /// The quotas that were used up since then, in a sentence; `None` where none was.
    #[must_use]
    pub fn used_up(&self) -> Option<String> {
        used_up(&Quotas::of_self(&self.root), &self.before)
    }
}

/// The periods since an earlier reading in a sentence; `None` where no quota was used up.
#[must_use]
pub fn used_up(now: &Quotas, earlier: &Quotas) -> Option<String> {
    let each: Vec<String> = now
        .used_up_since(earlier)
        .into_iter()
        .map(|UsedUp { quota, throttled: periods, .. }| {
            let noun = if periods == 1 { "period" } else { "periods" };
            format!(
                "the quota of the control group {} ({}) was used up in {periods} {noun}",
                quota.group,
                quota.words()
            )
        })
        .chain(now.brakes.iter().filter_map(|brake| stopped(brake, earlier)))
        .collect();
    (!each.is_empty()).then(|| each.join(", and "))
}

/// The stops of another setting since an earlier reading; `None` where there were none.
fn stopped(brake: &Brake, earlier: &Quotas) -> Option<String> {
    let before = earlier.brakes.iter().find(|other| other.file == brake.file)?.stops?;
    let stops = brake.stops?.checked_sub(before).filter(|stops| *stops > 0)?;
    let times = if stops == 1 { "once" } else { &format!("{stops} times") };
    Some(format!("the control group {} was {} {times}", brake.group, brake.words()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brake::BrakeKind;

    fn quota(file: &str, cpus: f64, throttled: Option<u64>) -> Quota {
        let group = "/a".to_owned();
        let file = file.to_owned();
        Quota { group, file, cpus, period_us: 100_000, throttled, ..Quota::default() }
    }

    #[test]
    fn a_command_speaks_to_the_file_that_the_quota_came_from() {
        assert_eq!(
            raise("/c/x/cpu.cfs_quota_us", 20_000, None, 2),
            "echo 40000 > /c/x/cpu.cfs_quota_us"
        );
        assert_eq!(raise("/c/x/cpu.max", 50_000, None, 2), "echo 100000 50000 > /c/x/cpu.max");
        let by_systemd = "systemctl set-property --runtime a.scope CPUQuota=300%";
        assert_eq!(raise("/c/a.scope/cpu.max", 50_000, Some("a.scope"), 3), by_systemd);
    }

    #[test]
    fn a_unit_is_one_of_the_computers_own_systemd() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        assert_eq!(unit(&root, "/system.slice/a.service"), None, "there is no systemd");
        std::fs::create_dir_all(root.path(SYSTEMD)).unwrap();
        let user = "/user.slice/user-7.slice/user@7.service";
        let known = [
            ("/c/system.slice/a.service", Some("a.service")),
            ("/c/user.slice", Some("user.slice")),
            (user, Some("user@7.service")),
            ("/c/job", None),
            (&format!("{user}/app.slice/a.service"), None),
            (&format!("{user}/app.slice"), None),
            ("/system.slice/docker-1.scope/system.slice/a.service", None),
        ];
        for (path, name) in known {
            assert_eq!(unit(&root, path).as_deref(), name, "{path}");
        }
    }

    #[test]
    fn periods_are_counted_from_one_reading_to_the_next() {
        let all = |first, second| Quotas {
            all: vec![quota("/a/cpu.max", 2.0, first), quota("/cpu.max", 0.5, second)],
            ..Quotas::default()
        };
        let before = all(Some(3), Some(4));
        let after = all(Some(3), Some(5));
        let wanted = "the quota of the control group /a (0.5 CPUs in periods of 100 ms) was used up in 1 period";
        assert_eq!(used_up(&after, &before).as_deref(), Some(wanted));
        assert_eq!(used_up(&before, &before), None);
        assert_eq!(after.used_up_since(&before)[0].periods, 1, "no fewer than it was used up in");
        assert_eq!(used_up(&after, &all(None, None)), None, "nothing is known of the beginning");
        assert_eq!(after.words(), "0.5 CPUs in periods of 100 ms");
        assert_eq!(Quotas::default().words(), "none");
        let hidden = Quotas { unseen: Some("a container".to_owned()), ..Quotas::default() };
        assert_eq!(hidden.words(), "none that can be seen");
    }

    #[test]
    fn memory_that_is_taken_back_is_told_with_its_stops() {
        let at = |stops| {
            let kind = BrakeKind::Memory { high_bytes: 64 << 20 };
            let file = "/c/a/memory.high".to_owned();
            let brake = Brake {
                group: "/a".to_owned(),
                file,
                kind,
                stops,
                unit: None,
                is_read_only: false,
            };
            Quotas { brakes: vec![brake], ..Quotas::default() }
        };
        let words =
            "the control group /a was slowed down above 64 MiB of memory (memory.high) 3 times";
        assert_eq!(used_up(&at(Some(5)), &at(Some(2))).as_deref(), Some(words));
        assert_eq!(used_up(&at(Some(5)), &at(Some(5))), None);
        assert_eq!(at(None).words(), "none; slowed down above 64 MiB of memory (memory.high)");
    }

    #[test]
    fn both_versions_count_periods_and_the_time_for_which_they_stop() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let read =
            || Quota::of_folder(&Root::new("/"), &folder.path().display().to_string()).unwrap();
        write("cpu.cfs_quota_us", "15000\n");
        write("cpu.cfs_period_us", "100000\n");
        write("cpu.stat", "nr_periods 75\nnr_throttled 14\nthrottled_time 680000000\n");
        let quota = read();
        assert_eq!(
            (quota.periods, quota.throttled, quota.stopped_ns),
            (Some(75), Some(14), Some(680_000_000))
        );
        write("cpu.max", "15000 100000\n");
        write("cpu.stat", "usage_usec 9\nnr_periods 8\nnr_throttled 2\nthrottled_usec 68\n");
        let quota = read();
        assert_eq!(
            (quota.periods, quota.throttled, quota.stopped_ns),
            (Some(8), Some(2), Some(68_000))
        );
    }

    #[test]
    fn this_process_has_quotas_or_none() {
        let quotas = Quotas::of_self(&Root::new("/"));
        assert!(
            quotas.all.iter().all(|quota| quota.cpus > 0.0 && quota.group.starts_with('/')),
            "{quotas:?}"
        );
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Quotas::of_self(&Root::new(folder.path())), Quotas::default());
    }
}
