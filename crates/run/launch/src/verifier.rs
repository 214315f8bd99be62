//! Finds a program's pages.

use crate::memory::ProgramMemory;
use seatmap_data::document::visible;
use seatmap_data::words::{joined, percent};
use seatmap_os::pages::Pages;
use seatmap_os::task::{self, ThreadIdentity};
use seatmap_os::{CpuSet, Root, Tid};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The most reported processes, to limit the memory.
pub const MOST_PROCESSES: usize = 1000;

/// Early, because an untraced program may be short.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// Looks take one part in this many of a CPU's time: the kernel walks page tables.
const SHARE: u32 = 50;

/// A run's memory: the requested and the actual nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryReport {
    /// The request as typed; null if pages were only looked up.
    pub wish: Option<String>,
    /// The policy of all threads, as in `/proc/PID/numa_maps`; null if tasks have their own.
    pub policy: Option<String>,
    /// The nodes requested for all pages, or null.
    pub nodes: Option<Vec<u32>>,
    /// The first 1,000 examined processes.
    #[cfg_attr(feature = "schema", schemars(length(max = MOST_PROCESSES)))]
    pub processes: Vec<ProcessMemory>,
}

/// A process's pages at the last look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessMemory {
    /// The process ID.
    pub pid: Tid,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// Each NUMA node with pages.
    pub nodes: Vec<PagesOnNode>,
    /// Its mappings' policies, with the bytes under each.
    pub policies: Vec<PagesUnderPolicy>,
    /// Its own bytes on other than the requested nodes; null if none were requested.
    pub elsewhere_bytes: Option<u64>,
    /// Whether the look was just before its end.
    pub at_end: bool,
}

/// Memory on a NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PagesOnNode {
    /// The node.
    pub node: u32,
    /// Bytes allocated by the process.
    pub own_bytes: u64,
    /// Bytes of files and shared memory; other processes may have placed them.
    pub shared_bytes: u64,
}

/// Memory under a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PagesUnderPolicy {
    /// The policy, as in `/proc/PID/numa_maps`.
    pub policy: String,
    /// The process's own bytes under it.
    pub bytes: u64,
}

pub(crate) struct Verifier {
    nodes: Option<CpuSet>,
    pace: Duration,
    due: Instant,
    found: BTreeMap<ThreadIdentity, ProcessMemory>,
}

impl Verifier {
    pub fn new(nodes: Option<CpuSet>, pace: Duration) -> Self {
        Verifier { nodes, pace, due: Instant::now() + pace.min(FIRST_LOOK), found: BTreeMap::new() }
    }

    pub fn look(&mut self, processes: impl Iterator<Item = Tid>) {
        let begun = Instant::now();
        if begun < self.due {
            return;
        }
        for pid in processes {
            self.note(pid, false);
        }
        let ended = Instant::now();
        // Reading pages partly stops the program.
        self.due = ended + self.pace.max((ended - begun) * SHARE);
    }

    /// Examines the process of an ending thread, if it ends too.
    pub fn last_look(&mut self, tid: Tid, pid: Tid) {
        let call = task::system_call(tid);
        // A thread that ends alone leaves the memory to the others.
        let ends_all = call.is_some_and(|call| call == libc::SYS_exit_group.to_string());
        if ends_all || task::threads(pid).is_ok_and(|tids| tids.len() <= 1) {
            self.note(pid, true);
        }
    }

    fn note(&mut self, pid: Tid, at_end: bool) {
        let root = Root::new("/");
        let Some(process) = ThreadIdentity::of(pid) else { return };
        let known = self.found.get(&process);
        let has_room = self.found.len() < MOST_PROCESSES || known.is_some();
        if !at_end && known.is_some_and(|memory| memory.at_end) {
            return;
        }
        let Ok(pages) = Pages::of_process(&root, pid) else { return };
        // An ended process that is not reaped has no pages.
        if has_room && !pages.nodes().is_empty() {
            let name = task::name(&root, pid).unwrap_or_default();
            self.found.insert(process, self.process(pid, name, &pages, at_end));
        }
    }

    fn process(&self, pid: Tid, name: String, pages: &Pages, at_end: bool) -> ProcessMemory {
        ProcessMemory {
            pid,
            name,
            nodes: pages
                .nodes()
                .iter()
                .map(|node| PagesOnNode {
                    node,
                    own_bytes: bytes_on(&pages.own_bytes, node),
                    shared_bytes: bytes_on(&pages.shared_bytes, node),
                })
                .collect(),
            policies: pages
                .policies
                .iter()
                .map(|(policy, bytes)| PagesUnderPolicy { policy: policy.clone(), bytes: *bytes })
                .collect(),
            elsewhere_bytes: self.nodes.as_ref().map(|nodes| pages.own_outside(nodes)),
            at_end,
        }
    }

