//! The hardware threads of a machine.

use crate::machine::Pu;
use serde::{Deserialize, Serialize};

/// The usable PUs, by ascending OS index; gaps are normal (offline CPUs, a reduced cpuset).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Topology {
    /// One entry per PU.
    pub pus: Vec<Pu>,
}

impl Topology {
    /// A topology with only OS indices.
    pub fn unknown(os: impl IntoIterator<Item = u32>) -> Self {
        Topology { pus: os.into_iter().map(|os| Pu { os, ..Pu::default() }).collect() }
    }

    /// The PU with this OS index.
    pub fn pu(&self, os: u32) -> Option<&Pu> {
        place_of(&self.pus, os, |pu| pu.os).map(|at| &self.pus[at])
    }

    /// All OS indices, in order.
    pub fn os_indices(&self) -> impl Iterator<Item = u32> + '_ {
        self.pus.iter().map(|pu| pu.os)
    }

    /// Whether two PUs are hardware threads of one core. False if the cores are unknown.
    pub fn are_smt_siblings(&self, a: u32, b: u32) -> bool {
        a != b
            && self.pu(a).and_then(|pu| pu.core).is_some()
            && self.pu(a).and_then(|pu| pu.core) == self.pu(b).and_then(|pu| pu.core)
    }

    /// Counts a level's different known values over all PUs.
    ///
    /// ```
    /// # use seatmap_data::machine::{Topology, Pu};
    /// let pus = (0..4).map(|os| Pu { os, l3: Some(os / 2), ..Pu::default() }).collect();
    /// assert_eq!(Topology { pus }.count(|pu| pu.l3), 2);
    /// ```
    pub fn count(&self, level: impl Fn(&Pu) -> Option<u32>) -> usize {
        self.pus.iter().filter_map(level).collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// The position of a PU in a list, by its OS index.
pub fn place_of<T>(list: &[T], os: u32, os_of: impl Fn(&T) -> u32) -> Option<usize> {
    let halved = list.binary_search_by_key(&os, &os_of).ok();
    halved.or_else(|| list.iter().position(|one| os_of(one) == os))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_finds_pus_in_any_order_and_with_gaps() {
        for order in [vec![0, 1, 2, 3], vec![2, 5, 64, 65], vec![65, 3, 9, 0, 7]] {
            let topology = Topology::unknown(order.iter().copied());
            for (at, os) in order.iter().enumerate() {
                assert_eq!(topology.pu(*os), topology.pus.get(at), "{os} in {order:?}");
            }
            assert_eq!(topology.pu(6), None, "{order:?}");
        }
    }

    #[test]
    fn siblings_share_a_known_core() {
        let mut topology = Topology::unknown(0..4);
        assert!(!topology.are_smt_siblings(0, 2), "no cores are known");
        topology.pus.iter_mut().for_each(|pu| pu.core = Some(pu.os % 2));
        assert!(topology.are_smt_siblings(0, 2) && !topology.are_smt_siblings(0, 1));
        assert!(!topology.are_smt_siblings(0, 0) && !topology.are_smt_siblings(0, 9));
    }
}
