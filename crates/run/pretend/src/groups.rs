//! The control group of a pretended container: its files, its mounts and its members.
//!
//! The group is the root of its namespace, as in the containers of Docker and Kubernetes.

use crate::tree::{GROUPS, TreeFile, ranges};
use crate::{PretendError, PretendedMachine};
use std::str::FromStr;

/// The kernel's default period, in microseconds (`default_cfs_period`, kernel/sched/fair.c).
const PERIOD_US: u64 = 100_000;

/// The smallest quota, in microseconds (`min_cfs_quota_period`, kernel/sched/core.c).
const LEAST_QUOTA_US: u64 = 1000;

/// More than any computer has.
const MOST_CPUS: f64 = 1e6;

/// No limit on memory, in version 1: `PAGE_COUNTER_MAX` in bytes.
const NO_LIMIT_BYTES: &str = "9223372036854771712";

/// The controllers of each hierarchy of version 1, by its number less one.
const HIERARCHIES: [&str; 4] = ["cpuset", "cpu,cpuacct", "memory", "pids"];

/// The type of a file system as `statfs` reports it, from include/uapi/linux/magic.h.
const CGROUP_SUPER_MAGIC: u32 = 0x0027_e0eb;
const CGROUP2_SUPER_MAGIC: u32 = 0x6367_7270;
const TMPFS_MAGIC: u32 = 0x0102_1994;

/// The file system that Seatmap mounts over others.
const COVER: &str = "seatmap";

const MOUNTED: &str = "ro,nosuid,nodev,noexec,relatime";

/// The mounts of version 1 have numbers that no kernel gives.
const FIRST_MOUNT: usize = 1_000_000;

/// The version of control groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupVersion {
    /// A hierarchy for each controller.
    First,
    /// One hierarchy.
    #[default]
    Second,
}

/// A container's control group. It limits nothing: only its files say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContainerGroup {
    /// The version.
    pub version: GroupVersion,
    /// The CPU time in each period of 100 ms, in microseconds; `None` without a limit.
    pub quota_us: Option<u64>,
}

/// `1.5` or `1.5@v1`: a number of CPUs, and a version.
impl FromStr for ContainerGroup {
    type Err = PretendError;

    fn from_str(typed: &str) -> Result<Self, PretendError> {
        let (cpus, version) = typed.split_once('@').unwrap_or((typed, "v2"));
        let version = match version {
            "v1" => GroupVersion::First,
            "v2" => GroupVersion::Second,
            other => {
                let problem = format!("control groups have versions v1 and v2, not '{other}'");
                return Err(PretendError::Machine(problem));
            }
        };
        let cpus = cpus.parse().ok().filter(|cpus| (0.0..MOST_CPUS).contains(cpus));
        let quota_us = cpus.map(|cpus: f64| (cpus * PERIOD_US as f64).round() as u64);
        let Some(quota_us) = quota_us.filter(|quota_us| *quota_us >= LEAST_QUOTA_US) else {
            let problem = format!(
                "'{typed}' is not a quota: expected CPUs, at least 0.01, as in 1.5 or 2@v1"
            );
            return Err(PretendError::Machine(problem));
        };
        Ok(ContainerGroup { version, quota_us: Some(quota_us) })
    }
}

impl ContainerGroup {
    /// The quota in CPUs; `None` without a limit.
    pub fn quota_cpus(&self) -> Option<f64> {
        Some(self.quota_us? as f64 / PERIOD_US as f64)
    }

    /// The files below `GROUPS`, by path, without a line end.
    pub fn files(&self, machine: &PretendedMachine) -> Vec<(String, TreeFile)> {
        let cpus = ranges(&machine.allowed);
        let nodes = ranges(&machine.memory_nodes());
        let period = PERIOD_US.to_string();
        let quota = self.quota_us.map(|us| us.to_string());
        let both = format!("{} {period}", quota.as_deref().unwrap_or("max"));
        let texts: &[(&str, &str)] = match self.version {
            GroupVersion::First => &[
                ("cpu,cpuacct/cpu.cfs_quota_us", quota.as_deref().unwrap_or("-1")),
                ("cpu,cpuacct/cpu.cfs_period_us", &period),
                ("cpu,cpuacct/cpu.shares", "1024"),
                ("cpu,cpuacct/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0"),
                ("cpuset/cpuset.cpus", &cpus),
                ("cpuset/cpuset.effective_cpus", &cpus),
                ("cpuset/cpuset.mems", &nodes),
                ("cpuset/cpuset.effective_mems", &nodes),
                ("memory/memory.limit_in_bytes", NO_LIMIT_BYTES),
                ("pids/pids.max", "max"),
            ],
            GroupVersion::Second => &[
                ("cgroup.controllers", "cpuset cpu memory pids"),
                ("cpuset.cpus", &cpus),
                ("cpuset.cpus.effective", &cpus),
                ("cpuset.mems", &nodes),
                ("cpuset.mems.effective", &nodes),
                ("cpu.max", &both),
                ("cpu.stat", "usage_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0"),
                ("cpu.weight", "100"),
                ("memory.max", "max"),
                ("pids.max", "max"),
            ],
        };
        let links: &[&str] = match self.version {
            GroupVersion::First => &["cpu", "cpuacct"],
            GroupVersion::Second => &[],
        };
        let texts = texts.iter().map(|(name, text)| (*name, TreeFile::Text(format!("{text}\n"))));
        let links = links.iter().map(|name| (*name, TreeFile::Link("cpu,cpuacct".to_owned())));
        let files = texts.chain(links);
        files.map(|(name, file)| (format!("{GROUPS}/{name}"), file)).collect()
    }

