//! CPU time quotas of control groups: `cpu.max` in version 2, `cpu.cfs_quota_us` in version 1
//! (Documentation/scheduler/sched-bwc.rst).
//!
//! When a group's members have used up its quota, the kernel stops ("throttles") them until the
//! next period. Every group from a thread's own up to the root may have a quota.

pub use crate::group_quota::GroupQuota;

use crate::Tid;
use crate::brake::Brake;
use crate::hierarchy::{ControlGroups, Hierarchies};
use crate::root::Root;
use crate::shell::shell_escaped;

/// The command that gives a group this many CPUs, through systemd if a unit owns the group.
pub fn raise(file: &str, period_us: u64, unit: Option<&str>, cpus: usize) -> String {
    let quota_us = period_us.saturating_mul(cpus as u64);
    let path = shell_escaped(file);
    match unit.map(shell_escaped) {
        Some(unit) => format!("systemctl set-property --runtime {unit} CPUQuota={}%", 100 * cpus),
        None if file.ends_with("/cpu.max") => format!("echo {quota_us} {period_us} > {path}"),
        None => format!("echo {quota_us} > {path}"),
    }
}

/// The quotas on a process, from its own group to the root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quotas {
    /// Quotas, innermost first.
    pub all: Vec<GroupQuota>,
    /// Other settings of these groups that slow members.
    pub brakes: Vec<Brake>,
    /// Why there may be others; `None` if every group was visible.
    pub unseen: Option<String>,
}

impl Quotas {
    /// The quotas on the calling thread and its commands. Some groups limit single threads.
    pub fn of_self(root: &Root) -> Self {
        let Ok(membership) = root.read("/proc/thread-self/cgroup") else {
            let unseen =
                root.has("/proc/self").then(|| "cannot read /proc/thread-self/cgroup".to_owned());
            return Quotas { unseen, ..Quotas::default() };
        };
        let own = crate::task::own_tid();
        of_groups(root, &Hierarchies::read(root).groups(root, own, &membership))
    }

    /// The smallest quota.
    pub fn tightest(&self) -> Option<&GroupQuota> {
        self.all.iter().min_by(|a, b| a.cpus.total_cmp(&b.cpus))
    }

    /// Describes the tightest quota for a measurement's fingerprint. Omits group names, which do
    /// not affect speed.
    pub fn words(&self) -> String {
        let quota = match (self.tightest(), &self.unseen) {
            (Some(quota), _) => quota.words(),
            (None, None) => "none".to_owned(),
            (None, Some(_)) => "none that can be seen".to_owned(),
        };
        self.brakes.iter().fold(quota, |words, brake| format!("{words}; {}", brake.words()))
    }

    /// How long the kernel has stopped these groups' members, in nanoseconds, summed over groups
    /// and CPUs. Finds no new quotas.
    pub fn stopped_ns(&self, root: &Root) -> u64 {
        let again = self.all.iter().filter_map(|quota| GroupQuota::of_folder(root, &quota.folder));
        again.filter_map(|quota| quota.stopped_ns).sum()
    }

    /// The quotas exhausted since an earlier reading.
    pub fn used_up_since(&self, earlier: &Quotas) -> Vec<UsedUp<'_>> {
        self.all.iter().filter_map(|quota| UsedUp::since(quota, earlier)).collect()
    }
}

/// A quota exhausted between two readings.
#[derive(Clone, Copy, Debug)]
pub struct UsedUp<'a> {
    /// Its present state.
    pub quota: &'a GroupQuota,
    /// Periods that exhausted it.
    pub throttled: u64,
    /// All periods in which a member ran.
    pub periods: u64,
    /// How long the kernel stopped members, in nanoseconds, summed over CPUs; `None` if not
    /// counted.
    pub stopped_ns: Option<u64>,
}

/// Ignores stops shorter than this fraction of the granted CPU time.
const LEAST_STOPPED: f64 = 0.01;

impl<'a> UsedUp<'a> {
    fn since(quota: &'a GroupQuota, earlier: &Quotas) -> Option<Self> {
        let before = earlier.all.iter().find(|other| other.file == quota.file)?;
        let throttled = since(quota.throttled, before.throttled).filter(|periods| *periods > 0)?;
        let periods = since(quota.periods, before.periods).unwrap_or(0).max(throttled);
        let stopped_ns = since(quota.stopped_ns, before.stopped_ns);
        // Each throttled period used the whole quota.
        let used_ns = throttled as f64 * quota.period_us as f64 * 1e3 * quota.cpus;
        let is_short = stopped_ns.is_some_and(|ns| (ns as f64) < LEAST_STOPPED * used_ns);
        (!is_short).then_some(UsedUp { quota, throttled, periods, stopped_ns })
    }
}

impl UsedUp<'_> {
    fn sentence(&self) -> String {
        let UsedUp { quota, throttled, periods, stopped_ns } = *self;
        let noun = if periods == 1 { "period" } else { "periods" };
        let lost = stopped_ns
            .map_or_else(String::new, |ns| format!(" for {:.2} s of CPU time", ns as f64 / 1e9));
        format!(
            "the quota of the control group {} ({}) was used up in {throttled} of {periods} \
             {noun}: the kernel stopped its threads{lost} ({})",
            quota.group,
            quota.words(),
            quota.file
        )
    }
}

