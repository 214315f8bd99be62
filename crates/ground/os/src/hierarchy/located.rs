//! A group's folder: joins its path with the mount of its hierarchy, across cgroup namespaces.

use super::{Cpuset, GroupWeight, Hierarchy};
use crate::Tid;
use crate::brake::Brake;
use crate::group::tids;
use crate::group_quota::{self, GroupQuota};
use crate::mounts::below;
use crate::priority::{IDLE_WEIGHT, USUAL_WEIGHT};
use crate::rights;
use crate::root::Root;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Located {
    /// Mount point.
    base: String,
    /// Path below it; empty for the root.
    path: String,
    is_v2: bool,
    is_whole: bool,
    is_read_only: bool,
}

/// Relative to a cgroup namespace: steps up from its root, then down.
struct Spelled<'a> {
    ups: usize,
    down: &'a str,
}

impl<'a> Spelled<'a> {
    /// `None` for a step up after a step down, which the kernel never writes.
    fn parse(path: &'a str) -> Option<Self> {
        let mut ups = 0;
        let mut down = path.trim_end_matches('/');
        while let Some(rest) = below(down, "/..") {
            ups += 1;
            down = rest;
        }
        let is_plain =
            (down.is_empty() || down.starts_with('/')) && down.split('/').all(|part| part != "..");
        is_plain.then_some(Spelled { ups, down })
    }
}

impl Hierarchy {
    /// A group's path below the mount point, if the two paths determine it; `None` outside the
    /// mounted part.
    pub fn below(&self, path: &str) -> Option<String> {
        let mounted = Spelled::parse(&self.root)?;
        let group = Spelled::parse(path)?;
        let below = below(group.down, mounted.down)?;
        (mounted.ups == group.ups).then(|| below.to_owned())
    }

    /// The group with this path that contains the thread.
    ///
    /// A mount from outside the reader's cgroup namespace starts with one `/..` per group between
    /// the roots, whose names the kernel hides. The right group is the one that lists the thread.
    pub fn located(&self, root: &Root, tid: Tid, path: &str) -> Option<Located> {
        let path = self.below(path).or_else(|| self.searched(root, tid, path))?;
        let base = self.folder.clone();
        let is_v2 = self.controllers.is_none();
        Some(Located {
            base,
            path,
            is_v2,
            is_whole: self.is_whole,
            is_read_only: self.is_read_only,
        })
    }

    fn searched(&self, root: &Root, tid: Tid, path: &str) -> Option<String> {
        let mounted = Spelled::parse(&self.root)?;
        let group = Spelled::parse(path)?;
        let unnamed = mounted.ups.checked_sub(group.ups).filter(|_| mounted.down.is_empty())?;
        let mut paths = vec![String::new()];
        for _ in 0..unnamed {
            paths = paths
                .iter()
                .flat_map(|path| {
                    let names = root.folders(&format!("{}{path}", self.folder)).unwrap_or_default();
                    names.into_iter().map(|name| format!("{path}/{name}")).collect::<Vec<_>>()
                })
                .collect();
        }
        let mut groups = paths.into_iter().map(|path| format!("{path}{}", group.down));
        groups.find(|path| {
            threads(root, &format!("{}{path}", self.folder)).is_some_and(|all| all.contains(&tid))
        })
    }
}

/// Direct member threads; in version 2 before Linux 4.14, processes.
pub fn threads(root: &Root, folder: &str) -> Option<Vec<Tid>> {
    let files = ["tasks", "cgroup.threads", "cgroup.procs"];
    let list = files.iter().find_map(|name| root.read(&format!("{folder}/{name}")).ok())?;
    Some(tids(&list).collect())
}

