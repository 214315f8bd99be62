//! Control groups as they limit living programs: the CPUs, nodes and CPU time of a group, in either version, and the
//! processes below it (cgroups(7), Documentation/admin-guide/cgroup-v2.rst).

use crate::Tid;
use crate::mounts;
use crate::root::Root;

/// One mounted hierarchy of control groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hierarchy {
    /// The folder where it is mounted.
    folder: String,
    /// The group that is mounted there; `/` outside containers.
    root: String,
    /// The controllers of a hierarchy of version 1, and its name; `None` for version 2.
    controllers: Option<Vec<String>>,
}

/// The mounted hierarchies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchies(Vec<Hierarchy>);

/// The groups of a process that limit its CPUs, as folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Groups {
    /// The group that says which CPUs and nodes; `None` where that hierarchy is not mounted.
    cpuset: Option<Found>,
    /// The group that says how much CPU time.
    time: Option<Found>,
}

/// A group's folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Found {
    /// Where its hierarchy is mounted.
    base: String,
    /// Its path below that; empty for the root.
    path: String,
    is_v2: bool,
}

/// The limits of a group, with those of the groups above it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Its path below the mounted hierarchy: of CPUs, or of CPU time where that one is not the root.
    pub path: String,
    /// The CPUs that its members may use, as a list.
    pub cpus: Option<String>,
    /// The NUMA nodes that their memory may come from, as a list.
    pub nodes: Option<String>,
    /// The CPU time that its members may take, in CPUs; `None` means without a limit.
    pub quota_cpus: Option<f64>,
    /// The number of periods in which a quota of it or of a group above was used up; `None` without a quota.
    pub throttled: Option<u64>,
}

impl Hierarchies {
    /// Reads them from the mounts.
    #[must_use]
    pub fn read(root: &Root) -> Self {
        let hierarchy = |mount: mounts::Mount| {
            let controllers = match mount.kind.as_str() {
                "cgroup" => Some(mount.options),
                "cgroup2" => None,
                _ => return None,
            };
            Some(Hierarchy { folder: mount.folder, root: mount.root, controllers })
        };
        Hierarchies(mounts::all(root).into_iter().filter_map(hierarchy).collect())
    }

    /// The groups that limit a process, from the text of `/proc/PID/cgroup`.
    #[must_use]
    pub fn groups(&self, membership: &str) -> Groups {
        Groups { cpuset: self.found(membership, "cpuset"), time: self.found(membership, "cpu") }
    }

    /// The group of a process in the hierarchy of a controller: of version 1 where it is mounted there.
    fn found(&self, membership: &str, controller: &str) -> Option<Found> {
        let controls = |hierarchy: &&Hierarchy| {
            hierarchy.controllers.as_ref().is_some_and(|all| all.iter().any(|one| one == controller))
        };
        let v2 = || self.0.iter().find(|hierarchy| hierarchy.controllers.is_none());
        let hierarchy = self.0.iter().find(controls).or_else(v2)?;
        let is_v2 = hierarchy.controllers.is_none();
        let path = membership.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            let fits = if is_v2 { controllers.is_empty() } else { controllers.split(',').any(|one| one == controller) };
            fits.then_some(path)
        })?;
        Some(Found { base: hierarchy.folder.clone(), path: hierarchy.below(path)?, is_v2 })
    }

    /// The limits of these groups.
    #[must_use]
    pub fn limits(root: &Root, groups: &Groups) -> Limits {
        let (quota_cpus, throttled) = groups.time.as_ref().map(|found| found.quota(root)).unwrap_or_default();
        let inherited = |names: &[&str]| groups.cpuset.as_ref()?.inherited(root, names);
        let paths = [&groups.cpuset, &groups.time].into_iter().flatten().map(|found| found.path.clone());
        Limits {
            path: paths.filter(|path| !path.is_empty()).chain(["/".to_owned()]).next().unwrap_or_default(),
            cpus: inherited(&["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"]),
            nodes: inherited(&["cpuset.mems.effective", "cpuset.effective_mems", "cpuset.mems"]),
            quota_cpus,
            throttled,
        }
    }

    /// The folders of a group that a person names: a folder below a mounted hierarchy, or a path that one or several
    /// hierarchies have.
    #[must_use]
    pub fn folders(&self, root: &Root, path: &str) -> Vec<String> {
        let path = path.trim_end_matches('/');
        let is_mounted = |hierarchy: &Hierarchy| is_below(path, &hierarchy.folder);
        if self.0.iter().any(is_mounted) && root.has(path) {
            return vec![path.to_owned()];
        }
        let spelled = format!("/{}", path.trim_start_matches('/'));
        let in_one = |hierarchy: &Hierarchy| {
            let below = hierarchy.below(&spelled).filter(|below| !below.is_empty() || path.is_empty());
            let plain = format!("{}{}", hierarchy.folder, spelled.trim_end_matches('/'));
            let folder = below.map(|below| format!("{}{below}", hierarchy.folder));
            folder.into_iter().chain([plain]).find(|folder| root.has(&format!("{folder}/cgroup.procs")))
        };
        let mut found: Vec<String> = self.0.iter().filter_map(in_one).collect();
        found.dedup();
        found
    }

    /// Every group of every hierarchy, by its folder.
    #[must_use]
    pub fn all(&self, root: &Root) -> Vec<String> {
        let mut found: Vec<String> = self.0.iter().map(|hierarchy| hierarchy.folder.clone()).collect();
        found.sort_unstable();
        found.dedup();
        let mut at = 0;
        while at < found.len() {
            let inner = root.folders(&found[at]).into_iter().map(|name| format!("{}/{name}", found[at]));
            let inner: Vec<String> = inner.filter(|folder| root.has(&format!("{folder}/cgroup.procs"))).collect();
            found.extend(inner);
            at += 1;
        }
        found
    }
}