fn of_groups(root: &Root, groups: &ControlGroups) -> Quotas {
    let limits = Hierarchies::limits(root, groups);
    let unseen = groups.unseen().map(str::to_owned);
    Quotas { all: limits.quotas, brakes: limits.brakes, unseen }
}

fn since(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}

/// Watches the quotas on a process over an interval.
#[derive(Debug)]
pub struct QuotaWatch {
    root: Root,
    /// Another process's groups, because it may exit before the end.
    groups: Option<ControlGroups>,
    before: Quotas,
}

impl QuotaWatch {
    /// Starts watching this process.
    pub fn begin() -> Self {
        let root = Root::new("/");
        QuotaWatch { before: Quotas::of_self(&root), groups: None, root }
    }

    /// Starts watching another process.
    pub fn of(pid: Tid) -> Self {
        let root = Root::new("/");
        let membership = root.read(&format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let groups = Hierarchies::read(&root).groups(&root, pid, &membership);
        let before = of_groups(&root, &groups);
        QuotaWatch { root, groups: Some(groups), before }
    }

    /// One sentence per exhausted quota.
    pub fn stops(&self) -> Vec<String> {
        let now = match &self.groups {
            Some(groups) => of_groups(&self.root, groups),
            None => Quotas::of_self(&self.root),
        };
        now.used_up_since(&self.before).iter().map(UsedUp::sentence).collect()
    }

    /// A sentence about the quotas exhausted since the start.
    pub fn used_up(&self) -> Option<String> {
        used_up(&Quotas::of_self(&self.root), &self.before)
    }
}

/// A sentence about the quotas exhausted since an earlier reading.
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
    use crate::root::tests::with_files;

    fn quota(file: &str, cpus: f64, throttled: Option<u64>) -> GroupQuota {
        let group = "/a".to_owned();
        let file = file.to_owned();
        GroupQuota { group, file, cpus, period_us: 100_000, throttled, ..GroupQuota::default() }
    }

    #[test]
    fn raise_command_writes_the_file_of_the_quota() {
        assert_eq!(
            raise("/c/x/cpu.cfs_quota_us", 20_000, None, 2),
            "echo 40000 > /c/x/cpu.cfs_quota_us"
        );
        assert_eq!(raise("/c/x/cpu.max", 50_000, None, 2), "echo 100000 50000 > /c/x/cpu.max");
        assert_eq!(raise("/c/a b/cpu.max", 9, None, 1), r"echo 9 9 > /c/a\ b/cpu.max");
        let by_systemd = "systemctl set-property --runtime a.scope CPUQuota=300%";
        assert_eq!(raise("/c/a.scope/cpu.max", 50_000, Some("a.scope"), 3), by_systemd);
    }

    #[test]
    fn used_up_periods_are_counted_between_readings() {
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
        let sentence = "the quota of the control group /a (0.5 CPUs in periods of 100 ms) was used \
                        up in 1 of 1 period: the kernel stopped its threads (/cpu.max)";
        assert_eq!(after.used_up_since(&before)[0].sentence(), sentence);
        assert_eq!(after.words(), "0.5 CPUs in periods of 100 ms");
        assert_eq!(Quotas::default().words(), "none");
        let hidden = Quotas { unseen: Some("a container".to_owned()), ..Quotas::default() };
        assert_eq!(hidden.words(), "none that can be seen");
    }

    #[test]
    fn memory_brake_reports_its_stops() {
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
    fn both_cgroup_versions_count_periods_and_throttled_time() {
        let read = |files: &[(&str, &str)]| {
            let (_folder, root) = with_files(files);
            let quota = GroupQuota::of_folder(&root, "/g").unwrap();
            (quota.periods, quota.throttled, quota.stopped_ns)
        };
        let stat = "nr_periods 75\nnr_throttled 14\nthrottled_time 680000000\n";
        let first = [
            ("/g/cpu.cfs_quota_us", "15000\n"),
            ("/g/cpu.cfs_period_us", "100000\n"),
            ("/g/cpu.stat", stat),
        ];
        assert_eq!(read(&first), (Some(75), Some(14), Some(680_000_000)));
        let stat = "usage_usec 9\nnr_periods 8\nnr_throttled 2\nthrottled_usec 68\n";
        let second = [("/g/cpu.max", "15000 100000\n"), ("/g/cpu.stat", stat)];
        assert_eq!(read(&second), (Some(8), Some(2), Some(68_000)));
    }

    #[test]
    fn own_quotas_are_positive_if_any() {
        let quotas = Quotas::of_self(&Root::new("/"));
        assert!(
            quotas.all.iter().all(|quota| quota.cpus > 0.0 && quota.group.starts_with('/')),
            "{quotas:?}"
        );
        assert_eq!(Quotas::of_self(&with_files(&[]).1), Quotas::default());
    }
}
