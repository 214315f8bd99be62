//! `[topology]`: the number of parts at each level of the machine.

use super::PairClass;
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroU64};

/// The largest machine: Linux's `NR_CPUS` on x86-64. Its full matrix takes half a gigabyte.
pub const MAX_PUS: u32 = 8192;

pub(super) const MAX_CACHE_BYTES: u64 = 1 << 40;

/// A regular machine: packages of dies of L3s of cores of threads.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MachineShape {
    /// Packages (sockets).
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub packages: NonZeroU32,
    /// NUMA nodes per package; its cores are divided among them in equal runs.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub numa_nodes_per_package: NonZeroU32,
    /// Dies with cores per package.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub dies_per_package: NonZeroU32,
    /// Level-3 caches per die; 1 also for a last-level cache of another level.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub l3_per_die: NonZeroU32,
    /// Cores at each L3; on a hybrid processor the performance cores.
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub cores_per_l3: NonZeroU32,
    /// Cores of each cluster below the L3; 1 without clusters.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub cores_per_cluster: NonZeroU32,
    /// Whether the cores of a cluster share an L2.
    #[serde(default)]
    pub clusters_share_l2: bool,
    /// Hardware threads per core; on a hybrid processor per performance core.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub threads_per_core: NonZeroU32,
    /// The order of OS indices.
    #[serde(default)]
    pub numbering: Numbering,
    /// The size of each core's level-1 data cache, in bytes; on a hybrid processor of the
    /// performance cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub l1d_bytes: Option<u64>,
    /// The size of each core's level-1 instruction cache, in bytes; on a hybrid processor of the
    /// performance cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub l1i_bytes: Option<u64>,
    /// The size of each L2, in bytes; on a hybrid processor of the performance cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub l2_bytes: Option<u64>,
    /// The size of the L3s, in bytes: one figure for all, or one for each in their order; empty if
    /// unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1, max = MAX_CACHE_BYTES))))]
    pub l3_bytes: Vec<u64>,
    /// The sustained frequency of each core, in kHz; on a hybrid processor of the performance
    /// cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_khz: Option<NonZeroU64>,
    /// The highest frequency that all cores reach, in kHz; on a hybrid processor of the performance
    /// cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_khz: Option<NonZeroU64>,
    /// Efficiency cores next to the performance cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hybrid: Option<Hybrid>,
}

/// The order in which hardware threads get OS indices. Cores are numbered package by package; at
/// each L3 efficiency cores are last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Numbering {
    /// The first thread of every core, then the second of every core: Linux on most x86 servers.
    #[default]
    ThreadsLast,
    /// The threads of each core next to each other: Linux on Intel's hybrid processors, most VMs.
    ThreadsAdjacent,
}

/// The efficiency cores of a hybrid processor: one thread each, clusters that share an L2.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hybrid {
    /// Efficiency cores at each L3.
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub efficiency_cores_per_l3: NonZeroU32,
    /// Efficiency cores that share an L2.
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_PUS)))]
    pub efficiency_cores_per_cluster: NonZeroU32,
    /// The size of an efficiency core's level-1 data cache, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub efficiency_l1d_bytes: Option<u64>,
    /// The size of an efficiency core's level-1 instruction cache, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub efficiency_l1i_bytes: Option<u64>,
    /// The size of an efficiency cluster's L2, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CACHE_BYTES)))]
    pub efficiency_l2_bytes: Option<u64>,
    /// The sustained frequency of an efficiency core, in kHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiency_base_khz: Option<NonZeroU64>,
    /// The highest frequency of an efficiency core, in kHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiency_max_khz: Option<NonZeroU64>,
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

impl MachineShape {
    pub(super) fn l3_total(&self) -> u32 {
        self.packages.get() * self.dies_per_package.get() * self.l3_per_die.get()
    }

    pub(super) fn all_cores_per_l3(&self) -> u32 {
        self.cores_per_l3.get()
            + self.hybrid.as_ref().map_or(0, |hybrid| hybrid.efficiency_cores_per_l3.get())
    }

    pub(super) fn cores_per_package(&self) -> u32 {
        self.all_cores_per_l3() * self.l3_per_die.get() * self.dies_per_package.get()
    }

    /// Hardware threads of the whole machine. Saturates, because it is also called before the
    /// checks.
    pub fn pus(&self) -> u64 {
        let efficiency =
            self.hybrid.as_ref().map_or(0, |hybrid| hybrid.efficiency_cores_per_l3.get());
        let at_l3 = u64::from(self.cores_per_l3.get()) * u64::from(self.threads_per_core.get());
        [self.packages, self.dies_per_package, self.l3_per_die]
            .iter()
            // A description may give four thousand million for each factor.
            .fold(at_l3.saturating_add(efficiency.into()), |product, factor| {
                product.saturating_mul(factor.get().into())
            })
    }

    /// Whether the machine has pairs of this class.
    pub fn has(&self, class: PairClass) -> bool {
        let hybrid = self.hybrid.as_ref();
        match class {
            PairClass::Smt => more_than_one(self.threads_per_core),
            // In a hybrid processor, only efficiency cores have clusters.
            PairClass::SameCluster => more_than_one(
                hybrid.map_or(self.cores_per_cluster, |hybrid| hybrid.efficiency_cores_per_cluster),
            ),
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