/// Whether a folder is another one or below it.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Hierarchy {
    /// The path of a group below the folder where the hierarchy is mounted; `None` for a group outside of what a
    /// container shows.
    fn below(&self, path: &str) -> Option<String> {
        let root = self.root.trim_end_matches('/');
        let is_outside = path.split('/').any(|part| part == "..");
        let below = path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        (!is_outside).then(|| below.trim_end_matches('/').to_owned())
    }
}

impl Found {
    /// Its folder and those of the groups above it, to the mounted root.
    fn upward(&self) -> impl Iterator<Item = String> {
        let mut next = Some(self.path.clone());
        let base = self.base.clone();
        std::iter::from_fn(move || {
            let path = next.take()?;
            next = path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
            Some(format!("{base}{path}"))
        })
    }

    /// The first text of these files that a group here or above has; a group without the controller has no file.
    fn inherited(&self, root: &Root, names: &[&str]) -> Option<String> {
        let of = |folder: String| {
            names.iter().find_map(|name| root.read(&format!("{folder}/{name}")).ok()).filter(|text| !text.is_empty())
        };
        self.upward().find_map(of)
    }

    /// The tightest quota here and above, in CPUs, and how many periods used up theirs.
    fn quota(&self, root: &Root) -> (Option<f64>, Option<u64>) {
        let mut tightest: Option<f64> = None;
        let mut throttled = None;
        for folder in self.upward() {
            let Some(cpus) = quota_of(root, &folder, self.is_v2) else { continue };
            tightest = Some(tightest.map_or(cpus, |other| other.min(cpus)));
            let stat = root.read(&format!("{folder}/cpu.stat")).unwrap_or_default();
            let periods = stat.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse::<u64>().ok());
            throttled = periods.map(|periods| periods.saturating_add(throttled.unwrap_or(0))).or(throttled);
        }
        (tightest, throttled)
    }
}

