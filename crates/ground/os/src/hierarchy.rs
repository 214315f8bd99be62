//! Limits of control groups: CPUs, NUMA nodes and CPU time, in both versions (cgroups(7),
//! Documentation/admin-guide/cgroup-v2.rst).
//!
//! `located` joins a group's path in `/proc/PID/cgroup` and the mount of its hierarchy. Both are
//! relative to the reader's cgroup namespace, and may lead out of it with `/..`.

mod located;

use crate::Tid;
use crate::brake::{Brake, BrakeKind};
use crate::group::tids;
use crate::group_quota::GroupQuota;
use crate::kernel::{limits_real_time, obeys_clamps};
use crate::mounts::{self, Mount, below};
use crate::root::{FileError, Root};
use located::Located;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// `PROC_CGROUP_INIT_INO` of `include/linux/proc_ns.h`.
const FIRST_NAMESPACE: &str = "cgroup:[4026531835]";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Hierarchy {
    folder: String,
    /// Mounted group; `/` outside containers.
    root: String,
    /// Controllers and name of a version 1 hierarchy; `None` for version 2.
    controllers: Option<Vec<String>>,
    /// Root of all groups, so no group above sets limits.
    is_whole: bool,
    is_read_only: bool,
}

/// The mounted hierarchies.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Hierarchies {
    mounted: Vec<Hierarchy>,
    is_first_namespace: bool,
}

/// The groups that limit a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ControlGroups {
    /// `None` if its hierarchy is not mounted.
    cpuset: Option<Located>,
    time: Option<Located>,
    /// Version 2 only.
    memory: Option<Located>,
    /// One of each version if both are mounted.
    freezers: Vec<Located>,
    unseen: Option<String>,
}

/// A group's weight when siblings compete for a CPU.
#[derive(Debug)]
pub struct GroupWeight {
    /// Group's path below the mount point.
    pub group: String,
    /// `cpu.weight`, `cpu.shares`, or `cpu.idle` for an idle group.
    pub file: String,
    /// Setting.
    pub value: f64,
    /// Weight relative to that of a thread with nice 0.
    pub weight: f64,
}

impl ControlGroups {
    /// Why limits on CPU time may be invisible.
    pub fn unseen(&self) -> Option<&str> {
        self.unseen.as_deref()
    }

    /// Direct members of all these groups; `None` if the kernel lists none. In version 1, a thread
    /// may be in different groups.
    pub fn threads(&self, root: &Root) -> Option<Vec<Tid>> {
        let groups = self.time.iter().chain(&self.cpuset).chain(&self.freezers);
        let mut folders: Vec<String> = groups.map(Located::folder).collect();
        folders.sort_unstable();
        // Version 2 has one folder for all.
        folders.dedup();
        let mut lists = folders.iter().filter_map(|folder| located::threads(root, folder));
        let first = lists.next()?;
        Some(lists.fold(first, |mut common, list| {
            let list: HashSet<Tid> = list.into_iter().collect();
            common.retain(|tid| list.contains(tid));
            common
        }))
    }

    /// Whether no group for CPUs or CPU time was found.
    pub fn is_empty(&self) -> bool {
        self.cpuset.is_none() && self.time.is_none()
    }
}

/// The limits of a group and of the groups above it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Path of the CPU group, or of the CPU time group if the former is the root.
    pub path: String,
    /// CPU lists of the group and those above it, innermost first, without inherited ones.
    pub cpusets: Vec<Cpuset>,
    /// Whether these files are read-only here.
    pub is_read_only: bool,
    /// CPUs of members, as a list.
    pub cpus: Option<String>,
    /// NUMA nodes for members' memory, as a list.
    pub nodes: Option<String>,
    /// Quotas of the group and those above it, innermost first.
    pub quotas: Vec<GroupQuota>,
    /// Other settings of these groups that slow their members.
    pub brakes: Vec<Brake>,
    /// Tightest real-time limit, of a version 1 group or the whole computer.
    pub real_time: Option<Brake>,
}

/// One group's CPU list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cpuset {
    /// Its file.
    pub file: String,
    /// List.
    pub cpus: String,
    /// Systemd unit that sets it.
    pub unit: Option<String>,
}

impl Limits {
    /// Members' CPU time, in CPUs.
    pub fn quota_cpus(&self) -> Option<f64> {
        self.quotas.iter().map(|quota| quota.cpus).min_by(f64::total_cmp)
    }

    /// How many periods exhausted a quota of the group or one above.
    pub fn throttled(&self) -> Option<u64> {
        self.quotas.iter().filter_map(|quota| quota.throttled).reduce(u64::saturating_add)
    }
}

/// Whether group paths start at the root, as outside containers.
pub fn is_first_namespace(root: &Root) -> bool {
    let namespace = std::fs::read_link(root.path("/proc/self/ns/cgroup"));
    namespace.is_ok_and(|namespace| namespace.as_os_str() == FIRST_NAMESPACE)
}

