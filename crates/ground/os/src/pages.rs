//! The NUMA nodes of a process's pages, and its mappings' policies (proc_pid_numa_maps(5)).

use crate::numa_maps::{self, NumaMapping};
use crate::root::Root;
use crate::{CpuSet, Tid, checked};
use std::collections::BTreeMap;
use std::io;

/// A process's bytes by NUMA node.
#[derive(Debug, Default)]
pub struct Pages {
    /// Bytes allocated by the process: heap, stacks, anonymous mappings, private copies of file
    /// pages, and shared memory mapped by no other process.
    pub own_bytes: BTreeMap<u32, u64>,
    /// Bytes of files and shared memory, which other processes may have placed.
    pub shared_bytes: BTreeMap<u32, u64>,
    /// Policies of mappings with own pages, and their bytes.
    pub policies: BTreeMap<String, u64>,
}

impl Pages {
    /// Reads a process's pages. It takes some milliseconds per gigabyte.
    ///
    /// # Errors
    /// The kernel's: the process has exited or belongs to another user, or the kernel lacks NUMA.
    pub fn of_process(root: &Root, pid: Tid) -> io::Result<Self> {
        let text = std::fs::read(root.path(&format!("/proc/{pid}/numa_maps")))?;
        Ok(Pages::of_mappings(&numa_maps::parse(&text)))
    }

    fn of_mappings(mappings: &[NumaMapping]) -> Self {
        let mut found = Pages::default();
        mappings.iter().for_each(|mapping| found.add(mapping));
        found
    }

    fn add(&mut self, mapping: &NumaMapping) {
        let to = if mapping.is_shared { &mut self.shared_bytes } else { &mut self.own_bytes };
        for (node, bytes) in &mapping.nodes {
            let on_node = to.entry(*node).or_default();
            *on_node = on_node.saturating_add(*bytes);
        }
        if !mapping.is_shared {
            let under = self.policies.entry(mapping.policy.clone()).or_default();
            *under = under.saturating_add(mapping.bytes());
        }
    }

    /// The nodes with pages.
    pub fn nodes(&self) -> CpuSet {
        self.own_bytes.keys().chain(self.shared_bytes.keys()).copied().collect()
    }

    /// Own bytes on other nodes than these.
    pub fn own_outside(&self, nodes: &CpuSet) -> u64 {
        self.own_bytes
            .iter()
            .filter(|(node, _)| !nodes.contains(**node))
            .map(|(_, bytes)| bytes)
            .sum()
    }

    /// All own bytes.
    pub fn own(&self) -> u64 {
        self.own_bytes.values().sum()
    }
}

/// Moves a process's pages between nodes (migrate_pages(2)). Returns the number of pages not moved.
///
/// # Errors
/// The kernel's: `EPERM` for another user's process, or if its cpuset excludes the nodes.
pub fn migrate(pid: Tid, from: &CpuSet, to: &CpuSet) -> io::Result<u64> {
    let [mut from, mut to] = [from, to].map(CpuSet::to_words);
    let length = from.len().max(to.len());
    from.resize(length, 0);
    to.resize(length, 0);
    let bits = length * libc::c_ulong::BITS as usize + 1;
    // SAFETY: the kernel reads `bits - 1` bits of each mask, and the masks are that long.
    let left =
        unsafe { libc::syscall(libc::SYS_migrate_pages, pid, bits, from.as_ptr(), to.as_ptr()) };
    checked(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(text: &str) -> Pages {
        Pages::of_mappings(&numa_maps::parse(text.as_bytes()))
    }

    #[test]
    fn private_pages_are_distinguished_from_file_pages() {
        let found = pages(
            "556a default file=/usr/bin/cat mapped=3 N0=2 N1=1 kernelpagesize_kB=4\n\
             7f00 bind:1 heap anon=5 dirty=5 N1=5 kernelpagesize_kB=4\n\
             7f10 weighted interleave:0-1 anon=2 dirty=2 active=0 N0=1 N1=1 kernelpagesize_kB=2048\n\
             7f20 prefer (many):0 stack anon=1 N0=1 kernelpagesize_kB=4\n\
             7f30 default\n",
        );
        assert_eq!(found.shared_bytes, BTreeMap::from([(0, 8192), (1, 4096)]));
        assert_eq!(
            found.own_bytes,
            BTreeMap::from([(0, (2048 + 4) << 10), (1, (2048 + 20) << 10)])
        );
        let policies: Vec<_> = found.policies.keys().map(String::as_str).collect();
        assert_eq!(policies, ["bind:1", "prefer (many):0", "weighted interleave:0-1"]);
        assert_eq!(found.own_outside(&CpuSet::single(0)), (2048 + 20) << 10);
        assert_eq!(found.nodes().to_string(), "0,1");
    }

    #[test]
    fn own_process_has_pages() {
        let root = Root::new("/");
        let pid = std::process::id() as Tid;
        let Ok(found) = Pages::of_process(&root, pid) else {
            return seatmap_needs::skipped!("no numa_maps here");
        };
        assert!(found.own() > 0 && !found.nodes().is_empty());
    }

    #[test]
    fn migration_to_the_same_node_moves_nothing() {
        let pid = std::process::id() as Tid;
        match migrate(pid, &CpuSet::single(0), &CpuSet::single(0)) {
            Ok(left) => assert_eq!(left, 0),
            Err(error) => seatmap_needs::skipped!("no pages can be moved here: {error}"),
        }
    }
}
