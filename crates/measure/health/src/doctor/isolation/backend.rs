//! Whether a cpuset can keep other threads off a CPU.

use super::pinned::last_free;
use crate::doctor::diagnosis::{fix, info, ok};
use crate::doctor::{Diagnosis, Remedy};
use seatmap_cell::settings_lock::SettingsLock;
use seatmap_os::isolated;
use seatmap_os::kernel::{SchedulerSettings, version};
use seatmap_os::layout::CpusetMounts;
use seatmap_os::rights;
use seatmap_os::{CpuList, CpuSet, Root};
use std::io;
use std::path::{Path, PathBuf};

/// Mechanisms that keep other threads off CPUs, the best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IsolationBackend {
    /// A cgroup v2 partition of type `isolated`: no other threads and no load balancing.
    V2Isolated(IsolationEvidence),
    /// A cgroup v1 cpuset with `cpu_exclusive`: no other threads, once the existing ones have been
    /// moved.
    V1Exclusive(IsolationEvidence),
    /// Contains the reason.
    Affinity(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationEvidence {
    Tried,
    /// A partition is possible but was not created: on this kernel threads would lose their masks.
    Spared,
    /// The hierarchy is mounted; trials were not permitted.
    Read,
}

impl IsolationBackend {
    /// With the lock, tries them in a temporary control group; a v2 partition only on a CPU without
    /// pinned threads, and only if the kernel preserves masks. Without it, reads the mounts.
    pub fn examine(cpus: &CpuList, held: Option<&SettingsLock>) -> Self {
        let layout = CpusetMounts::read(&Root::new("/"));
        let v2 = layout.v2.ok_or("v2: not mounted with the cpuset controller".to_owned());
        let v1 = layout.v1.ok_or("v1: not mounted".to_owned());
        match held {
            None => IsolationBackend::by(
                v2.map(|_| IsolationEvidence::Read),
                v1.map(|_| IsolationEvidence::Read),
            ),
            Some(held) => IsolationBackend::by(
                v2.and_then(|root| {
                    try_v2(held, Path::new(&root), &cpus.0).map_err(|error| format!("v2: {error}"))
                }),
                v1.and_then(|root| {
                    try_v1(held, Path::new(&root), &cpus.0).map_err(|error| format!("v1: {error}"))
                }),
            ),
        }
    }

    fn by(v2: Result<IsolationEvidence, String>, v1: Result<IsolationEvidence, String>) -> Self {
        match (v2, v1) {
            (Ok(evidence), _) => IsolationBackend::V2Isolated(evidence),
            (Err(_), Ok(evidence)) => IsolationBackend::V1Exclusive(evidence),
            (Err(v2), Err(v1)) => IsolationBackend::Affinity(format!("{v2}; {v1}")),
        }
    }

    pub fn is_known(&self) -> bool {
        !matches!(
            self,
            IsolationBackend::V2Isolated(IsolationEvidence::Read)
                | IsolationBackend::V1Exclusive(IsolationEvidence::Read)
        )
    }

    pub fn diagnosis(&self, cpus: &CpuList) -> Diagnosis {
        let subject = "cpuset backend";
        let found = match self {
            IsolationBackend::V2Isolated(IsolationEvidence::Tried) => {
                "v2-partition: one CPU was isolated and restored".to_owned()
            }
            IsolationBackend::V2Isolated(IsolationEvidence::Spared) => {
                "v2-partition: available; not tried, because threads would lose CPU masks set by \
                 isolcpus= or, before Linux 6.2, by themselves"
                    .to_owned()
            }
            IsolationBackend::V1Exclusive(IsolationEvidence::Tried | IsolationEvidence::Spared) => {
                "v1-exclusive: one CPU was reserved and restored; v2 partitions are not available"
                    .to_owned()
            }
            IsolationBackend::V2Isolated(IsolationEvidence::Read) => {
                return unproven("v2-partition");
            }
            IsolationBackend::V1Exclusive(IsolationEvidence::Read) => {
                return unproven("v1-exclusive");
            }
            IsolationBackend::Affinity(reason) => {
                let remedy = format!(
                    "run it {}, outside a container, for CPUs in no cell (seatmap cell list); or \
                     use isolcpus= on the kernel's command line",
                    rights::as_root()
                );
                let found =
                    format!("affinity only: other threads may run on {} ({reason})", cpus.named());
                return fix(subject, found, Remedy::advice(remedy));
            }
        };
        ok(subject, found)
    }
}

fn unproven(word: &str) -> Diagnosis {
    let found = format!("{word}: mounted; whether the kernel grants it was not tried (use --try)");
    info("cpuset backend", found)
}

/// Whether threads keep their masks. Since Linux 6.2 the kernel keeps masks that threads chose
/// (8f9ea86fdf99, "sched: Always preserve the user requested cpumask"), but not those from
/// `isolcpus=`: threads may then run on the isolated CPUs, too.
fn keeps_masks(release: &str, isolated: &CpuSet) -> bool {
    version(release).is_some_and(|version| version >= (6, 2)) && isolated.is_empty()
}

fn text(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path).map(|text| text.trim().to_owned())
}