fn name_of(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

impl Located {
    pub fn path(&self) -> &str {
        name_of(&self.path)
    }

    pub fn folder(&self) -> String {
        format!("{}{}", self.base, self.path)
    }

    /// Why groups above the mounted one may set invisible limits.
    pub fn unseen(&self) -> Option<String> {
        (!self.is_whole).then(|| {
            format!(
                "the control groups above the one mounted at {} are invisible here and may have \
                 CPU quotas",
                self.base
            )
        })
    }

    /// Its path and the paths above it, up to the mounted root.
    fn upward(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.path.as_str()), |path| {
            path.rsplit_once('/').map(|(parent, _)| parent)
        })
    }

    /// The first non-empty text of these files, here or above. A group without the controller lacks
    /// them.
    pub fn inherited(&self, root: &Root, names: &[&str]) -> Option<String> {
        self.upward().find_map(|path| {
            names
                .iter()
                .filter_map(|name| root.read(&format!("{}{path}/{name}", self.base)).ok())
                .find(|text| !text.is_empty())
        })
    }

    /// Whether its CPU list is read-only here.
    pub fn is_read_only(&self, root: &Root) -> bool {
        self.is_closed(root, &format!("{}/cpuset.cpus", self.folder()))
    }

    fn is_closed(&self, root: &Root, file: &str) -> bool {
        self.is_read_only || rights::is_closed_to_root(root, file)
    }

    pub fn cpusets(&self, root: &Root) -> Vec<Cpuset> {
        self.upward()
            .filter_map(|path| {
                let file = format!("{}{path}/cpuset.cpus", self.base);
                let cpus = root.read(&file).ok().filter(|text| !text.is_empty())?;
                Some(Cpuset { file, cpus, unit: group_quota::unit(root, path) })
            })
            .collect()
    }

    pub fn is_v2(&self) -> bool {
        self.is_v2
    }

    pub fn brakes<Brakes: IntoIterator<Item = Brake>>(
        &self,
        root: &Root,
        read: impl Fn(&Root, &str) -> Brakes,
    ) -> Vec<Brake> {
        self.upward()
            .flat_map(|path| {
                let found = read(root, &format!("{}{path}", self.base));
                found
                    .into_iter()
                    .map(|brake| Brake {
                        group: name_of(path).to_owned(),
                        is_read_only: self.is_closed(root, &brake.file),
                        ..brake
                    })
                    .collect::<Vec<Brake>>()
            })
            .collect()
    }

    pub fn shares(&self, root: &Root) -> Vec<GroupWeight> {
        // Documentation/admin-guide/cgroup-v2.rst; `scale_load(1024)` in kernel/sched/core.c.
        let (name, usual) = if self.is_v2 { ("cpu.weight", 100.0) } else { ("cpu.shares", 1024.0) };
        let groups = self.upward().filter(|path| !(path.is_empty() && self.is_whole));
        let groups = groups.filter_map(|path| {
            let folder = format!("{}{path}", self.base);
            let value = root.number(&format!("{folder}/{name}"))?;
            let group = name_of(path).to_owned();
            let idle = format!("{folder}/cpu.idle");
            Some(match root.number(&idle) {
                Some(value) if value != 0.0 => {
                    GroupWeight { group, file: idle, value, weight: IDLE_WEIGHT / USUAL_WEIGHT }
                }
                _ => GroupWeight {
                    group,
                    file: format!("{folder}/{name}"),
                    value,
                    weight: value / usual,
                },
            })
        });
        groups.collect()
    }

    /// The least that its limits leave, here and above. Members can also get what inactive file
    /// pages use: the kernel drops them first.
    pub fn memory_left_bytes(&self, root: &Root) -> Option<u64> {
        let [limit, usage, files] = if self.is_v2 {
            ["memory.max", "memory.current", "inactive_file "]
        } else {
            ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "]
        };
        let left = self.upward().filter_map(|path| {
            let folder = format!("{}{path}", self.base);
            let limit: u64 = root.number(&format!("{folder}/{limit}"))?;
            let usage: u64 = root.number(&format!("{folder}/{usage}"))?;
            let stat = root.read(&format!("{folder}/memory.stat")).unwrap_or_default();
            let files = stat.lines().find_map(|line| line.strip_prefix(files)?.parse().ok());
            Some(limit.saturating_sub(usage.saturating_sub(files.unwrap_or(0))))
        });
        left.min()
    }

    pub fn quotas(&self, root: &Root) -> Vec<GroupQuota> {
        self.upward()
            .filter_map(|path| {
                let quota = GroupQuota::read(root, &format!("{}{path}", self.base), self.is_v2)?;
                let group = name_of(path).to_owned();
                Some(GroupQuota { group, is_read_only: self.is_closed(root, &quota.file), ..quota })
            })
            .collect()
    }
}
