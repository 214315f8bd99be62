//! Memory policies in the kernel's form (`include/uapi/linux/mempolicy.h`).

use seatmap_os::CpuSet;

/// Flags of a mode, above the modes themselves.
const FLAG_BITS: u32 = 1 << 13 | 1 << 14 | 1 << 15;

const NAMES: [&str; 7] =
    ["default", "prefer", "bind", "interleave", "local", "prefer-many", "weighted-interleave"];

const DEFAULT: u32 = 0;
const PREFERRED: u32 = 1;
const LOCAL: u32 = 4;

/// A memory policy; by default the kernel's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PretendedPolicy {
    mode: u32,
    flags: u32,
    /// Its nodes.
    pub nodes: CpuSet,
}

impl PretendedPolicy {
    /// A requested policy; `None` if the kernel would refuse it. `usable` nodes have memory.
    pub fn of(number: u32, nodes: &CpuSet, usable: &CpuSet) -> Option<Self> {
        let mode = number & !FLAG_BITS;
        let flags = number & FLAG_BITS;
        let kept = nodes.within(usable);
        let is_valid = match mode {
            DEFAULT | LOCAL => nodes.is_empty(),
            // Without a node it means the local one.
            PREFERRED => nodes.is_empty() || !kept.is_empty(),
            _ => (mode as usize) < NAMES.len() && !kept.is_empty(),
        };
        is_valid.then_some(PretendedPolicy { mode, flags, nodes: kept })
    }

    /// The number returned by `get_mempolicy`.
    pub fn number(&self) -> u32 {
        self.mode | self.flags
    }

    /// Whether pages go to its nodes in turn.
    pub fn interleaves(&self) -> bool {
        NAMES[self.mode as usize].ends_with("interleave")
    }

    /// A page's node, by the policy or the first touching thread's node.
    pub fn node(&self, page: u64, local: u32) -> u32 {
        let count = self.nodes.len().max(1) as u64;
        let rank = if self.interleaves() { page % count } else { 0 };
        self.nodes.iter().nth(rank as usize).unwrap_or(local)
    }
}

impl std::fmt::Display for PretendedPolicy {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(NAMES[self.mode as usize])?;
        if self.nodes.is_empty() { Ok(()) } else { write!(out, ":{}", self.nodes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made::set;

    fn policy(mode: u32, nodes: &str) -> Option<PretendedPolicy> {
        PretendedPolicy::of(mode, &set(nodes), &set("0-1"))
    }

    #[test]
    fn policies_are_accepted_and_rejected_like_kernel() {
        assert_eq!(policy(2, "0-5").unwrap().to_string(), "bind:0,1");
        assert_eq!(policy(2, "5"), None, "no node with memory");
        assert_eq!([policy(2, ""), policy(0, "1"), policy(9, "0")], [None, None, None]);
        assert_eq!(policy(0, "").unwrap(), PretendedPolicy::default());
        let flagged = policy(3 | 1 << 15, "0-1").unwrap();
        assert_eq!((flagged.number(), flagged.interleaves()), (3 | 1 << 15, true));
    }

    #[test]
    fn pages_follow_memory_policy() {
        let interleaved = policy(3, "0-1").unwrap();
        assert_eq!([interleaved.node(6, 0), interleaved.node(7, 0)], [0, 1]);
        assert_eq!(
            [policy(2, "1").unwrap().node(6, 0), PretendedPolicy::default().node(6, 3)],
            [1, 3]
        );
    }
}
