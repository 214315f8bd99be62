//! NUMA memory policies: the nodes for a thread's new pages (set_mempolicy(2), numa(7)).
//!
//! New threads and processes inherit a thread's policy, and execve(2) keeps it. No system call sets
//! another thread's.

use crate::root::Root;
use crate::{CpuList, CpuSet, checked};
use std::fmt;
use std::io;
use std::ptr;

type Word = libc::c_ulong;

/// Modes, from `include/uapi/linux/mempolicy.h`.
const DEFAULT: i32 = 0;
const BIND: i32 = 2;
const INTERLEAVE: i32 = 3;
const LOCAL: i32 = 4;
const WEIGHTED_INTERLEAVE: i32 = 6;

/// Names in `/proc/PID/numa_maps`, by mode (`mpol_to_str` of `mm/mempolicy.c`).
const NAMES: [&str; 7] =
    ["default", "prefer", "bind", "interleave", "local", "prefer (many)", "weighted interleave"];

/// The flags of a mode (`MPOL_MODE_FLAGS`).
const FLAGS: i32 = 0b111 << 13;

/// Limit of Linux (`NODES_SHIFT`).
const MOST_NODES: usize = 1024;

/// A memory policy: a mode and its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPolicy {
    mode: i32,
    nodes: CpuSet,
}

/// The prepared system call that sets a policy; making it allocates nothing.
#[derive(Debug)]
pub struct PolicyCall {
    mode: i32,
    words: Vec<Word>,
}

/// Why a policy cannot be set.
#[derive(Debug, thiserror::Error)]
pub enum MemoryPolicyError {
    /// The kernel was built without NUMA.
    #[error("this kernel was built without NUMA (CONFIG_NUMA is off), so it has no NUMA nodes")]
    NoNuma,
    /// A filter blocks the system call.
    #[error(
        "the kernel forbids memory policies here, most likely by a container's seccomp profile; \
         allow SYS_NICE ('docker run --cap-add SYS_NICE')"
    )]
    Forbidden,
    /// The kernel is too old for weighted interleaving.
    #[error("weighted interleaving needs Linux 6.9, and this is Linux {0}; use plain interleaving")]
    TooOld(String),
    /// Another refusal of the kernel.
    #[error("the kernel refused the memory policy {policy}")]
    Refused {
        /// Policy.
        policy: String,
        /// Kernel's error.
        source: io::Error,
    },
}

/// Why a node cannot provide memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("NUMA node {node} {problem}")]
pub struct NodeError {
    /// Requested node.
    pub node: u32,
    problem: String,
}

/// This computer's NUMA nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryNodes {
    /// Existing nodes.
    pub present: CpuSet,
    /// Nodes with memory.
    pub with_memory: CpuSet,
    /// Nodes in this process's cpuset.
    pub allowed: CpuSet,
}

impl MemoryPolicy {
    /// The default: near the CPU that first touches a page, unless the mapping has a policy.
    pub fn usual() -> Self {
        MemoryPolicy { mode: DEFAULT, nodes: CpuSet::default() }
    }

    /// Near the CPU that first touches a page, or elsewhere if that node is full.
    pub fn local() -> Self {
        MemoryPolicy { mode: LOCAL, nodes: CpuSet::default() }
    }

    /// Memory from these nodes only.
    pub fn bind(nodes: CpuSet) -> Self {
        MemoryPolicy { mode: BIND, nodes }
    }

    /// Pages from these nodes in turn.
    pub fn interleave(nodes: CpuSet) -> Self {
        MemoryPolicy { mode: INTERLEAVE, nodes }
    }

    /// In turn, weighted by `/sys/kernel/mm/mempolicy/weighted_interleave` (Linux 6.9).
    pub fn weighted_interleave(nodes: CpuSet) -> Self {
        MemoryPolicy { mode: WEIGHTED_INTERLEAVE, nodes }
    }

