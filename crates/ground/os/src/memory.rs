//! This computer's total and free memory, and huge pages.

use crate::hierarchy::Hierarchies;
use crate::numa_maps::{bytes_of, page_bytes};
use crate::root::Root;
use crate::task;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;

const NODES: &str = "/sys/devices/system/node";
const TOTAL: &str = "MemTotal";

/// Memory of each NUMA node in bytes (`MemTotal` of its `meminfo`), without nodes of unknown size.
/// All on node 0 without nodes.
pub fn node_bytes(root: &Root) -> BTreeMap<u32, u64> {
    let mut all = BTreeMap::new();
    for folder in root.folders(NODES).unwrap_or_default() {
        let Some(node) = folder.strip_prefix("node").and_then(|node| node.parse().ok()) else {
            continue;
        };
        let text = root.read(&format!("{NODES}/{folder}/meminfo")).unwrap_or_default();
        // A line is `Node 0 MemTotal:       16384 kB`.
        let lines = text.find(TOTAL).map(|at| &text.as_bytes()[at..]);
        let bytes = lines.and_then(|lines| bytes_of(lines, TOTAL.as_bytes()));
        all.extend(bytes.map(|bytes| (node, bytes)));
    }
    if all.is_empty() {
        all.extend(total_bytes(root).map(|bytes| (0, bytes)));
    }
    all
}

/// All memory in bytes (`MemTotal` of proc_meminfo(5)); `None` if unknown.
pub fn total_bytes(root: &Root) -> Option<u64> {
    bytes_of(root.read("/proc/meminfo").ok()?.as_bytes(), TOTAL.as_bytes())
}

/// Bytes available to programs without swapping (`MemAvailable` of proc_meminfo(5)); `None` if
/// unknown.
pub fn available_bytes(root: &Root) -> Option<u64> {
    bytes_of(root.read("/proc/meminfo").ok()?.as_bytes(), b"MemAvailable")
}

/// Bytes that the calling process can allocate without swapping and within the limits of its
/// control groups; `None` if unknown.
pub fn allocatable_bytes(root: &Root) -> Option<u64> {
    let membership = root.read("/proc/self/cgroup").unwrap_or_default();
    let by_groups = Hierarchies::read(root).memory_left_bytes(root, task::own_tid(), &membership);
    available_bytes(root).into_iter().chain(by_groups).min()
}

/// Asks for huge pages in memory not touched yet (madvise(2)). Nothing depends on them, so a
/// refusal is ignored.
pub fn ask_for_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    let page = page_bytes() as usize;
    let range = memory.as_mut_ptr_range();
    let begin = (range.start as usize).next_multiple_of(page);
    let bytes = (range.end as usize).saturating_sub(begin);
    // SAFETY: the range is inside memory that is borrowed mutably, and the advice changes no byte.
    unsafe { libc::madvise(begin as *mut libc::c_void, bytes, libc::MADV_HUGEPAGE) };
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
    fn memory_groups_limit_allocations() {
        let mounts = "30 20 0:25 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      31 20 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let (_folder, root) = with_files(&[
            ("/proc/meminfo", "MemAvailable: 9000 kB\n"),
            ("/proc/self/mountinfo", mounts),
            ("/proc/self/cgroup", "4:memory:/a/b\n0::/c\n"),
        ]);
        assert_eq!(allocatable_bytes(&root), Some(9000 << 10));
        let group = "/sys/fs/cgroup/memory/a";
        write(&root, &format!("{group}/b/memory.limit_in_bytes"), "9223372036854771712\n");
        write(&root, &format!("{group}/b/memory.usage_in_bytes"), "100\n");
        write(&root, &format!("{group}/memory.limit_in_bytes"), "1000\n");
        write(&root, &format!("{group}/memory.usage_in_bytes"), "700\n");
        write(&root, &format!("{group}/memory.stat"), "inactive_file 1\ntotal_inactive_file 50\n");
        assert_eq!(allocatable_bytes(&root), Some(350));
        write(&root, "/proc/self/cgroup", "0::/c\n");
        let group = "/sys/fs/cgroup/unified/c";
        write(&root, &format!("{group}/memory.max"), "2000\n");
        write(&root, &format!("{group}/memory.current"), "2500\n");
        write(&root, &format!("{group}/memory.stat"), "anon 1\ninactive_file 600\n");
        assert_eq!(allocatable_bytes(&root), Some(100));
        write(&root, &format!("{group}/memory.max"), "max\n");
        assert_eq!(allocatable_bytes(&root), Some(9000 << 10));
    }

    #[test]
    fn huge_pages_keep_the_memory() {
        let mut words: Vec<u64> = Vec::with_capacity(1 << 19);
        ask_for_huge_pages(words.spare_capacity_mut());
        words.resize(1 << 19, 7);
        assert!(words.iter().all(|word| *word == 7));
        ask_for_huge_pages::<u64>(&mut []);
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