struct Throwaway(PathBuf);

impl Throwaway {
    fn new(root: &Path) -> io::Result<Self> {
        // The process ID separates simultaneous examinations.
        let folder = root.join(format!("seatmap-doctor-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        Ok(Throwaway(folder))
    }

    fn set(&self, file: &str, value: &str) -> io::Result<String> {
        let path = self.0.join(file);
        std::fs::write(&path, value)
            .map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
        text(&path)
    }

    fn keep(&self, file: &str, value: &str) -> io::Result<()> {
        // A refused partition reads `isolated invalid (...)` (cgroup-v2.rst).
        let got = self.set(file, value)?;
        if got == value { Ok(()) } else { Err(io::Error::other(format!("{file} became '{got}'"))) }
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        // The group never had a process, so the kernel can remove it.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Enables the controller while this lives.
struct Lent(Option<PathBuf>);

impl Lent {
    fn new(root: &Path) -> io::Result<Self> {
        if !has_cpuset(&root.join("cgroup.controllers")) {
            return Err(io::Error::other("no cpuset controller"));
        }
        let control = root.join("cgroup.subtree_control");
        if has_cpuset(&control) {
            return Ok(Lent(None));
        }
        std::fs::write(&control, "+cpuset")?;
        Ok(Lent(Some(control)))
    }
}

fn has_cpuset(file: &Path) -> bool {
    text(file).is_ok_and(|text| text.split(' ').any(|name| name == "cpuset"))
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            // The kernel refuses this only if another process now uses the controller.
            let _ = std::fs::write(control, "-cpuset");
        }
    }
}

/// If the kernel does not preserve masks, only a group that could become a partition.
fn try_v2(_held: &SettingsLock, root: &Path, cpus: &[u32]) -> io::Result<IsolationEvidence> {
    // Dropped last, after the group that uses the controller.
    let _lent = Lent::new(root)?;
    let cpu = last_free(cpus)
        .ok_or_else(|| io::Error::other("not tried, because threads are pinned to each CPU"))?;
    let host = Root::new("/");
    let is_safe = keeps_masks(&SchedulerSettings::read(&host).release, &isolated::at_boot(&host));
    let (partition, evidence) = if is_safe {
        ("isolated", IsolationEvidence::Tried)
    } else {
        ("member", IsolationEvidence::Spared)
    };
    let group = Throwaway::new(root)?;
    group.keep("cpuset.cpus", &cpu.to_string())?;
    group.keep("cpuset.cpus.partition", partition)?;
    Ok(evidence)
}

/// With the memory of the root's first node.
fn try_v1(_held: &SettingsLock, root: &Path, cpus: &[u32]) -> io::Result<IsolationEvidence> {
    let cpu = cpus.last().ok_or_else(|| io::Error::other("no CPU was named"))?;
    // Mounted with `noprefix`, the files have no prefix.
    let prefix = if root.join("cpuset.cpus").exists() { "cpuset." } else { "" };
    let group = Throwaway::new(root)?;
    group.set(&format!("{prefix}mems"), &text(&root.join(format!("{prefix}mems")))?)?;
    group.keep(&format!("{prefix}cpus"), &cpu.to_string())?;
    group.keep(&format!("{prefix}cpu_exclusive"), "1")?;
    Ok(IsolationEvidence::Tried)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    #[test]
    fn kernels_that_drop_masks_are_recognised_by_release() {
        let keeps = |release: &str| keeps_masks(release, &CpuSet::default());
        assert!(["6.2.0", "6.12.117+deb12-cloud-amd64", "7.0-rc1", "10.0"].into_iter().all(keeps));
        assert!(!["6.1.0-56-cloud-amd64", "5.15.0", "", "x"].into_iter().any(keeps));
    }

    /// On a computer with `isolcpus=8-31`, the first process had CPUs 0 to 63 after a partition.
    #[test]
    fn isolcpus_masks_are_never_kept() {
        assert!(!keeps_masks("6.12.117+deb12-rt-amd64", &CpuSet::of_list("8-31,40-63").unwrap()));
    }

    #[test]
    fn best_backend_is_first_and_untried_ones_are_marked() {
        let yes = |evidence| Ok(evidence);
        let no = |why: &str| Err(why.to_owned());
        let best =
            IsolationBackend::by(yes(IsolationEvidence::Tried), yes(IsolationEvidence::Tried));
        assert_eq!(
            (best.diagnosis(&CpuList(vec![1])).level, best.is_known()),
            (Severity::Ok, true)
        );
        let read = IsolationBackend::by(no("v2: not mounted"), yes(IsolationEvidence::Read));
        assert_eq!(
            (read.diagnosis(&CpuList(vec![1])).level, read.is_known()),
            (Severity::Info, false)
        );
        assert!(
            read.diagnosis(&CpuList(vec![1])).found.starts_with("v1-exclusive")
                && read.diagnosis(&CpuList(vec![1])).found.contains("not tried (use --try)")
        );
        assert_eq!(
            IsolationBackend::by(no("a"), no("b")),
            IsolationBackend::Affinity("a; b".into())
        );
    }

    #[test]
    fn remedy_suggests_cpus_in_no_cell() {
        let told =
            IsolationBackend::Affinity("v1: Invalid argument".into()).diagnosis(&CpuList(vec![1]));
        assert!(told.remedy.is_some_and(|remedy| remedy.text.contains("for CPUs in no cell")));
    }

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files
            .iter()
            .for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    #[test]
    fn controller_is_enabled_only_if_needed_and_restored() {
        let without =
            folder(&[("cgroup.controllers", "cpu hugetlb\n"), ("cgroup.subtree_control", "")]);
        assert!(Lent::new(without.path()).is_err());
        let lent = |before: &str| {
            let root = folder(&[
                ("cgroup.controllers", "cpuset cpu\n"),
                ("cgroup.subtree_control", before),
            ]);
            let control =
                || std::fs::read_to_string(root.path().join("cgroup.subtree_control")).unwrap();
            let lent = Lent::new(root.path()).unwrap();
            let during = control();
            drop(lent);
            (during, control())
        };
        assert_eq!(lent("cpu\n"), ("+cpuset".into(), "-cpuset".into()));
        assert_eq!(lent("cpu cpuset\n"), ("cpu cpuset\n".into(), "cpu cpuset\n".into()));
    }

    #[test]
    fn changed_setting_is_reported() {
        let root = folder(&[]);
        let group = Throwaway::new(root.path()).unwrap();
        group.keep("same", "1").unwrap();
        std::os::unix::fs::symlink("/dev/null", group.0.join("other")).unwrap();
        assert_eq!(group.keep("other", "isolated").unwrap_err().to_string(), "other became ''");
        assert!(group.keep("no/such/file", "1").is_err());
    }

    #[test]
    fn attempt_removes_its_group() {
        let root = tempfile::tempdir().unwrap();
        drop(Throwaway::new(root.path()).unwrap());
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
