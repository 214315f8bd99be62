//! Control groups as they limit living programs: the CPUs, nodes and CPU time of a group, in either
//! version, and the processes below it (cgroups(7), Documentation/admin-guide/cgroup-v2.rst).
//!
//! A group is found by its path in `/proc/PID/cgroup` and the mount of its hierarchy. Both are
//! relative to the cgroup namespace of the reader, and either may lead out of it with `/..`:
//! `located` joins the two.

mod located;

use crate::Tid;
use crate::brake::{Brake, BrakeKind};
use crate::group_quota::GroupQuota;
use crate::kernel::{limits_real_time, obeys_clamps};
use crate::mounts::{self, Mount};
use crate::root::{FileError, Root};
use located::Located;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The inode of the first cgroup namespace (`PROC_CGROUP_INIT_INO` of `include/linux/proc_ns.h`).
const FIRST_NAMESPACE: &str = "cgroup:[4026531835]";

/// One mounted hierarchy of control groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hierarchy {
    /// The folder where it is mounted.
    folder: String,
    /// The group that is mounted there; `/` outside containers.
    root: String,
    /// The controllers of a hierarchy of version 1, and its name; `None` for version 2.
    controllers: Option<Vec<String>>,
    /// Whether the mounted group is the root of all groups, so that nothing above it sets limits.
    is_whole: bool,
    is_read_only: bool,
}

/// The mounted hierarchies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchies {
    mounted: Vec<Hierarchy>,
    /// Whether the path `/` is the root of all groups for this reader.
    is_first_namespace: bool,
}

/// The groups of a process that limit its CPUs, as folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ControlGroups {
    /// The group that says which CPUs and nodes; `None` where that hierarchy is not mounted.
    cpuset: Option<Located>,
    /// The group that says how much CPU time.
    time: Option<Located>,
    /// The group of version 2 that says how much memory.
    memory: Option<Located>,
    /// The groups that can freeze it: of version 1's freezer, and of version 2, which both may hold
    /// where both are mounted.
    freezers: Vec<Located>,
    /// Why not every limit on the CPU time can be seen.
    unseen: Option<String>,
}

/// The setting that decides which part of a contested CPU a group gets, among its siblings.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupWeight {
    /// The group's path below the mounted hierarchy.
    pub group: String,
    /// The file of the setting: `cpu.weight`, `cpu.shares`, or `cpu.idle` of an idle group.
    pub file: String,
    /// The setting.
    pub value: f64,
    /// The weight as a part of the usual one, which is that of a thread of nice 0.
    pub weight: f64,
}

impl ControlGroups {
    /// Why there may be limits on the CPU time that cannot be seen from here; `None` where all can
    /// be seen.
    #[must_use]
    pub fn unseen(&self) -> Option<&str> {
        self.unseen.as_deref()
    }

    /// The threads that are in all of these groups, without those of the groups below; `None` where
    /// the kernel lists none of them. Version 1 has a hierarchy for each, and a thread may have a
    /// group of its own in any.
    #[must_use]
    pub fn threads(&self, root: &Root) -> Option<Vec<Tid>> {
        let groups = self.time.iter().chain(&self.cpuset).chain(&self.freezers);
        let mut folders: Vec<String> = groups.map(Located::folder).collect();
        folders.sort_unstable();
        // Of version 2 all of them are one.
        folders.dedup();
        let mut lists = folders.iter().filter_map(|folder| located::threads(root, folder));
        let first = lists.next()?;
        Some(lists.fold(first, |mut common, list| {
            let list: HashSet<Tid> = list.into_iter().collect();
            common.retain(|tid| list.contains(tid));
            common
        }))
    }

    /// Whether nothing is known of them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cpuset.is_none() && self.time.is_none()
    }
}

/// The limits of a group, with those of the groups above it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Its path below the mounted hierarchy: of CPUs, or of CPU time where that one is not the
    /// root.
    pub path: String,
    /// The lists of CPUs of the group and those above it, its own first; without groups that leave
    /// it to the one above.
    pub cpusets: Vec<Cpuset>,
    /// Whether these files cannot be written from here.
    pub is_read_only: bool,
    /// The CPUs that its members may use, as a list.
    pub cpus: Option<String>,
    /// The NUMA nodes that their memory may come from, as a list.
    pub nodes: Option<String>,
    /// The quotas of CPU time of the group and those above it, its own first.
    pub quotas: Vec<GroupQuota>,
    /// The other settings of these groups that hold their members back.
    pub brakes: Vec<Brake>,
    /// The tightest limit on the time of members with a real-time policy, of a group of version 1
    /// or of the whole computer. It holds nobody else back.
    pub real_time: Option<Brake>,
}

/// The CPUs that one group lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpuset {
    /// The file that lists them.
    pub file: String,
    /// The list.
    pub cpus: String,
    /// The unit of systemd that sets it.
    pub unit: Option<String>,
}

impl Limits {
    /// The CPU time that its members may take, in CPUs; `None` means without a limit.
    #[must_use]
    pub fn quota_cpus(&self) -> Option<f64> {
        self.quotas.iter().map(|quota| quota.cpus).min_by(f64::total_cmp)
    }

    /// The number of periods in which a quota of it or of a group above was used up; `None` without
    /// a quota.
    #[must_use]
    pub fn throttled(&self) -> Option<u64> {
        self.quotas.iter().filter_map(|quota| quota.throttled).reduce(u64::saturating_add)
    }
}

/// Whether paths of control groups begin at the root of each hierarchy for this process, as they do
/// outside containers.
#[must_use]
pub fn is_first_namespace(root: &Root) -> bool {
    let namespace = std::fs::read_link(root.path("/proc/self/ns/cgroup"));
    namespace.is_ok_and(|namespace| namespace.as_os_str() == FIRST_NAMESPACE)
}

