//! Mount points of control groups, and the online CPUs.

use crate::CpuSet;
use crate::mounts::{self, Mount};
use crate::root::{FileError, Root};

/// Mount points of the cpuset controller.
#[derive(Debug, Default, PartialEq)]
pub struct CpusetMounts {
    /// Version 2 hierarchy, if it has the cpuset controller.
    pub v2: Option<String>,
    /// Version 1 cpuset hierarchy.
    pub v1: Option<String>,
}

impl CpusetMounts {
    /// Reads the mounts.
    pub fn read(root: &Root) -> Self {
        let mut found = CpusetMounts::default();
        for Mount { folder, kind, options, .. } in mounts::all(root) {
            let controllers = || root.read(&format!("{folder}/cgroup.controllers"));
            let (place, has_cpuset) = match kind.as_str() {
                "cgroup" => (&mut found.v1, options.iter().any(|option| option == "cpuset")),
                "cgroup2" => (
                    &mut found.v2,
                    controllers()
                        .is_ok_and(|all| all.split_whitespace().any(|one| one == "cpuset")),
                ),
                _ => continue,
            };
            if has_cpuset {
                place.get_or_insert(folder);
            }
        }
        found
    }
}

/// Online CPUs: the kernel's list, plus the caller's mask on this computer, because lxcfs replaces
/// the list in containers.
///
/// # Errors
/// The list cannot be read.
pub fn online(root: &Root) -> Result<CpuSet, FileError> {
    let path = "/sys/devices/system/cpu/online";
    let text = root.read(path)?;
    let listed = CpuSet::of_list(&text).ok_or_else(|| FileError {
        path: path.to_owned(),
        source: std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            format!("'{text}' is not a list of CPUs"),
        ),
    })?;
    Ok(listed.with(&root.running()))
}

const NODES: &str = "/sys/devices/system/node";

/// The NUMA nodes with memory nearest to these CPUs; node 0 if the kernel lists none.
///
/// A node without memory is replaced by the nearest one with memory, by the firmware's distances.
///
/// # Errors
/// [`FileError`]: the nodes cannot be listed.
pub fn memory_nodes(root: &Root, cpus: &CpuSet) -> Result<CpuSet, FileError> {
    let near = root
        .folders(NODES)?
        .iter()
        .filter_map(|name| name.strip_prefix("node")?.parse::<u32>().ok())
        .filter(|node| {
            list(root, &format!("node{node}/cpulist")).is_some_and(|own| own.meets(cpus))
        })
        .collect::<Vec<_>>();
    let found: CpuSet = near.into_iter().map(|node| with_memory(root, node)).collect();
    Ok(if found.is_empty() { [0].into_iter().collect() } else { found })
}

/// Unless the node's memory is absent.
fn with_memory(root: &Root, node: u32) -> u32 {
    let have_memory = list(root, "has_memory").unwrap_or_default();
    if have_memory.is_empty() || have_memory.contains(node) {
        return node;
    }
    // A row has one entry per online node, and node numbers may have gaps.
    let online = list(root, "online").unwrap_or_default();
    let row = root.read(&format!("{NODES}/node{node}/distance")).unwrap_or_default();
    let distances = row.split_whitespace().map(|word| word.parse::<u32>().unwrap_or(u32::MAX));
    let known = online.iter().zip(distances).filter(|(other, _)| have_memory.contains(*other));
    let nearest = known.min_by_key(|(other, distance)| (*distance, *other)).map(|(other, _)| other);
    nearest.or_else(|| have_memory.iter().next()).unwrap_or(node)
}

fn list(root: &Root, name: &str) -> Option<CpuSet> {
    root.cpus(&format!("{NODES}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_set::tests::set;
    use crate::root::tests::{with_files, write};

    #[test]
    fn hierarchy_is_found_by_its_controllers() {
        let mounts = "30 1 0:30 / /cg rw - cgroup2 cgroup rw\n\
                      31 1 0:31 / /one rw - cgroup cgroup rw,memory\n\
                      32 1 0:32 / /two rw - cgroup cgroup rw,cpuset\ncut\n";
        let controllers = "/cg/cgroup.controllers";
        let (_folder, root) =
            with_files(&[("/proc/self/mountinfo", mounts), (controllers, "cpu memory\n")]);
        assert_eq!(CpusetMounts::read(&root), CpusetMounts { v2: None, v1: Some("/two".into()) });
        write(&root, controllers, "cpuset memory\n");
        assert_eq!(CpusetMounts::read(&root).v2.as_deref(), Some("/cg"));
        assert!(online(&root).is_err());
        assert_eq!(memory_nodes(&root, &CpuSet::default()).unwrap().to_string(), "0");
    }

    #[test]
    fn nearest_node_with_memory_replaces_an_empty_one() {
        let (_folder, root) = with_files(&[]);
        let write = |name: &str, text: &str| write(&root, &format!("{NODES}/{name}"), text);
        write("online", "0-1,4-5\n");
        for (node, cpus, distance) in [
            (0, "0-1", "10 20 11 30"),
            (1, "2-3", "20 10 30 30"),
            (4, "4-5", "11 30 10 12"),
            (5, "6-7", "30 30 12 10"),
        ] {
            write(&format!("node{node}/cpulist"), cpus);
            write(&format!("node{node}/distance"), distance);
        }
        let near = |cpus: &str| memory_nodes(&root, &set(cpus)).unwrap().to_string();
        assert_eq!([near("0"), near("1-2")], ["0", "0,1"], "the kernel says nothing of memory");
        write("has_memory", "1,4\n");
        assert_eq!([near("0"), near("2"), near("7"), near("0-7")], ["4", "1", "4", "1,4"]);
    }
}
