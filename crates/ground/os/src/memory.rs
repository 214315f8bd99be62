//! This computer's total and free memory.

use crate::root::Root;
use crate::small;
use std::collections::BTreeMap;

const NODES: &str = "/sys/devices/system/node";

/// Memory of each NUMA node in bytes (`MemTotal` of its `meminfo`), without nodes of unknown size.
/// All on node 0 if there are no nodes.
pub fn node_bytes(root: &Root) -> BTreeMap<u32, u64> {
    let mut all = BTreeMap::new();
    for folder in root.folders(NODES).unwrap_or_default() {
        let Some(node) = folder.strip_prefix("node").and_then(|node| node.parse().ok()) else {
            continue;
        };
        let text = root.read(&format!("{NODES}/{folder}/meminfo")).unwrap_or_default();
        // A line is `Node 0 MemTotal:       16384 kB`.
        let bytes = text.lines().find_map(|line| {
            let (_, value) = line.split_once("MemTotal:")?;
            bytes_of(value.trim())
        });
        all.extend(bytes.map(|bytes| (node, bytes)));
    }
    if all.is_empty() {
        let text = root.read("/proc/meminfo").unwrap_or_default();
        let total = small::value_of(&text, "MemTotal").and_then(|value| bytes_of(&value));
        all.extend(total.map(|bytes| (0, bytes)));
    }
    all
}

/// Parses `16384 kB`.
fn bytes_of(value: &str) -> Option<u64> {
    value.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes available to programs without swapping (`MemAvailable` of proc_meminfo(5)); `None` if
/// unknown.
pub fn available_bytes(root: &Root) -> Option<u64> {
    bytes_of(&small::value_of(&root.read("/proc/meminfo").ok()?, "MemAvailable")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};

    #[test]
    fn meminfo_kib_become_bytes() {
        let (_folder, root) = with_files(&[]);
        assert_eq!(available_bytes(&root), None);
        write(&root, "/proc/meminfo", "MemTotal: 9 kB\nMemAvailable:       3 kB\n");
        assert_eq!(available_bytes(&root), Some(3072));
    }

    #[test]
    fn each_node_has_its_memory() {
        let (_folder, root) = with_files(&[("/proc/meminfo", "MemTotal: 9 kB\n")]);
        assert_eq!(node_bytes(&root), BTreeMap::from([(0, 9 << 10)]));
        for (node, text) in [(0, "Node 0 MemTotal:  4 kB\nNode 0 MemFree: 1 kB\n"), (1, "x\n")] {
            write(&root, &format!("{NODES}/node{node}/meminfo"), text);
        }
        assert_eq!(node_bytes(&root), BTreeMap::from([(0, 4 << 10)]));
    }
}
