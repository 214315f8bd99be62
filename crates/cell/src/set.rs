//! Sets of CPUs in the kernel's two spellings: lists (`0-3,8`) and hexadecimal masks (`f0f,00000001`).

use seatmap_machine::CpuList;
use std::collections::BTreeSet;
use std::fmt;

/// Bits in one group of a mask (`Documentation/core-api/printk-formats`, `%*pb`).
const GROUP_BITS: u32 = 32;

/// Some CPUs, by OS index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSet(pub BTreeSet<u32>);

impl CpuSet {
    /// Reads a list; an empty text is the empty set. `None` where it is no list.
    #[must_use]
    pub fn of_list(text: &str) -> Option<Self> {
        match text.trim() {
            "" => Some(CpuSet::default()),
            text => text.parse::<CpuList>().ok().map(|list| list.0.into_iter().collect()),
        }
    }

    /// Reads a mask, its highest group first. `None` where it is none.
    #[must_use]
    pub fn of_mask(text: &str) -> Option<Self> {
        let mut cpus = BTreeSet::new();
        for (rank, group) in text.trim().rsplit(',').enumerate() {
            let bits = u32::from_str_radix(group, 16).ok()?;
            let first = u32::try_from(rank).ok()?.checked_mul(GROUP_BITS)?;
            cpus.extend((0..GROUP_BITS).filter(|bit| bits >> bit & 1 == 1).map(|bit| first + bit));
        }
        Some(CpuSet(cpus))
    }

    /// As a mask.
    #[must_use]
    pub fn to_mask(&self) -> String {
        let groups = self.0.last().map_or(1, |last| last / GROUP_BITS + 1);
        let bits = |group: u32| {
            let own = self.0.range(group * GROUP_BITS..(group + 1) * GROUP_BITS);
            own.fold(0u32, |bits, cpu| bits | 1 << (cpu % GROUP_BITS))
        };
        (0..groups).rev().map(|group| format!("{:08x}", bits(group))).collect::<Vec<_>>().join(",")
    }

    /// As a list in ascending order.
    #[must_use]
    pub fn list(&self) -> CpuList {
        CpuList(self.0.iter().copied().collect())
    }

    /// These without those.
    #[must_use]
    pub fn without(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 - &other.0)
    }

    /// These and those.
    #[must_use]
    pub fn with(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 | &other.0)
    }

    /// Whether the two have a CPU in common.
    #[must_use]
    pub fn meets(&self, other: &CpuSet) -> bool {
        !self.0.is_disjoint(&other.0)
    }

    /// These without the CPUs of a cell; where nothing would be left, all that is not the cell's.
    #[must_use]
    pub fn outside(&self, cell: &CpuSet, rest: &CpuSet) -> CpuSet {
        let left = self.without(cell);
        if left.0.is_empty() { rest.clone() } else { left }
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list().fmt(out)
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        CpuSet(cpus.into_iter().collect())
    }
}

impl From<&CpuList> for CpuSet {
    fn from(list: &CpuList) -> Self {
        list.0.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn masks_are_read_as_the_kernel_writes_them() {
        assert_eq!(CpuSet::of_mask("3"), CpuSet::of_list("0-1"));
        assert_eq!(CpuSet::of_mask("1,00000005\n"), CpuSet::of_list("0,2,32"));
        assert_eq!((CpuSet::of_mask("x"), CpuSet::of_mask("")), (None, None));
    }

    #[test]
    fn nothing_left_means_everywhere_else() {
        let set = |text| CpuSet::of_list(text).unwrap();
        assert_eq!(set("0-3").outside(&set("2-3"), &set("0-1,4")), set("0-1"));
        assert_eq!(set("2").outside(&set("2-3"), &set("0-1,4")), set("0-1,4"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(cpus in prop::collection::btree_set(0u32..300, 0..40)) {
            let set = CpuSet(cpus);
            prop_assert_eq!(CpuSet::of_mask(&set.to_mask()), Some(set.clone()));
            prop_assert_eq!(CpuSet::of_list(&set.to_string()), Some(set));
        }
    }
}