impl Hierarchies {
    /// Reads the mounts.
    pub fn read(root: &Root) -> Self {
        Hierarchies {
            mounted: mounts::all(root)
                .into_iter()
                .filter(|mount| mounts::is_on_top(root, mount))
                .filter_map(|mount| Hierarchy::of(root, mount))
                .collect(),
            is_first_namespace: is_first_namespace(root),
        }
    }

    /// The groups that limit a thread, by its `cgroup` file.
    pub fn groups(&self, root: &Root, tid: Tid, membership: &str) -> ControlGroups {
        let cpuset = self.located(root, tid, membership, "cpuset").unwrap_or_default();
        let memory = self
            .located(root, tid, membership, "memory")
            .unwrap_or_default()
            .filter(Located::is_v2);
        let freezers = [line_of(membership, "freezer"), line_of_v2(membership)];
        let freezers = freezers.into_iter().flatten().filter_map(|(is_v2, path)| {
            self.mounted_group(root, tid, is_v2, path, "freezer").unwrap_or_default()
        });
        let mut freezers: Vec<Located> = freezers.collect();
        // Without a `freezer` line, both are the version 2 line.
        freezers.dedup();
        let time = self.located(root, tid, membership, "cpu");
        let unseen = match &time {
            Ok(time) => time.as_ref().and_then(Located::unseen),
            Err(unseen) => Some(unseen.clone()),
        };
        ControlGroups { cpuset, time: time.unwrap_or_default(), memory, freezers, unseen }
    }

    /// In version 1 if a line names the controller, else in version 2. `None` if no group can limit
    /// the thread.
    fn located(
        &self,
        root: &Root,
        tid: Tid,
        membership: &str,
        controller: &str,
    ) -> Result<Option<Located>, String> {
        let Some((is_v2, path)) = line_of(membership, controller) else { return Ok(None) };
        self.mounted_group(root, tid, is_v2, path, controller)
    }

    fn mounted_group(
        &self,
        root: &Root,
        tid: Tid,
        is_v2: bool,
        path: &str,
        controller: &str,
    ) -> Result<Option<Located>, String> {
        if path.contains(char::REPLACEMENT_CHARACTER) {
            return Err(format!(
                "cannot read the limits of the control group {path}: its name is not UTF-8"
            ));
        }
        let mut mounted: Vec<&Hierarchy> = self
            .mounted
            .iter()
            .filter(|hierarchy| match &hierarchy.controllers {
                Some(controllers) => !is_v2 && controllers.iter().any(|one| one == controller),
                None => is_v2,
            })
            .collect();
        // Containers may mount a hierarchy partly and as a whole.
        mounted.sort_by_key(|hierarchy| !hierarchy.is_whole);
        if let Some(found) = mounted.iter().find_map(|hierarchy| hierarchy.located(root, tid, path))
        {
            return Ok(Some(found));
        }
        let is_root = path == "/" && self.is_first_namespace;
        match (is_root, mounted.is_empty()) {
            (true, _) => Ok(None),
            (false, true) => Err(format!(
                "the cgroup hierarchy with '{controller}' of the control group {path} is not \
                 mounted, or another mount covers it"
            )),
            (false, false) => Err(format!(
                "cannot read the limits of the control group {path}: it is outside the mounted \
                 hierarchy"
            )),
        }
    }

    /// The limits of these groups.
    pub fn limits(root: &Root, groups: &ControlGroups) -> Limits {
        let paths = [&groups.cpuset, &groups.time].into_iter().flatten().map(Located::path);
        Limits {
            path: paths
                .filter(|path| *path != "/")
                .chain(["/"])
                .next()
                .unwrap_or_default()
                .to_owned(),
            cpusets: groups.cpuset.as_ref().map(|found| found.cpusets(root)).unwrap_or_default(),
            is_read_only: groups.cpuset.as_ref().is_some_and(|found| found.is_read_only(root)),
            cpus: inherited(
                root,
                groups,
                &["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"],
            ),
            nodes: inherited(
                root,
                groups,
                &["cpuset.mems.effective", "cpuset.effective_mems", "cpuset.mems"],
            ),
            quotas: groups.time.as_ref().map(|found| found.quotas(root)).unwrap_or_default(),
            brakes: brakes(root, groups),
            real_time: real_time(root, groups),
        }
    }

    /// Bytes that a thread's groups still grant it; `None` without a limit.
    pub fn memory_left_bytes(&self, root: &Root, tid: Tid, membership: &str) -> Option<u64> {
        self.located(root, tid, membership, "memory").ok()??.memory_left_bytes(root)
    }

    /// Weights, innermost first, without the root group.
    pub fn shares(root: &Root, groups: &ControlGroups) -> Vec<GroupWeight> {
        groups.time.as_ref().map(|found| found.shares(root)).unwrap_or_default()
    }

