//! `[topology]`: the number of parts at each level of the machine.

use super::PairClass;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The largest machine that can be described: Linux's `NR_CPUS` on x86-64. A full matrix of it
/// takes half a gigabyte.
pub const MAX_PUS: u32 = 8192;

/// The largest cache accepted, a terabyte.
pub(super) const MAX_CACHE_BYTES: u64 = 1 << 40;

/// A regular machine: packages of dies of L3s of cores of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MachineShape {
    /// Packages (sockets).
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub packages: NonZeroU32,
    /// NUMA nodes a package; its cores are dealt to them in equal runs.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub numa_nodes_per_package: NonZeroU32,
    /// Dies a package that carry cores.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub dies_per_package: NonZeroU32,
    /// Level-3 caches per die; 1 also for a last-level cache of another level.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub l3_per_die: NonZeroU32,
    /// Cores at each L3; the performance cores on a hybrid processor.
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub cores_per_l3: NonZeroU32,
    /// Cores that sit together below the L3; 1 where they do not.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub cores_per_cluster: NonZeroU32,
    /// Whether the cores of a cluster have one L2.
    #[serde(default)]
    pub clusters_share_l2: bool,
    /// Hardware threads a core; of the performance cores on a hybrid processor.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub threads_per_core: NonZeroU32,
    /// The order in which OS indices are given to PUs.
    #[serde(default)]
    pub numbering: Numbering,
    /// The size of each core's level-1 cache of data, in bytes; of the performance cores on a
    /// hybrid processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub l1d_bytes: Option<u64>,
    /// The size of each core's level-1 cache of instructions, in bytes; of the performance cores on
    /// a hybrid processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub l1i_bytes: Option<u64>,
    /// The size of each L2, in bytes; of the performance cores on a hybrid processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub l2_bytes: Option<u64>,
    /// The size of the L3s, in bytes: one figure for all, or one for each in their order; empty
    /// where it is not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1, max = MAX_CACHE_BYTES))))]
    pub l3_bytes: Vec<u64>,
    /// Efficiency cores beside the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hybrid: Option<Hybrid>,
}

/// How OS indices are dealt to hardware threads. Cores come package by package; at each L3
/// efficiency cores come last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Numbering {
    /// The first thread of every core, then the second of every core: Linux on most x86 servers.
    #[default]
    ThreadsLast,
    /// All threads of a core side by side: Linux on Intel's hybrid processors, most VMs.
    ThreadsAdjacent,
}

/// The efficiency cores of a hybrid processor: one thread each, clusters that share an L2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hybrid {
    /// Efficiency cores at each L3.
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub efficiency_cores_per_l3: NonZeroU32,
    /// Efficiency cores that share an L2.
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub efficiency_cores_per_cluster: NonZeroU32,
    /// The size of an efficiency core's level-1 cache of data, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub efficiency_l1d_bytes: Option<u64>,
    /// The size of an efficiency core's level-1 cache of instructions, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub efficiency_l1i_bytes: Option<u64>,
    /// The size of an efficiency cluster's L2, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub efficiency_l2_bytes: Option<u64>,
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

impl MachineShape {
    /// Level-3 caches of the whole machine.
    pub(super) fn l3_total(&self) -> u32 {
        self.packages.get() * self.dies_per_package.get() * self.l3_per_die.get()
    }

    /// Cores of both kinds at each L3.
    pub(super) fn all_cores_per_l3(&self) -> u32 {
        self.cores_per_l3.get()
            + self.hybrid.as_ref().map_or(0, |hybrid| hybrid.efficiency_cores_per_l3.get())
    }

    /// Cores of both kinds in each package.
    pub(super) fn cores_per_package(&self) -> u32 {
        self.all_cores_per_l3() * self.l3_per_die.get() * self.dies_per_package.get()
    }

    /// Hardware threads of the whole machine; wide and saturating, so that it can be asked before
    /// anything is checked.
    #[must_use]
    pub fn pus(&self) -> u64 {
        let efficiency =
            self.hybrid.as_ref().map_or(0, |hybrid| hybrid.efficiency_cores_per_l3.get());
        let at_l3 = u64::from(self.cores_per_l3.get()) * u64::from(self.threads_per_core.get());
        [self.packages, self.dies_per_package, self.l3_per_die]
            .iter()
            // Saturating: a description may name four thousand million of each part.
            .fold(at_l3.saturating_add(efficiency.into()), |product, factor| {
                product.saturating_mul(factor.get().into())
            })
    }

    /// Whether the machine has pairs of this class.
    #[must_use]
    pub fn has(&self, class: PairClass) -> bool {
        let hybrid = self.hybrid.as_ref();
        match class {
            PairClass::Smt => more_than_one(self.threads_per_core),
            // Of a hybrid processor, only efficiency cores stand in clusters.
            PairClass::SameCluster => more_than_one(
                hybrid.map_or(self.cores_per_cluster, |hybrid| hybrid.efficiency_cores_per_cluster),
            ),
            // Cores of one cluster belong to a nearer class.
            PairClass::SameL3 => self.cores_per_l3 > self.cores_per_cluster,
            PairClass::EfficiencyClusters => hybrid.is_some_and(|hybrid| {
                hybrid.efficiency_cores_per_l3 > hybrid.efficiency_cores_per_cluster
            }),
            PairClass::MixedKinds => hybrid.is_some(),
            PairClass::SameDie => more_than_one(self.l3_per_die),
            PairClass::SamePackage => more_than_one(self.dies_per_package),
            PairClass::OtherPackage => more_than_one(self.packages),
        }
    }
}

fn more_than_one(count: NonZeroU32) -> bool {
    count.get() > 1
}
