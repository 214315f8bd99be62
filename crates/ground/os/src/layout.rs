//! The folders of control groups on this computer, and the CPUs that run.

use crate::CpuSet;
use crate::root::{FileError, Root};

/// The folders where control groups are mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The hierarchy of version 2, where it has the cpuset controller.
    pub v2: Option<String>,
    /// The cpuset hierarchy of version 1.
    pub v1: Option<String>,
}

impl Layout {
    /// Reads it from the list of mounts (proc_mounts(5)).
    #[must_use]
    pub fn read(root: &Root) -> Self {
        let mounts = root.read("/proc/self/mounts").unwrap_or_default();
        let lines = || mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let of_kind = |kind: &'static str| lines().filter(move |fields| fields.get(2) == Some(&kind));
        let has_cpuset = |folder: &str| {
            let controllers = root.read(&format!("{folder}/cgroup.controllers")).unwrap_or_default();
            controllers.split_whitespace().any(|controller| controller == "cpuset")
        };
        let is_cpuset = |fields: &Vec<&str>| fields[3].split(',').any(|option| option == "cpuset");
        let v2 = of_kind("cgroup2").map(|fields| fields[1].to_owned()).find(|folder| has_cpuset(folder));
        let v1 = of_kind("cgroup").filter(|fields| fields.len() > 3).find(is_cpuset);
        Layout { v2, v1: v1.map(|fields| fields[1].to_owned()) }
    }
}

/// The CPUs that run.
///
/// # Errors
/// The kernel does not say.
pub fn online(root: &Root) -> Result<CpuSet, FileError> {
    let path = "/sys/devices/system/cpu/online";
    let text = root.read(path)?;
    CpuSet::of_list(&text).ok_or_else(|| FileError {
        path: path.to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidData, format!("'{text}' is not a list of CPUs")),
    })
}

/// The NUMA nodes of some CPUs; node 0 where the kernel knows none.
#[must_use]
pub fn nodes(root: &Root, cpus: &CpuSet) -> CpuSet {
    let folder = "/sys/devices/system/node";
    let of = |name: &String| {
        let own = root.read(&format!("{folder}/{name}/cpulist")).ok().and_then(|text| CpuSet::of_list(&text))?;
        own.meets(cpus).then_some(name.strip_prefix("node")?.parse::<u32>().ok()?)
    };
    let found: CpuSet = root.folders(folder).iter().filter_map(of).collect();
    if found.is_empty() { [0].into_iter().collect() } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_by_what_they_control() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::create_dir_all(folder.path().join("proc/self")).unwrap();
        std::fs::create_dir_all(folder.path().join("cg")).unwrap();
        let mounts = "none /cg cgroup2 rw 0 0\nnone /one cgroup rw,memory 0 0\nnone /two cgroup rw,cpuset 0 0\ncut\n";
        std::fs::write(folder.path().join("proc/self/mounts"), mounts).unwrap();
        std::fs::write(folder.path().join("cg/cgroup.controllers"), "cpu memory\n").unwrap();
        assert_eq!(Layout::read(&root), Layout { v2: None, v1: Some("/two".into()) });
        std::fs::write(folder.path().join("cg/cgroup.controllers"), "cpuset memory\n").unwrap();
        assert_eq!(Layout::read(&root).v2.as_deref(), Some("/cg"));
        assert!(online(&root).is_err());
        assert_eq!(nodes(&root, &CpuSet::default()).to_string(), "0");
    }
}