    /// The calling thread's policy.
    ///
    /// # Errors
    /// The kernel's: `ENOSYS` without NUMA.
    pub fn of_caller() -> io::Result<Self> {
        let mut mode: libc::c_int = 0;
        let mut words = [0 as Word; MOST_NODES / Word::BITS as usize];
        let mode_at = &raw mut mode;
        let words_at = words.as_mut_ptr();
        // SAFETY: the mode and `MOST_NODES` bits of the mask are writable.
        checked(unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                mode_at,
                words_at,
                MOST_NODES,
                ptr::null::<u8>(),
                0,
            )
        })?;
        Ok(MemoryPolicy { mode, nodes: CpuSet::of_words(words) })
    }

    /// Its nodes; empty for a policy that follows the CPU.
    pub fn nodes(&self) -> &CpuSet {
        &self.nodes
    }

    /// Whether it takes pages from nodes in turn.
    pub fn interleaves(&self) -> bool {
        [INTERLEAVE, WEIGHTED_INTERLEAVE].contains(&(self.mode & !FLAGS))
    }

    /// The system call that sets this policy.
    pub fn call(&self) -> PolicyCall {
        PolicyCall { mode: self.mode, words: self.nodes.to_words() }
    }

    /// Checks on a new thread that the kernel accepts the policy.
    ///
    /// # Errors
    /// [`MemoryPolicyError`].
    pub fn check(&self) -> Result<(), MemoryPolicyError> {
        let call = self.call();
        let tried = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, || call.make())?;
            thread.join().unwrap_or_else(|_| Err(io::Error::other("the test thread died")))
        });
        tried.map_err(|source| self.refusal(source))
    }

    /// Interprets a kernel error.
    pub fn refusal(&self, source: io::Error) -> MemoryPolicyError {
        match source.raw_os_error() {
            Some(libc::ENOSYS) => MemoryPolicyError::NoNuma,
            Some(libc::EPERM) => MemoryPolicyError::Forbidden,
            Some(libc::EINVAL) if self.mode == WEIGHTED_INTERLEAVE => {
                let release = Root::new("/").read("/proc/sys/kernel/osrelease").unwrap_or_default();
                MemoryPolicyError::TooOld(release)
            }
            _ => MemoryPolicyError::Refused { policy: self.to_string(), source },
        }
    }
}

impl fmt::Display for MemoryPolicy {
    /// As in `/proc/PID/numa_maps`: `bind:0-1`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = usize::try_from(self.mode & !FLAGS).ok().and_then(|mode| NAMES.get(mode));
        out.write_str(name.unwrap_or(&"unknown"))?;
        if self.nodes.is_empty() { Ok(()) } else { write!(out, ":{}", ranges(&self.nodes)) }
    }
}

/// Nodes in the kernel's format, `0-1`; [`CpuList`] would write `0,1`.
fn ranges(nodes: &CpuSet) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for node in nodes.iter() {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == node => *last = node,
            _ => runs.push((node, node)),
        }
    }
    runs.iter()
        .map(
            |(first, last)| {
                if first == last { first.to_string() } else { format!("{first}-{last}") }
            },
        )
        .collect::<Vec<_>>()
        .join(",")
}

impl PolicyCall {
    /// System call number.
    pub const NUMBER: libc::c_long = libc::SYS_set_mempolicy;

    /// Sets the calling thread's policy. Allowed between fork(2) and execve(2).
    ///
    /// # Errors
    /// The kernel's.
    pub fn make(&self) -> io::Result<()> {
        let mask = if self.words.is_empty() { ptr::null() } else { self.words.as_ptr() };
        // SAFETY: the kernel reads `bits() - 1` bits, which the mask has.
        let status = unsafe { libc::syscall(PolicyCall::NUMBER, self.mode, mask, self.bits()) };
        checked(status).map(drop)
    }

    /// First argument.
    pub fn mode(&self) -> i32 {
        self.mode
    }

    /// Second argument; null for an empty mask.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Third argument: one more than the mask's bits, because `get_nodes` subtracts one.
    pub fn bits(&self) -> usize {
        if self.words.is_empty() { 0 } else { self.words.len() * Word::BITS as usize + 1 }
    }
}

impl MemoryNodes {
    /// Reads this computer's nodes; node 0 if the kernel lists none.
    pub fn read(root: &Root) -> Self {
        let present = circle(root, "online").unwrap_or_else(|| CpuSet::single(0));
        let with_memory = circle(root, "has_memory").unwrap_or_else(|| present.clone());
        let status = root.read("/proc/self/status").unwrap_or_default();
        let allowed = crate::small::value_of(&status, "Mems_allowed_list")
            .and_then(|text| CpuSet::of_list(&text));
        MemoryNodes { allowed: allowed.unwrap_or_else(|| present.clone()), present, with_memory }
    }

    /// Checks that these nodes can provide memory.
    ///
    /// # Errors
    /// [`NodeError`] for the first that cannot.
    pub fn check(&self, nodes: &CpuSet) -> Result<(), NodeError> {
        nodes.iter().try_for_each(|node| {
            let problem = if !self.present.contains(node) {
                format!("does not exist: this machine has {}", named(&self.present))
            } else if !self.with_memory.contains(node) {
                format!("has no memory; these have: {}", self.with_memory)
            } else if !self.allowed.contains(node) {
                format!(
                    "is outside the nodes that this process may use, {}: its cpuset forbids it",
                    self.allowed
                )
            } else {
                return Ok(());
            };
            Err(NodeError { node, problem })
        })
    }

    /// The nodes that can provide memory.
    pub fn usable(&self) -> CpuSet {
        self.with_memory.within(&self.allowed)
    }
}

fn circle(root: &Root, name: &str) -> Option<CpuSet> {
    root.cpus(&format!("/sys/devices/system/node/{name}")).filter(|nodes| !nodes.is_empty())
}

