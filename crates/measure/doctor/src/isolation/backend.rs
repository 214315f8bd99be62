//! Whether a cpuset can keep others away from a CPU.

use super::finding;
use super::pinned::last_free;
use super::text::{read, shown};
use crate::{Diagnosis, Level};
use std::io;
use std::path::{Path, PathBuf};

/// What can keep others out, from the best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A cgroup v2 partition of type `isolated`: nobody else, and no load balancing.
    V2Isolated {
        /// Whether one was made and removed again.
        is_tried: bool,
    },
    /// A cgroup v1 cpuset with `cpu_exclusive`: nobody else once the others have been moved.
    V1Exclusive,
    /// Only the affinity of one's own threads; everybody else may come. With the reason why it is no more.
    Affinity(String),
}

/// Tries them on one of these CPUs, in a control group that is removed again; a v2 partition only on a CPU that nobody is
/// pinned to, and by a kernel that then leaves threads their masks. Hold the [`super::lock`].
#[must_use]
pub fn probe(cpus: &[u32]) -> Backend {
    let mounts = read("/proc/self/mounts").unwrap_or_default();
    let (v2, v1) = (mounted(&mounts, is_v2), mounted(&mounts, is_v1));
    let is_tried = keeps_masks(&read("/proc/sys/kernel/osrelease").unwrap_or_default());
    let reason = |name: &'static str| move |error: io::Error| format!("{name}: {error}");
    let absent = |name: &str| format!("{name}: not mounted");
    let v2 = v2.ok_or_else(|| absent("v2")).and_then(|root| try_v2(&root, cpus, is_tried).map_err(reason("v2")));
    let Err(v2) = v2 else { return Backend::V2Isolated { is_tried } };
    let v1 = v1.ok_or_else(|| absent("v1")).and_then(|root| try_v1(&root, cpus).map_err(reason("v1")));
    v1.map_or_else(|v1| Backend::Affinity(format!("{v2}; {v1}")), |()| Backend::V1Exclusive)
}

/// Whether threads keep the CPU masks that they chose when a partition comes or goes: since Linux 6.2 (8f9ea86fdf99,
/// "sched: Always preserve the user requested cpumask").
fn keeps_masks(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 2)
}

impl Backend {
    /// The word used in reports.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Backend::V2Isolated { .. } => "v2-partition",
            Backend::V1Exclusive => "v1-exclusive",
            Backend::Affinity(_) => "affinity",
        }
    }

    pub(super) fn diagnosis(&self, cpus: &[u32]) -> Diagnosis {
        match self {
            Backend::V2Isolated { is_tried: true } => {
                finding("cpuset backend", Level::Ok, "v2-partition: one CPU was isolated and given back", None)
            }
            Backend::V2Isolated { is_tried: false } => {
                let found =
                    "v2-partition: to be had, and not tried: before Linux 6.2 threads then lose their own CPU masks";
                finding("cpuset backend", Level::Ok, found, None)
            }
            Backend::V1Exclusive => {
                let found = "v1-exclusive: one CPU was taken and given back; v2 partitions cannot be had here";
                finding("cpuset backend", Level::Ok, found, None)
            }
            Backend::Affinity(reason) => {
                let remedy =
                    "as root, outside a container, for CPUs that no cell has (seatmap cell list); or isolcpus= on the \
                              kernel's command line"
                        .to_owned();
                let found = format!("affinity only: others may come to CPUs {} ({reason})", shown(cpus));
                finding("cpuset backend", Level::Fix, found, Some(remedy))
            }
        }
    }
}

/// Where the first file system of a kind is mounted (proc_pid_mounts(5)).
fn mounted(mounts: &str, wanted: fn(&str, &str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, folder, kind, options, ..] = fields[..] else { return None };
        wanted(kind, options).then(|| PathBuf::from(folder))
    })
}

fn is_v2(kind: &str, _: &str) -> bool {
    kind == "cgroup2"
}

fn is_v1(kind: &str, options: &str) -> bool {
    kind == "cgroup" && options.split(',').any(|option| option == "cpuset")
}

/// A control group that goes when it is dropped.
struct Throwaway(PathBuf);

