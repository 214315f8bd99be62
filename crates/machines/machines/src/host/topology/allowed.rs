//! The CPUs and NUMA nodes that control groups (cgroups(7), cpuset(7)) allow to a process.

use super::tree::FileTree;
use seatmap_os::CpuSet;

#[derive(Default)]
pub struct Allowed {
    pub cpus: Option<CpuSet>,
    pub nodes: Option<CpuSet>,
}

#[derive(Clone, Copy)]
enum Flavour {
    V2,
    V1,
    Cpuset,
}

impl Flavour {
    fn file(self, what: &str) -> String {
        match self {
            Flavour::V2 => format!("cpuset.{what}.effective"),
            Flavour::V1 => format!("cpuset.{what}"),
            Flavour::Cpuset => what.to_owned(),
        }
    }
}

impl Allowed {
    pub fn read(tree: &FileTree) -> Self {
        let found = mounted(tree).and_then(|mount| Some((mount, group(tree)?)));
        let Some(((flavour, mount), group)) = found else { return Allowed::default() };
        Allowed {
            cpus: restricted(tree, flavour, &mount, &group, "cpus"),
            nodes: restricted(tree, flavour, &mount, &group, "mems"),
        }
    }
}

/// The set of a group; in version 2, a group without the controller has the set of the nearest
/// group above with it.
fn restricted(
    tree: &FileTree,
    flavour: Flavour,
    mount: &str,
    group: &str,
    what: &str,
) -> Option<CpuSet> {
    let above =
        std::iter::successors(Some(group), |group| group.rsplit_once('/').map(|(above, _)| above));
    let groups = if matches!(flavour, Flavour::V2) { usize::MAX } else { 1 };
    let text = above
        .take(groups)
        .find_map(|group| tree.text(&format!("{mount}{group}/{}", flavour.file(what))));
    CpuSet::of_list(&text?)
}

/// The mount point of cpusets: one of the usual ones, else the one in `/proc/mounts`.
fn mounted(tree: &FileTree) -> Option<(Flavour, String)> {
    let usual = [
        // hwloc's order; a computer may mount more than one of them.
        (Flavour::V2, "/sys/fs/cgroup", "cpuset.cpus.effective"),
        (Flavour::V1, "/sys/fs/cgroup/cpuset", "cpuset.cpus"),
        (Flavour::Cpuset, "/dev/cpuset", "cpus"),
    ];
    let usual =
        usual.into_iter().find(|(_, mount, file)| tree.text(&format!("{mount}/{file}")).is_some());
    if let Some((flavour, mount, _)) = usual {
        return Some((flavour, mount.to_owned()));
    }
    tree.text("proc/mounts")?.lines().find_map(|line| mount(tree, line))
}

fn mount(tree: &FileTree, line: &str) -> Option<(Flavour, String)> {
    let mut fields = line.split(' ').skip(1);
    let folder = fields.next()?;
    let kind = fields.next()?;
    let options = fields.next()?;
    // The kernel writes a space as \040.
    let folder = folder.replace("\\040", " ");
    let flavour = match kind {
        "cgroup2" => {
            let controllers = tree.text(&format!("{folder}/cgroup.controllers"))?;
            let controls_cpusets = controllers.split_whitespace().any(|name| name == "cpuset");
            controls_cpusets.then_some(Flavour::V2)
        }
        "cpuset" => Some(Flavour::Cpuset),
        "cgroup" if has_option(options, "cpuset") && has_option(options, "noprefix") => {
            Some(Flavour::Cpuset)
        }
        "cgroup" if has_option(options, "cpuset") => Some(Flavour::V1),
        _ => None,
    };
    flavour.map(|flavour| (flavour, folder))
}

fn has_option(options: &str, option: &str) -> bool {
    options.split(',').any(|other| other == option)
}

fn group(tree: &FileTree) -> Option<String> {
    let group = tree.text("proc/self/cpuset").filter(|group| !group.is_empty()).or_else(|| {
        let groups = tree.text("proc/self/cgroup")?;
        groups.lines().find_map(group_of).map(str::to_owned)
    })?;
    // The root is `/`, and its files are right below the mount.
    let group = group.lines().next()?.trim_end_matches('/').to_owned();
    (group.is_empty() || group.starts_with('/')).then_some(group)
}

/// The group in a line of `/proc/self/cgroup`, `NUMBER:CONTROLLERS:GROUP`, if the line is about
/// cpusets.
fn group_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, group) = rest.split_once(':')?;
    (controllers.is_empty() || controllers == "cpuset").then_some(group)
}

#[cfg(test)]
mod tests {
    use super::super::trees_for_tests::tree_of;
    use super::*;

    fn cpus(files: &[(&str, &str)]) -> Option<Vec<u32>> {
        Allowed::read(&tree_of(files)).cpus.map(|set| set.iter().collect())
    }

    #[test]
    fn each_cgroup_layout_is_found_at_its_usual_path() {
        let me = ("proc/self/cgroup", "4:memory:/m\n3:cpuset:/job/1\n");
        let v1 = [
            me,
            ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-7"),
            ("sys/fs/cgroup/cpuset/job/1/cpuset.cpus", "2-3"),
        ];
        assert_eq!(cpus(&v1), Some(vec![2, 3]));
        let me = ("proc/self/cpuset", "/a\n");
        assert_eq!(
            cpus(&[me, ("dev/cpuset/cpus", "0-7"), ("dev/cpuset/a/cpus", "5")]),
            Some(vec![5])
        );
        let me = ("proc/self/cgroup", "0::/\n");
        assert_eq!(cpus(&[me, ("sys/fs/cgroup/cpuset.cpus.effective", "1,3\n")]), Some(vec![1, 3]));
    }

    #[test]
    fn group_without_controller_inherits_from_above() {
        let files = [
            ("proc/self/cgroup", "0::/a/b/c\n"),
            ("sys/fs/cgroup/cpuset.cpus.effective", "0-7"),
            ("sys/fs/cgroup/a/cpuset.cpus.effective", "4-7"),
        ];
        assert_eq!(cpus(&files), Some(vec![4, 5, 6, 7]));
    }

    #[test]
    fn unusual_mount_points_are_found() {
        let mounts = "x /cgroup/memory cgroup rw,memory 0 0\nx /my\\040groups cgroup2 rw 0 0\n";
        let files = [
            ("proc/mounts", mounts),
            ("proc/self/cgroup", "0::/job\n"),
            ("my groups/cgroup.controllers", "cpu cpuset io\n"),
            ("my groups/job/cpuset.cpus.effective", "0"),
        ];
        assert_eq!(cpus(&files), Some(vec![0]));
        let noprefix = [
            ("proc/mounts", "x /c cgroup rw,cpuset,noprefix 0 0\n"),
            ("proc/self/cpuset", "/job"),
            ("c/job/cpus", "6-7"),
        ];
        assert_eq!(cpus(&noprefix), Some(vec![6, 7]));
    }

    #[test]
    fn unreadable_files_restrict_nothing() {
        assert_eq!(cpus(&[]), None);
        assert_eq!(
            cpus(&[("sys/fs/cgroup/cpuset.cpus.effective", "all"), ("proc/self/cgroup", "0::/\n")]),
            None
        );
        assert_eq!(cpus(&[("dev/cpuset/cpus", "0"), ("proc/self/cpuset", "../..")]), None);
    }
}
