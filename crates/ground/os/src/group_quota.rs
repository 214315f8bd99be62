//! The quota of one control group, as its files have it.

use crate::root::Root;

/// The folder that is there where systemd runs the computer (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

/// The quota of one control group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupQuota {
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

impl GroupQuota {
    /// The quota of the group in this folder, of either version; `None` where it has none.
    #[must_use]
    pub fn of_folder(root: &Root, folder: &str) -> Option<Self> {
        let group = folder.to_owned();
        let quota = GroupQuota::read(root, folder, true)
            .or_else(|| GroupQuota::read(root, folder, false))?;
        Some(GroupQuota { group, ..quota })
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
        (period_us > 0).then(|| GroupQuota {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