impl Throwaway {
    fn new(root: &Path) -> io::Result<Self> {
        let folder = root.join(format!("seatmap-doctor-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        Ok(Throwaway(folder))
    }

    /// Writes a setting and reads it back.
    fn set(&self, file: &str, value: &str) -> io::Result<String> {
        let path = self.0.join(file);
        std::fs::write(&path, value).map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
        std::fs::read_to_string(path).map(|text| text.trim().to_owned())
    }

    /// The same, where it must come back as it was.
    fn keep(&self, file: &str, value: &str) -> io::Result<()> {
        let got = self.set(file, value)?;
        if got == value { Ok(()) } else { Err(io::Error::other(format!("{file} became '{got}'"))) }
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        // Nothing was put in it, so that the kernel has no reason to keep it.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The controller, lent to the root's children while this lives, where it was not before.
struct Lent(Option<PathBuf>);

impl Lent {
    fn new(root: &Path) -> io::Result<Self> {
        let has = |file: &str| read(root.join(file)).is_some_and(|text| text.split(' ').any(|name| name == "cpuset"));
        if !has("cgroup.controllers") {
            return Err(io::Error::other("has no cpuset controller"));
        }
        let control = root.join("cgroup.subtree_control");
        if has("cgroup.subtree_control") {
            return Ok(Lent(None));
        }
        std::fs::write(&control, "+cpuset")?;
        Ok(Lent(Some(control)))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            // Refused only where somebody has begun to use it meanwhile, who then needs it.
            let _ = std::fs::write(control, "-cpuset");
        }
    }
}

/// A partition of one CPU; it must say that it is one. If it is not to be tried, a group that could become one.
fn try_v2(root: &Path, cpus: &[u32], is_tried: bool) -> io::Result<()> {
    let _lent = Lent::new(root)?;
    let cpu = last_free(cpus).ok_or_else(|| io::Error::other("not tried, since threads are pinned to each CPU"))?;
    let group = Throwaway::new(root)?;
    group.keep("cpuset.cpus", &cpu.to_string())?;
    if is_tried {
        group.keep("cpuset.cpus.partition", "isolated")
    } else {
        group.keep("cpuset.cpus.partition", "member")
    }
}

/// A cpuset of one CPU that no sibling may share. Memory comes from the root's first node.
fn try_v1(root: &Path, cpus: &[u32]) -> io::Result<()> {
    let cpu = cpus.last().ok_or_else(|| io::Error::other("no CPU was named"))?;
    let prefix = if root.join("cpuset.cpus").exists() { "cpuset." } else { "" };
    let group = Throwaway::new(root)?;
    group.set(&format!("{prefix}mems"), &read(root.join(format!("{prefix}mems"))).unwrap_or_default())?;
    group.keep(&format!("{prefix}cpus"), &cpu.to_string())?;
    group.keep(&format!("{prefix}cpu_exclusive"), "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
";

    #[test]
    fn old_kernels_are_known_by_their_release() {
        assert!(["6.2.0", "6.12.117+deb12-cloud-amd64", "7.0-rc1", "10.0"].into_iter().all(keeps_masks));
        assert!(!["6.1.0-56-cloud-amd64", "5.15.0", "", "x"].into_iter().any(keeps_masks));
    }

    #[test]
    fn hierarchies_are_found_where_they_are_mounted() {
        assert_eq!(mounted(MOUNTS, is_v1), Some("/sys/fs/cgroup/cpuset".into()));
        assert_eq!(mounted(MOUNTS, is_v2), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(mounted("", is_v2), None);
    }

    #[test]
    fn a_cpu_that_a_cell_has_may_be_why() {
        let told = Backend::Affinity("v1: Invalid argument".into()).diagnosis(&[1]);
        assert!(told.remedy.is_some_and(|remedy| remedy.contains("that no cell has")));
    }

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    #[test]
    fn a_controller_is_lent_only_where_it_is_and_for_as_long_as_needed() {
        let without = folder(&[("cgroup.controllers", "cpu hugetlb\n"), ("cgroup.subtree_control", "")]);
        assert!(Lent::new(without.path()).is_err());
        let lent = |before: &str| {
            let root = folder(&[("cgroup.controllers", "cpuset cpu\n"), ("cgroup.subtree_control", before)]);
            let control = || std::fs::read_to_string(root.path().join("cgroup.subtree_control")).unwrap();
            let lent = Lent::new(root.path()).unwrap();
            let during = control();
            drop(lent);
            (during, control())
        };
        assert_eq!(lent("cpu\n"), ("+cpuset".into(), "-cpuset".into()));
        assert_eq!(lent("cpu cpuset\n"), ("cpu cpuset\n".into(), "cpu cpuset\n".into()));
    }

    #[test]
    fn a_setting_that_comes_back_otherwise_did_not_hold() {
        let root = folder(&[]);
        let group = Throwaway::new(root.path()).unwrap();
        group.keep("same", "1").unwrap();
        std::os::unix::fs::symlink("/dev/null", group.0.join("other")).unwrap();
        assert_eq!(group.keep("other", "isolated").unwrap_err().to_string(), "other became ''");
        assert!(group.keep("no/such/file", "1").is_err());
    }

    #[test]
    fn an_attempt_leaves_no_group_behind() {
        let root = tempfile::tempdir().unwrap();
        drop(Throwaway::new(root.path()).unwrap());
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