fn named(nodes: &CpuSet) -> String {
    let word = if nodes.only().is_some() { "node" } else { "nodes" };
    format!("{word} {}", CpuList(nodes.iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_set::tests::set as nodes;
    use crate::root::tests::with_files;

    #[test]
    fn policies_are_printed_like_the_kernel() {
        let spelt = [
            (MemoryPolicy::usual(), "default"),
            (MemoryPolicy::local(), "local"),
            (MemoryPolicy::bind(nodes("0-1")), "bind:0-1"),
            (MemoryPolicy::interleave(nodes("0-2,5")), "interleave:0-2,5"),
            (MemoryPolicy::weighted_interleave(nodes("3")), "weighted interleave:3"),
            (MemoryPolicy { mode: BIND | 1 << 15, nodes: nodes("1") }, "bind:1"),
            (MemoryPolicy { mode: 99, nodes: CpuSet::default() }, "unknown"),
        ];
        spelt.iter().for_each(|(policy, text)| assert_eq!(policy.to_string(), *text));
        assert!(
            MemoryPolicy::interleave(nodes("0")).interleaves()
                && !MemoryPolicy::bind(nodes("0")).interleaves()
        );
    }

    #[test]
    fn node_mask_has_one_bit_per_node() {
        let call = MemoryPolicy::bind(nodes("1,64")).call();
        assert_eq!((call.words(), call.bits()), (&[2, 1][..], 129));
        let call = MemoryPolicy::local().call();
        assert_eq!((call.words(), call.bits(), call.mode()), (&[][..], 0, LOCAL));
    }

    #[test]
    fn thread_has_the_policy_it_sets() {
        let set = |policy: &MemoryPolicy| {
            let call = policy.call();
            std::thread::scope(|scope| {
                scope.spawn(|| call.make().and_then(|()| MemoryPolicy::of_caller())).join().unwrap()
            })
        };
        let node = MemoryNodes::read(&Root::new("/")).usable().first().unwrap();
        for policy in [
            MemoryPolicy::bind(CpuSet::single(node)),
            MemoryPolicy::interleave(CpuSet::single(node)),
            MemoryPolicy::local(),
        ] {
            match set(&policy) {
                Ok(found) => assert_eq!(found, policy),
                Err(error) => return seatmap_needs::skipped!("no memory policies here: {error}"),
            }
        }
        assert!(MemoryPolicy::bind(CpuSet::single(1023)).check().is_err());
        assert!(MemoryPolicy::local().check().is_ok());
    }

    #[test]
    fn policy_errors_name_a_remedy() {
        let told = |policy: MemoryPolicy, code: i32| {
            policy.refusal(io::Error::from_raw_os_error(code)).to_string()
        };
        assert!(told(MemoryPolicy::local(), libc::ENOSYS).contains("built without NUMA"));
        assert!(told(MemoryPolicy::local(), libc::EPERM).contains("--cap-add SYS_NICE"));
        assert!(
            told(MemoryPolicy::weighted_interleave(nodes("0")), libc::EINVAL)
                .contains("needs Linux 6.9, and this is")
        );
        assert_eq!(
            told(MemoryPolicy::bind(nodes("9")), libc::EINVAL),
            "the kernel refused the memory policy bind:9"
        );
    }

    #[test]
    fn unusable_nodes_have_distinct_errors() {
        let known =
            MemoryNodes { present: nodes("0-2"), with_memory: nodes("0,1"), allowed: nodes("0") };
        assert_eq!(known.check(&nodes("0")), Ok(()));
        let refusal = |list: &str| known.check(&nodes(list)).unwrap_err().to_string();
        assert_eq!(refusal("0,7"), "NUMA node 7 does not exist: this machine has nodes 0-2");
        assert_eq!(refusal("2"), "NUMA node 2 has no memory; these have: 0,1");
        assert!(
            refusal("1")
                .starts_with("NUMA node 1 is outside the nodes that this process may use, 0:")
        );
        assert_eq!(known.usable(), nodes("0"));
    }

    #[test]
    fn nodes_are_read_from_sysfs_and_status() {
        let (_folder, root) = with_files(&[]);
        let one = MemoryNodes { present: nodes("0"), with_memory: nodes("0"), allowed: nodes("0") };
        assert_eq!(MemoryNodes::read(&root), one);
        let (_folder, root) = with_files(&[
            ("/sys/devices/system/node/online", "0-3\n"),
            ("/sys/devices/system/node/has_memory", "0,2-3\n"),
            ("/proc/self/status", "Name:\tx\nMems_allowed_list:\t0-2\n"),
        ]);
        let read = MemoryNodes::read(&root);
        assert_eq!(
            read,
            MemoryNodes {
                present: nodes("0-3"),
                with_memory: nodes("0,2-3"),
                allowed: nodes("0-2")
            }
        );
        assert_eq!(read.usable(), nodes("0,2"));
    }
}
