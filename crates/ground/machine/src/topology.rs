//! The hardware threads of a machine.

use crate::Pu;
use serde::{Deserialize, Serialize};

/// The PUs that can be used, by ascending OS index; holes are normal (offline CPUs, a reduced cpuset).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// One entry a PU.
    pub pus: Vec<Pu>,
}

impl Topology {
    /// A topology of which nothing is known but the OS indices.
    #[must_use]
    pub fn unknown(os: impl IntoIterator<Item = u32>) -> Self {
        Topology { pus: os.into_iter().map(|os| Pu { os, ..Pu::default() }).collect() }
    }

    /// The PU with this OS index.
    #[must_use]
    pub fn pu(&self, os: u32) -> Option<&Pu> {
        self.pus.iter().find(|pu| pu.os == os)
    }

    /// All OS indices, in order.
    pub fn os_indices(&self) -> impl Iterator<Item = u32> + '_ {
        self.pus.iter().map(|pu| pu.os)
    }

    /// Whether two PUs are hardware threads of one core. False where the cores are unknown.
    #[must_use]
    pub fn are_smt_siblings(&self, a: u32, b: u32) -> bool {
        let core = |os| self.pu(os).and_then(|pu| pu.core);
        a != b && core(a).is_some() && core(a) == core(b)
    }

    /// How many different values a level takes over all PUs, unknown ones not counted.
    ///
    /// ```
    /// # use seatmap_machine::{Topology, Pu};
    /// let pus = (0..4).map(|os| Pu { os, l3: Some(os / 2), ..Pu::default() }).collect();
    /// assert_eq!(Topology { pus }.count(|pu| pu.l3), 2);
    /// ```
    #[must_use]
    pub fn count(&self, level: impl Fn(&Pu) -> Option<u32>) -> usize {
        self.pus.iter().filter_map(level).collect::<std::collections::BTreeSet<_>>().len()
    }
}