    /// `/proc/PID/cgroup`.
    pub fn membership(&self) -> String {
        match self.version {
            GroupVersion::First => {
                let lines = HIERARCHIES.iter().enumerate().rev();
                lines.map(|(at, controllers)| format!("{}:{controllers}:/\n", at + 1)).collect()
            }
            GroupVersion::Second => "0::/\n".to_owned(),
        }
    }

    /// `/proc/cgroups`.
    pub fn controllers(&self) -> String {
        let mut text = "#subsys_name\thierarchy\tnum_cgroups\tenabled\n".to_owned();
        for (number, controllers) in (1..).zip(HIERARCHIES) {
            let hierarchy = if self.version == GroupVersion::First { number } else { 0 };
            for controller in controllers.split(',') {
                text += &format!("{controller}\t{hierarchy}\t1\t1\n");
            }
        }
        text
    }

    /// The type of the file system at a path below `GROUPS`.
    pub fn file_system(&self, path: &str) -> Option<u32> {
        let below = path.strip_prefix('/')?.strip_prefix(GROUPS)?;
        match self.version {
            GroupVersion::Second => Some(CGROUP2_SUPER_MAGIC),
            GroupVersion::First if below.is_empty() => Some(TMPFS_MAGIC),
            GroupVersion::First => Some(CGROUP_SUPER_MAGIC),
        }
    }

    /// The group's mounts as source, path below `GROUPS`, type, and options.
    fn mounts(&self) -> Vec<[String; 4]> {
        if self.version == GroupVersion::Second {
            return vec![["cgroup", "", "cgroup2", "rw"].map(str::to_owned)];
        }
        let folder = ["tmpfs", "", "tmpfs", "ro,mode=755"].map(str::to_owned);
        let hierarchies = HIERARCHIES.map(|controllers| {
            let [folder, options] = [format!("/{controllers}"), format!("rw,{controllers}")];
            ["cgroup".to_owned(), folder, "cgroup".to_owned(), options]
        });
        [folder].into_iter().chain(hierarchies).collect()
    }

    /// `/proc/PID/mountinfo` with the group's mounts in place of this computer's and Seatmap's.
    /// Processes without Seatmap's mounts keep theirs.
    pub fn mountinfo(&self, text: &str) -> String {
        rewritten(text, MountLine::of_mountinfo, |line| {
            let [number, parent, device, ..] = line.words[..] else { return String::new() };
            let mut lines = String::new();
            for (at, [source, folder, kind, options]) in self.mounts().into_iter().enumerate() {
                let front = match at {
                    0 => format!("{number} {parent} {device}"),
                    at => format!("{} {number} 0:{}", FIRST_MOUNT + at, FIRST_MOUNT + at),
                };
                lines +=
                    &format!("{front} / /{GROUPS}{folder} {MOUNTED} - {kind} {source} {options}\n");
            }
            lines
        })
    }

    /// `/proc/PID/mounts`, as [`ContainerGroup::mountinfo`].
    pub fn mount_table(&self, text: &str) -> String {
        rewritten(text, MountLine::of_table, |_| {
            let lines = self.mounts().into_iter().map(|[source, folder, kind, _]| {
                format!("{source} /{GROUPS}{folder} {kind} {MOUNTED} 0 0\n")
            });
            lines.collect()
        })
    }
}

struct MountLine<'a> {
    words: Vec<&'a str>,
    folder: &'a str,
    is_cover: bool,
}

impl<'a> MountLine<'a> {
    fn of_mountinfo(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let source = words.iter().skip_while(|word| **word != "-").nth(2)?;
        Some(MountLine { folder: words.get(4)?, is_cover: *source == COVER, words })
    }

    fn of_table(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        Some(MountLine { folder: words.get(1)?, is_cover: words[0] == COVER, words })
    }
}

