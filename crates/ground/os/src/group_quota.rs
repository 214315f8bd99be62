//! The quota of one control group, read from its files.

use crate::root::Root;

/// Exists if systemd runs the computer (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

/// The quota of one control group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupQuota {
    /// Group's path below the mount point; `/` for the mounted group.
    pub group: String,
    /// Group's folder.
    pub folder: String,
    /// Quota's file.
    pub file: String,
    /// Members' CPU time, in CPUs: 1.5 means three seconds in two.
    pub cpus: f64,
    /// Period, in microseconds.
    pub period_us: u64,
    /// Periods that exhausted the quota since the group's creation; `None` if not counted.
    pub throttled: Option<u64>,
    /// Periods with a running member since the group's creation.
    pub periods: Option<u64>,
    /// How long members were stopped, in nanoseconds, summed over CPUs.
    pub stopped_ns: Option<u64>,
    /// Systemd unit that sets it and may rewrite the file at any time.
    pub unit: Option<String>,
    /// Whether the file is read-only here, as in most containers.
    pub is_read_only: bool,
}

impl GroupQuota {
    /// The quota of the group in this folder.
    pub fn of_folder(root: &Root, folder: &str) -> Option<Self> {
        let group = folder.to_owned();
        let quota = GroupQuota::read(root, folder, true)
            .or_else(|| GroupQuota::read(root, folder, false))?;
        Some(GroupQuota { group, ..quota })
    }

    pub(crate) fn read(root: &Root, folder: &str, is_v2: bool) -> Option<Self> {
        let (name, text) = if is_v2 {
            ("cpu.max", root.read(&format!("{folder}/cpu.max")).ok()?)
        } else {
            // -1 means unlimited.
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

    /// Describes the quota: `0.5 CPUs in periods of 100 ms`.
    pub fn words(&self) -> String {
        let cpus = if self.cpus == 1.0 { "CPU" } else { "CPUs" };
        format!("{} {cpus} in periods of {} ms", self.cpus, self.period_us as f64 / 1000.0)
    }
}

fn counted(stat: &str, name: &str) -> Option<u64> {
    let values = stat.lines().filter_map(|line| line.split_once(' '));
    let (_, value) = values.into_iter().find(|(key, _)| *key == name)?;
    value.trim().parse().ok()
}

pub fn unit(root: &Root, path: &str) -> Option<String> {
    let mut names = path.rsplit('/');
    let name = names.next()?;
    let is_unit = name.ends_with(".slice") || is_leaf(name);
    // Below a service or scope, units belong to another systemd (a user's or container's).
    let is_handed_on = names.any(is_leaf);
    (is_unit && !is_handed_on && root.has(SYSTEMD)).then(|| name.to_owned())
}

/// Whether this unit cannot contain units.
fn is_leaf(name: &str) -> bool {
    name.ends_with(".service") || name.ends_with(".scope")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;

    #[test]
    fn unit_belongs_to_the_local_systemd() {
        let (_folder, root) = with_files(&[]);
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