/// The quota of one group, in CPUs: `cpu.max` of version 2, two files in version 1, whose quota is -1 without a limit.
fn quota_of(root: &Root, folder: &str, is_v2: bool) -> Option<f64> {
    let read = |name: &str| root.read(&format!("{folder}/{name}")).ok();
    let text = match is_v2 {
        true => read("cpu.max")?,
        false => format!("{} {}", read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
    };
    let mut figures = text.split_whitespace().map(|figure| figure.parse::<u64>().ok());
    let (quota_us, period_us) = (figures.next()??, figures.next()??);
    (period_us > 0).then(|| quota_us as f64 / period_us as f64)
}

/// The members of a group and of all groups below it, ascending: processes, or single threads where a group of version
/// 2 holds threads.
#[must_use]
pub fn members_below(root: &Root, folder: &str) -> Vec<Tid> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let list =
            ["cgroup.procs", "cgroup.threads"].iter().find_map(|name| root.read(&format!("{folder}/{name}")).ok());
        found.extend(list.unwrap_or_default().lines().filter_map(|line| line.trim().parse::<Tid>().ok()));
        folders.extend(root.folders(&folder).into_iter().map(|name| format!("{folder}/{name}")));
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn computer(mounts: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        for (path, text) in files.iter().chain(&[("/proc/self/mountinfo", mounts)]) {
            std::fs::create_dir_all(root.path(path).parent().unwrap()).unwrap();
            std::fs::write(root.path(path), text).unwrap();
        }
        (folder, root)
    }

    const V2: &str = "2 1 0:3 / /cg rw - cgroup2 cgroup2 rw\n";
    const V1: &str = "2 1 0:3 /box /set rw - cgroup cgroup rw,cpuset\n3 1 0:4 /box /cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
        4 1 0:5 / /cg rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn limits_come_from_the_group_and_those_above() {
        let (_folder, root) = computer(
            V2,
            &[
                ("/cg/a/cpuset.cpus.effective", "0-3\n"),
                ("/cg/a/b/cpu.max", "150000 100000\n"),
                ("/cg/a/b/cpu.stat", "usage_usec 9\nnr_throttled 4\n"),
                ("/cg/a/cpu.max", "200000 100000\n"),
                ("/cg/a/cpu.stat", "nr_throttled 3\n"),
                ("/cg/a/b/c/cpu.max", "max 100000\n"),
            ],
        );
        let groups = Hierarchies::read(&root).groups("0::/a/b/c\n");
        let wanted = Limits {
            path: "/a/b/c".into(),
            cpus: Some("0-3".into()),
            nodes: None,
            quota_cpus: Some(1.5),
            throttled: Some(7),
        };
        assert_eq!(Hierarchies::limits(&root, &groups), wanted);
    }

    #[test]
    fn version_1_has_a_hierarchy_for_each_and_a_container_its_own_root() {
        let (_folder, root) = computer(
            V1,
            &[
                ("/set/in/cpuset.effective_cpus", "1"),
                ("/set/in/cpuset.mems", "0"),
                ("/cpu/other/cpu.cfs_quota_us", "50000"),
                ("/cpu/other/cpu.cfs_period_us", "100000"),
                ("/cpu/cpu.cfs_quota_us", "-1"),
                ("/cpu/cpu.cfs_period_us", "100000"),
            ],
        );
        let hierarchies = Hierarchies::read(&root);
        let groups = hierarchies.groups("9:cpuset:/box/in\n8:cpu,cpuacct:/box/other\n0::/\n");
        let limits = Hierarchies::limits(&root, &groups);
        assert_eq!(
            (limits.cpus.as_deref(), limits.nodes.as_deref(), limits.path.as_str()),
            (Some("1"), Some("0"), "/in")
        );
        assert_eq!((limits.quota_cpus, limits.throttled), (Some(0.5), None));
        let outside = hierarchies.groups("9:cpuset:/../x\n8:cpu,cpuacct:/boxes\n");
        assert_eq!(outside, Groups::default());
        assert_eq!(Hierarchies::limits(&root, &outside), Limits { path: "/".into(), ..Limits::default() });
    }

    #[test]
    fn groups_are_found_by_path_and_walked() {
        let files =
            [("/cg/cgroup.procs", "1\n"), ("/cg/a/cgroup.procs", "7\n9\n"), ("/cg/a/b.service/cgroup.procs", "8\n")];
        let (_folder, root) = computer(V2, &files);
        let hierarchies = Hierarchies::read(&root);
        for path in ["a", "/a", "/cg/a", "/cg/a/"] {
            assert_eq!(hierarchies.folders(&root, path), ["/cg/a"], "{path}");
        }
        assert_eq!(
            (hierarchies.folders(&root, "/"), hierarchies.folders(&root, "none").len()),
            (vec!["/cg".into()], 0)
        );
        assert_eq!(hierarchies.all(&root), ["/cg", "/cg/a", "/cg/a/b.service"]);
        assert_eq!((members_below(&root, "/cg/a"), members_below(&root, "/none").len()), (vec![7, 8, 9], 0));
    }

    #[test]
    fn this_process_has_groups() {
        let root = Root::new("/");
        let hierarchies = Hierarchies::read(&root);
        if hierarchies.0.is_empty() {
            return seatmap_needs::skipped!("no control groups are mounted");
        }
        let groups = hierarchies.groups(&root.read("/proc/self/cgroup").unwrap());
        assert!(Hierarchies::limits(&root, &groups).path.starts_with('/'));
    }

    proptest! {
        #[test]
        fn any_membership_will_do(text: String, path: String) {
            let (_folder, root) = computer(V1, &[]);
            let hierarchies = Hierarchies::read(&root);
            let _ = Hierarchies::limits(&root, &hierarchies.groups(&format!("9:cpuset:{path}\n{text}")));
        }
    }
}