impl Hierarchies {
    /// Reads them from the mounts.
    #[must_use]
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

    /// The groups that limit a thread, from the text of its `cgroup` file.
    #[must_use]
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
        // Without a line for the freezer, both are the line of version 2.
        freezers.dedup();
        match self.located(root, tid, membership, "cpu") {
            Ok(time) => {
                let unseen = time.as_ref().and_then(Located::unseen);
                ControlGroups { cpuset, time, memory, freezers, unseen }
            }
            Err(unseen) => {
                ControlGroups { cpuset, time: None, memory, freezers, unseen: Some(unseen) }
            }
        }
    }

    /// The group of a thread in the hierarchy of a controller: that of version 1 where a line names
    /// the controller, as version 2 then does not have it. `None` where no group can limit the
    /// thread.
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

    /// The group with this path in the hierarchy of version 2, or in that of a controller of
    /// version 1.
    fn mounted_group(
        &self,
        root: &Root,
        tid: Tid,
        is_v2: bool,
        path: &str,
        controller: &str,
    ) -> Result<Option<Located>, String> {
        // Paths that are not text are read with this in place of what is none.
        if path.contains(char::REPLACEMENT_CHARACTER) {
            return Err(format!(
                "the control group {path} has a name that is not UTF-8, so its limits cannot be \
                 read"
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
        // A container may show a part of a hierarchy twice, and the whole one as well.
        mounted.sort_by_key(|hierarchy| !hierarchy.is_whole);
        if let Some(found) = mounted.iter().find_map(|hierarchy| hierarchy.located(root, tid, path))
        {
            return Ok(Some(found));
        }
        let is_root = path == "/" && self.is_first_namespace;
        match (is_root, mounted.is_empty()) {
            (true, _) => Ok(None),
            (false, true) => Err(format!(
                "the hierarchy of control groups with '{controller}' is not mounted, or covered by \
                 another mount, and the process is in its group {path}"
            )),
            (false, false) => Err(format!(
                "the control group {path} is outside of what is mounted here, so its limits cannot \
                 be read"
            )),
        }
    }

    /// The limits of these groups.
    #[must_use]
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

    /// The shares of a contested CPU of these groups and those above, their own first, without the
    /// root of all groups.
    #[must_use]
    pub fn shares(root: &Root, groups: &ControlGroups) -> Vec<GroupWeight> {
        groups.time.as_ref().map(|found| found.shares(root)).unwrap_or_default()
    }

    /// The folders of a group that a person names: a folder below a mounted hierarchy, or a path
    /// that one or several hierarchies have. A folder elsewhere is none: `..` leads out of no
    /// hierarchy.
    #[must_use]
    pub fn folders(&self, root: &Root, path: &str) -> Vec<String> {
        let path = path.trim_end_matches('/');
        let is_plain = path.split('/').all(|part| part != "..");
        if is_plain
            && self.mounted.iter().any(|hierarchy| is_below(path, &hierarchy.folder))
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

    /// Every group of every hierarchy, by its folder. Names that are not text are among them.
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

/// The settings that hold the members of these groups back, beside quotas.
fn brakes(root: &Root, groups: &ControlGroups) -> Vec<Brake> {
    let time = groups
        .time
        .iter()
        .flat_map(|found| found.brakes(root, |folder| Brake::on_time(root, folder)))
        .filter(|brake| !matches!(brake.kind, BrakeKind::Clamped { .. }) || obeys_clamps(root));
    let memory = groups.memory.iter().flat_map(|found| {
        found.brakes(root, |folder| Brake::on_memory(root, folder).into_iter().collect())
    });
    let frozen = groups.freezers.iter().flat_map(|found| {
        found.brakes(root, |folder| Brake::on_running(root, folder).into_iter().collect())
    });
    time.chain(memory).chain(frozen).collect()
}

/// The tightest limit on real-time threads, if this kernel obeys any. Groups count only while it
/// limits the whole computer.
fn real_time(root: &Root, groups: &ControlGroups) -> Option<Brake> {
    let of_all = Brake::on_real_time_of_all(root).filter(|_| limits_real_time(root))?;
    let of_groups = groups.time.iter().flat_map(|found| {
        found.brakes(root, |folder| Brake::on_real_time(root, folder).into_iter().collect())
    });
    // Of two that are as tight, that of the computer is named.
    std::iter::once(of_all).chain(of_groups).min_by(|a, b| share(a).total_cmp(&share(b)))
}

fn share(brake: &Brake) -> f64 {
    if let BrakeKind::RealTime { percent } = brake.kind { percent } else { f64::INFINITY }
}

/// Whether a folder is another one or below it.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether the group of a controller is one of version 2, and its path.
fn line_of<'a>(membership: &'a str, controller: &str) -> Option<(bool, &'a str)> {
    let of_v1 = groups_of(membership)
        .find(|(controllers, _)| controllers.split(',').any(|one| one == controller));
    of_v1.map(|(_, path)| (false, path)).or_else(|| line_of_v2(membership))
}

/// The path in the hierarchy of version 2, beside `true`.
fn line_of_v2(membership: &str) -> Option<(bool, &str)> {
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
        // Of version 1, the root alone has an agent; of version 2, every group but the root has
        // events.
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

/// The members of a group and of all groups below it, ascending: processes, or single threads where
/// a group of version 2 holds threads. None where the group is not there.
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
        found.extend(
            list.unwrap_or_default().lines().filter_map(|line| line.trim().parse::<Tid>().ok()),
        );
        folders.extend(root.all_folders(&folder)?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests;