fn rewritten<'a>(
    text: &'a str,
    parse: fn(&'a str) -> Option<MountLine<'a>>,
    of_groups: impl Fn(&MountLine) -> String,
) -> String {
    let lines: Vec<(&str, MountLine)> =
        text.lines().filter_map(|line| Some((line, parse(line)?))).collect();
    let is_covered = lines.iter().any(|(_, mount)| mount.is_cover);
    let shown = lines.iter().map(|(line, mount)| {
        let below = mount.folder.strip_prefix('/').and_then(|path| path.strip_prefix(GROUPS));
        let is_of_groups = below.is_some_and(|below| below.is_empty() || below.starts_with('/'));
        if mount.is_cover && is_of_groups {
            of_groups(mount)
        } else if mount.is_cover || is_covered && is_of_groups {
            String::new()
        } else {
            format!("{line}\n")
        }
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made::small;

    fn group(typed: &str) -> ContainerGroup {
        typed.parse().unwrap()
    }

    fn text_of(group: ContainerGroup, name: &str) -> Option<String> {
        let path = format!("{GROUPS}/{name}");
        let files = group.files(&small());
        let (_, file) = files.into_iter().find(|(known, _)| *known == path)?;
        match file {
            TreeFile::Text(text) => Some(text.trim().to_owned()),
            TreeFile::Link(target) => Some(target),
        }
    }

    #[test]
    fn quotas_are_cpus_and_a_version() {
        let second = ContainerGroup { version: GroupVersion::Second, quota_us: Some(150_000) };
        assert_eq!([group("1.5"), group("1.5@v2")], [second; 2]);
        assert_eq!(group("2@v1").version, GroupVersion::First);
        assert_eq!(group("2@v1").quota_cpus(), Some(2.0));
        for wrong in ["", "0", "0.001", "-1", "nan", "inf", "1e9", "x@v1", "@v2"] {
            let refused = wrong.parse::<ContainerGroup>().unwrap_err().to_string();
            assert!(refused.contains("is not a quota"), "{wrong}: {refused}");
        }
        let refused = "2@v3".parse::<ContainerGroup>().unwrap_err().to_string();
        assert_eq!(refused, "control groups have versions v1 and v2, not 'v3'");
    }

    #[test]
    fn each_version_has_only_its_own_files() {
        let [first, second] = [group("1.5@v1"), group("1.5")];
        assert_eq!(text_of(second, "cpu.max").as_deref(), Some("150000 100000"));
        assert_eq!(text_of(first, "cpu.max"), None);
        assert_eq!(text_of(first, "cpu,cpuacct/cpu.cfs_quota_us").as_deref(), Some("150000"));
        assert_eq!(text_of(first, "cpu").as_deref(), Some("cpu,cpuacct"));
        let free = ContainerGroup::default();
        assert_eq!(text_of(free, "cpu.max").as_deref(), Some("max 100000"));
        assert_eq!(first.membership(), "4:pids:/\n3:memory:/\n2:cpu,cpuacct:/\n1:cpuset:/\n");
        assert!(first.controllers().contains("cpuacct\t2\t1\t1\n"), "{}", first.controllers());
        assert!(second.controllers().contains("cpuacct\t0\t1\t1\n"));
        let kinds = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu,cpuacct", "/sys"]
            .map(|path| first.file_system(path));
        assert_eq!(kinds, [Some(TMPFS_MAGIC), Some(CGROUP_SUPER_MAGIC), None]);
    }

    #[test]
    fn mounts_show_the_group_and_hide_covers() {
        let text = "23 1 0:2 / / rw - ext4 /dev/vda rw\n\
                    31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                    32 31 0:29 / /sys/fs/cgroup/cpu rw shared:7 - cgroup cgroup rw,cpu\n\
                    33 23 0:30 / /sys/fs/cgroup2 rw - tmpfs x rw\n\
                    50 23 0:50 / /sys/devices/system/cpu ro - tmpfs seatmap rw\n\
                    51 31 0:51 / /sys/fs/cgroup ro - tmpfs seatmap rw\n";
        let kept = |text: &str| {
            let mut lines = text.lines().filter(|line| !line.contains(" /sys/fs/cgroup "));
            lines.all(|line| line.contains(" / / ") || line.contains("/sys/fs/cgroup2"))
        };
        let second = group("1").mountinfo(text);
        assert!(
            kept(&second)
                && second.ends_with(
                    "\n51 31 0:51 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 \
                     cgroup rw\n"
                ),
            "{second}"
        );
        let first = group("1@v1").mountinfo(text);
        let cpu = "1000002 51 0:1000002 / /sys/fs/cgroup/cpu,cpuacct \
                   ro,nosuid,nodev,noexec,relatime - cgroup cgroup rw,cpu,cpuacct\n";
        assert!(first.contains(cpu) && !first.contains("shared:7"), "{first}");
        let table = "/dev/vda / ext4 rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n\
                     seatmap /sys/fs/cgroup tmpfs ro 0 0\n";
        let shown = "/dev/vda / ext4 rw 0 0\n\
                     cgroup /sys/fs/cgroup cgroup2 ro,nosuid,nodev,noexec,relatime 0 0\n";
        assert_eq!(group("1").mount_table(table), shown);
        let foreign = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        assert_eq!(group("1").mountinfo(foreign), foreign, "another process's mounts");
    }
}