    pub fn report(&self, memory: Option<&ProgramMemory>) -> MemoryReport {
        MemoryReport {
            processes: self.found.values().cloned().collect(),
            ..MemoryReport::of(memory)
        }
    }
}

fn bytes_on(bytes: &BTreeMap<u32, u64>, node: u32) -> u64 {
    bytes.get(&node).copied().unwrap_or(0)
}

impl MemoryReport {
    pub(crate) fn of(memory: Option<&ProgramMemory>) -> Self {
        MemoryReport {
            wish: memory.map(|memory| memory.wish.clone()),
            policy: memory.and_then(|memory| Some(memory.all.as_ref()?.to_string())),
            nodes: memory.and_then(|memory| Some(memory.nodes.as_ref()?.iter().collect())),
            processes: Vec::new(),
        }
    }
}

impl ProcessMemory {
    /// Whether it has memory on other than the requested nodes.
    pub fn is_elsewhere(&self) -> bool {
        self.elsewhere_bytes.is_some_and(|bytes| bytes > 0)
    }

    /// A line: how much memory is on which nodes.
    pub fn sentence(&self) -> String {
        let own: u64 = self.nodes.iter().map(|on| on.own_bytes).sum();
        let parts = self.nodes.iter().filter(|on| on.own_bytes > 0);
        let parts = parts.map(|on| format!("{} on node {}", size(on.own_bytes), on.node));
        let when = if self.at_end { "at its end" } else { "at the last look" };
        let elsewhere = match self.elsewhere_bytes {
            Some(0) => ", none outside the requested nodes".to_owned(),
            Some(bytes) => {
                format!(
                    ", {} ({:.1} %) outside the requested nodes",
                    size(bytes),
                    percent(bytes, own)
                )
            }
            None => String::new(),
        };
        let name = visible(&self.name);
        format!("memory of {name} ({}) {when}: {}{elsewhere}", self.pid, joined(parts, ", "))
    }
}

/// Bytes in the largest unit with a number of one or more.
pub fn size(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    let mib = kib / 1024.0;
    // A unit begins where rounding would give 1024 of the next smaller one.
    if kib < 1023.5 {
        format!("{kib:.0} KiB")
    } else if mib < 1023.95 {
        format!("{mib:.1} MiB")
    } else {
        format!("{:.1} GiB", mib / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(own: &[(u32, u64)], nodes: Option<&str>) -> ProcessMemory {
        let verifier = Verifier::new(nodes.and_then(CpuSet::of_list), Duration::ZERO);
        let pages = Pages { own_bytes: own.iter().copied().collect(), ..Pages::default() };
        verifier.process(70, "solver".to_owned(), &pages, true)
    }

    #[test]
    fn memory_report_names_sizes_and_nodes() {
        let own = [(0, 3 << 20), (1, 1 << 20)];
        assert_eq!(
            [
                process(&own, Some("0")).sentence(),
                process(&own, Some("0-1")).sentence(),
                process(&own[..1], None).sentence()
            ],
            [
                "memory of solver (70) at its end: 3.0 MiB on node 0, 1.0 MiB on node 1, 1.0 MiB (25.0 %) outside the requested nodes",
                "memory of solver (70) at its end: 3.0 MiB on node 0, 1.0 MiB on node 1, none outside the requested nodes",
                "memory of solver (70) at its end: 3.0 MiB on node 0",
            ]
        );
        assert_eq!([9 << 10, 5 << 29].map(size), ["9 KiB", "2.5 GiB"]);
        assert_eq!([(1 << 20) - 1, (1 << 30) - 1].map(size), ["1.0 MiB", "1.0 GiB"]);
    }

    #[test]
    fn own_process_memory_is_found() {
        let mut verifier = Verifier::new(None, Duration::ZERO);
        let pid = std::process::id() as Tid;
        verifier.look([pid].into_iter());
        match verifier.report(None).processes.first() {
            Some(found) => {
                assert!(found.nodes.iter().any(|on| on.own_bytes > 0) && found.pid == pid);
                let (mut ended, mut memory) = verifier.found.pop_first().unwrap();
                (ended.started_ticks, memory.at_end) = (ended.started_ticks - 1, true);
                verifier.found.insert(ended, memory);
                verifier.due = Instant::now();
                verifier.look([pid].into_iter());
                assert_eq!(verifier.found.len(), 2, "the ended one had the same number");
            }
            None => seatmap_needs::skipped!("no numa_maps here"),
        }
    }
}