    /// Folders of a group named by the user, as a folder or a group path. `..` cannot leave a
    /// hierarchy.
    pub fn folders(&self, root: &Root, path: &str) -> Vec<String> {
        let path = path.trim_end_matches('/');
        let is_plain = path.split('/').all(|part| part != "..");
        if is_plain
            && self.mounted.iter().any(|hierarchy| below(path, &hierarchy.folder).is_some())
            && root.has(path)
        {
            return vec![path.to_owned()];
        }
        let spelled = format!("/{}", path.trim_start_matches('/'));
        let mut found: Vec<String> = self
            .mounted
            .iter()
            .filter_map(|hierarchy| {
                let below =
                    hierarchy.below(&spelled).filter(|below| !below.is_empty() || path.is_empty());
                let plain = is_plain
                    .then(|| format!("{}{}", hierarchy.folder, spelled.trim_end_matches('/')));
                let folder = below.map(|below| format!("{}{below}", hierarchy.folder));
                folder
                    .into_iter()
                    .chain(plain)
                    .find(|folder| root.has(&format!("{folder}/cgroup.procs")))
            })
            .collect();
        found.dedup();
        found
    }

    /// The folders of all groups, including names that are not UTF-8.
    ///
    /// # Errors
    /// [`FileError`]: a group cannot be read.
    pub fn all(&self, root: &Root) -> Result<Vec<PathBuf>, FileError> {
        let mut found: Vec<PathBuf> =
            self.mounted.iter().map(|hierarchy| PathBuf::from(&hierarchy.folder)).collect();
        found.sort_unstable();
        found.dedup();
        let mut at = 0;
        while at < found.len() {
            let inner = root.all_folders(&found[at])?;
            found.extend(
                inner.into_iter().filter(|folder| root.of(&folder.join("cgroup.procs")).exists()),
            );
            at += 1;
        }
        Ok(found)
    }
}

fn inherited(root: &Root, groups: &ControlGroups, names: &[&str]) -> Option<String> {
    groups.cpuset.as_ref()?.inherited(root, names)
}

fn brakes(root: &Root, groups: &ControlGroups) -> Vec<Brake> {
    let time = groups
        .time
        .iter()
        .flat_map(|found| found.brakes(root, Brake::on_time))
        .filter(|brake| !matches!(brake.kind, BrakeKind::Clamped { .. }) || obeys_clamps(root));
    let memory = groups.memory.iter().flat_map(|found| found.brakes(root, Brake::on_memory));
    let frozen = groups.freezers.iter().flat_map(|found| found.brakes(root, Brake::on_running));
    time.chain(memory).chain(frozen).collect()
}

/// Groups count only while the kernel limits the whole computer.
fn real_time(root: &Root, groups: &ControlGroups) -> Option<Brake> {
    let of_all = Brake::on_real_time_of_all(root).filter(|_| limits_real_time(root))?;
    let of_groups = groups.time.iter().flat_map(|found| found.brakes(root, Brake::on_real_time));
    // In a tie, name the computer's limit.
    std::iter::once(of_all).chain(of_groups).min_by(|a, b| share(a).total_cmp(&share(b)))
}

fn share(brake: &Brake) -> f64 {
    if let BrakeKind::RealTime { percent } = brake.kind { percent } else { f64::INFINITY }
}

pub(crate) fn line_of<'a>(membership: &'a str, controller: &str) -> Option<(bool, &'a str)> {
    let of_v1 = groups_of(membership)
        .find(|(controllers, _)| controllers.split(',').any(|one| one == controller));
    of_v1.map(|(_, path)| (false, path)).or_else(|| line_of_v2(membership))
}

pub(crate) fn line_of_v2(membership: &str) -> Option<(bool, &str)> {
    groups_of(membership)
        .find(|(controllers, _)| controllers.is_empty())
        .map(|(_, path)| (true, path))
}

fn groups_of(membership: &str) -> impl Iterator<Item = (&str, &str)> {
    membership.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?))
    })
}

impl Hierarchy {
    fn of(root: &Root, mount: Mount) -> Option<Self> {
        // Only a version 1 root has `release_agent`; version 2 groups except the root have
        // `cgroup.events`.
        let (controllers, is_whole) = match mount.kind.as_str() {
            "cgroup" => (Some(mount.options), root.has(&format!("{}/release_agent", mount.folder))),
            "cgroup2" => (None, !root.has(&format!("{}/cgroup.events", mount.folder))),
            _ => return None,
        };
        let is_read_only = mount.is_read_only;
        Some(Hierarchy {
            folder: mount.folder,
            root: mount.root,
            controllers,
            is_whole,
            is_read_only,
        })
    }
}

/// Members of a group and all groups below it, sorted: processes, or threads in a threaded group.
/// Empty if the group does not exist.
///
/// # Errors
/// [`FileError`]: a group below cannot be listed.
pub fn members_below(root: &Root, folder: &Path) -> Result<Vec<Tid>, FileError> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let list = ["cgroup.procs", "cgroup.threads"]
            .iter()
            .find_map(|name| std::fs::read_to_string(root.of(&folder.join(name))).ok());
        found.extend(tids(&list.unwrap_or_default()));
        folders.extend(root.all_folders(&folder)?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests;
