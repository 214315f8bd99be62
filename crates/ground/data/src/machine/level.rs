//! Levels of a topology.

use crate::machine::{Pu, Topology};

/// A part of the hardware that PUs can share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// A core.
    Core,
    /// A level-2 cache.
    L2,
    /// A cluster of cores within an L3 cache.
    Cluster,
    /// A level-3 cache.
    L3,
    /// A die.
    Die,
    /// A NUMA node.
    Numa,
    /// A package.
    Package,
    /// A book: packages of an IBM Z.
    Book,
    /// A drawer: books of an IBM Z.
    Drawer,
}

impl Level {
    /// All levels, from the inside.
    pub const ALL: [Level; 9] = [
        Level::Core,
        Level::L2,
        Level::Cluster,
        Level::L3,
        Level::Die,
        Level::Numa,
        Level::Package,
        Level::Book,
        Level::Drawer,
    ];

    /// The name of this level for people.
    pub fn name(self) -> &'static str {
        ["core", "l2", "cluster", "l3", "die", "numa", "package", "book", "drawer"][self as usize]
    }

    /// The level of this name, in letters of any case: its own, or that of hwloc, numactl or Slurm.
    ///
    /// ```
    /// use seatmap_data::machine::Level;
    /// assert_eq!(Level::named("socket"), Some(Level::Package));
    /// assert_eq!(Level::named("NODE"), Level::named("numa"));
    /// assert_eq!(Level::named("rack"), None);
    /// ```
    pub fn named(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let own = match word.as_str() {
            "socket" | "pack" => "package",
            "node" | "numanode" => "numa",
            "l3cache" => "l3",
            "l2cache" => "l2",
            word => word,
        };
        Level::ALL.into_iter().find(|level| level.name() == own)
    }

    /// The number of a PU's part of this level.
    pub fn of(self, pu: &Pu) -> Option<u32> {
        match self {
            Level::Core => pu.core,
            Level::L2 => pu.l2,
            Level::Cluster => pu.cluster,
            Level::L3 => pu.l3,
            Level::Die => pu.die,
            Level::Numa => pu.numa,
            Level::Package => pu.package,
            Level::Book => pu.book,
            Level::Drawer => pu.drawer,
        }
    }

    /// The group of each of these PUs, numbered from 0 in order of appearance; `None` if one is
    /// unknown.
    pub fn groups(self, topology: &Topology, pus: &[u32]) -> Option<Vec<u32>> {
        let mut seen = Vec::new();
        let groups: Option<Vec<u32>> = pus.iter().map(|os| self.of(topology.pu(*os)?)).collect();
        let numbers =
            groups?.into_iter().map(|group| match seen.iter().position(|other| *other == group) {
                Some(at) => at as u32,
                None => {
                    seen.push(group);
                    seen.len() as u32 - 1
                }
            });
        Some(numbers.collect())
    }
}
