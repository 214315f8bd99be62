//! Moves the pages of a running program to the nodes of its seats.

use crate::attach;
use crate::error::LaunchError;
use crate::verifier::size;
use seatmap_data::words::counted;
use seatmap_os::mempolicy::MemoryNodes;
use seatmap_os::pages::Pages;
use seatmap_os::{CpuSet, Root, Tid, layout, pages};

/// A move's outcome, in the process's own bytes.
#[derive(Clone, Copy, Debug)]
pub struct MovedPages {
    /// The process.
    pub pid: Tid,
    /// Bytes moved to the requested nodes.
    pub moved_bytes: u64,
    /// Bytes already there.
    pub there_bytes: u64,
    /// Bytes that stayed elsewhere.
    pub stayed_bytes: u64,
    /// Refused pages, in use or without room.
    pub refused_pages: u64,
}

/// The nodes of a process's threads.
///
/// # Errors
/// The threads, or the nodes of this computer, cannot be listed.
pub fn nodes_of_threads(pid: Tid) -> Result<CpuSet, LaunchError> {
    let cpus: CpuSet = attach::threads(pid)?
        .into_iter()
        .filter_map(|tid| CpuSet::of_thread(tid).ok())
        .flat_map(|cpus| cpus.iter().collect::<Vec<_>>())
        .collect();
    let nodes = layout::memory_nodes(&Root::new("/"), &cpus).map_err(|error| error.source);
    nodes.map_err(LaunchError::system("read the NUMA nodes"))
}

/// Moves a process's pages to these nodes (migrate_pages(2)), and checks the result.
///
/// # Errors
/// The process does not exist or belongs to another user, or the kernel lacks NUMA.
pub fn move_to(pid: Tid, nodes: &CpuSet) -> Result<MovedPages, LaunchError> {
    let root = Root::new("/");
    let before = look(&root, pid)?;
    let elsewhere = MemoryNodes::read(&root).with_memory.without(nodes);
    let refused_pages = if elsewhere.is_empty() {
        0
    } else {
        pages::migrate(pid, &elsewhere, nodes)
            .map_err(LaunchError::system("move the process's pages"))?
    };
    let after = look(&root, pid)?;
    let stayed_bytes = after.own_outside(nodes);
    let moved_bytes = before.own_outside(nodes).saturating_sub(stayed_bytes);
    let there_bytes = before.own().saturating_sub(before.own_outside(nodes));
    Ok(MovedPages { pid, moved_bytes, there_bytes, stayed_bytes, refused_pages })
}

fn look(root: &Root, pid: Tid) -> Result<Pages, LaunchError> {
    Pages::of_process(root, pid).map_err(LaunchError::system("read where the process's pages are"))
}

impl MovedPages {
    /// Whether all memory is on the requested nodes.
    pub fn is_complete(&self) -> bool {
        self.stayed_bytes == 0 && self.refused_pages == 0
    }

    /// A line for people.
    pub fn sentence(&self, nodes: &CpuSet) -> String {
        let MovedPages { pid, moved_bytes, there_bytes, stayed_bytes, refused_pages } = *self;
        let moved = size(moved_bytes);
        let there = size(there_bytes);
        let stayed = size(stayed_bytes);
        let word = if nodes.only().is_some() { "node" } else { "nodes" };
        let refused = match refused_pages {
            0 => String::new(),
            pages => format!(" (the kernel refused {})", counted(pages, "page")),
        };
        format!(
            "process {pid}: {moved} of its memory moved to {word} {nodes}, which had {there}; \
             {stayed} stayed elsewhere{refused}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_pages_are_reported() {
        let moved = MovedPages {
            pid: 7,
            moved_bytes: 3 << 20,
            there_bytes: 1 << 20,
            stayed_bytes: 4096,
            refused_pages: 1,
        };
        insta::assert_snapshot!(moved.sentence(&CpuSet::single(1)), @"process 7: 3.0 MiB of its memory moved to node 1, which had 1.0 MiB; 4 KiB stayed elsewhere (the kernel refused 1 page)");
        let none = MovedPages { moved_bytes: 0, stayed_bytes: 0, refused_pages: 0, ..moved };
        insta::assert_snapshot!(none.sentence(&[0, 1].into_iter().collect()), @"process 7: 0 KiB of its memory moved to nodes 0,1, which had 1.0 MiB; 0 KiB stayed elsewhere");
    }

    #[test]
    fn own_pages_are_already_on_allowed_nodes() {
        let pid = std::process::id() as Tid;
        let all = MemoryNodes::read(&Root::new("/")).with_memory;
        match move_to(pid, &all) {
            Ok(moved) => assert!(
                moved.there_bytes > 0 && moved.stayed_bytes == 0 && moved.refused_pages == 0
            ),
            Err(error) => seatmap_needs::skipped!("{error}"),
        }
        assert!(!nodes_of_threads(pid).unwrap().is_empty());
    }
}
