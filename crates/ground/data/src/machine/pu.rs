//! One hardware thread.

use serde::{Deserialize, Serialize};

/// A hardware thread (PU) and the parts that it shares with others.
///
/// Two PUs share a level if their numbers of that level are equal; the numbers have no other
/// meaning and need not be dense. Null means unknown, or that the machine has no such level. The
/// terms are hwloc's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pu {
    /// The operating system's index.
    pub os: u32,
    /// The core.
    #[serde(default)]
    pub core: Option<u32>,
    /// Its rank among the PUs of its core, from 0.
    #[serde(default)]
    pub smt: Option<u32>,
    /// The level-2 cache.
    #[serde(default)]
    pub l2: Option<u32>,
    /// The cluster: cores that share an L3 tag or a bus below the L3 cache, if the kernel reports
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<u32>,
    /// The level-3 cache: a core complex on AMD, a whole socket on most Intel parts.
    #[serde(default)]
    pub l3: Option<u32>,
    /// The die.
    #[serde(default)]
    pub die: Option<u32>,
    /// The NUMA node of local memory, by its OS index.
    #[serde(default)]
    pub numa: Option<u32>,
    /// The nearest NUMA node with memory, if its own is known to have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u32>,
    /// The package (socket).
    #[serde(default)]
    pub package: Option<u32>,
    /// The book: a group of packages on IBM Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book: Option<u32>,
    /// The drawer: a group of books on IBM Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawer: Option<u32>,
    /// The kind of its core on a hybrid processor.
    #[serde(default)]
    pub kind: Option<CoreKind>,
    /// The size of its core's level-1 data cache, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1d_bytes: Option<u64>,
    /// The size of its core's level-1 instruction cache, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1i_bytes: Option<u64>,
    /// The size of its level-2 cache, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_bytes: Option<u64>,
    /// The size of its level-3 cache, in bytes; the dies of one package may differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l3_bytes: Option<u64>,
    /// The firmware's ranking of this PU, if it ranks PUs: the scheduler prefers a higher one
    /// (CPPC's highest performance, Intel's Turbo Boost Max 3.0, AMD's preferred cores).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// The type of its core on Arm: implementer and part of `MIDR_EL1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_type: Option<u64>,
    /// Linux's `cpu_capacity`: 1024 for the fastest PU of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// Its sustained frequency, in kHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_khz: Option<u64>,
    /// Its highest frequency, in kHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_khz: Option<u64>,
}

impl Pu {
    /// The NUMA node of its memory: its own, or the nearest with memory if its own has none.
    pub fn memory_node(&self) -> Option<u32> {
        self.memory.or(self.numa)
    }
}

/// The kind of core on a hybrid processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CoreKind {
    /// The strongest type of core.
    #[serde(rename = "P")]
    Performance,
    /// A type between the strongest and the weakest.
    #[serde(rename = "M")]
    Middle,
    /// The weakest ordinary type.
    #[serde(rename = "E")]
    Efficiency,
    /// A core of the low-power island, apart from the others' last-level cache.
    #[serde(rename = "LP")]
    LowPower,
}

impl CoreKind {
    /// All kinds, the strongest first.
    pub const ALL: [CoreKind; 4] =
        [CoreKind::Performance, CoreKind::Middle, CoreKind::Efficiency, CoreKind::LowPower];

    /// The name used in profiles: `P`, `M`, `E` or `LP`.
    pub fn letters(self) -> &'static str {
        ["P", "M", "E", "LP"][self as usize]
    }

    /// The word for people, as after `kind:`.
    pub fn word(self) -> &'static str {
        ["performance", "middle", "efficiency", "low-power"][self as usize]
    }

    /// Whether a stronger type of core exists next to it.
    pub fn is_slower(self) -> bool {
        self != CoreKind::Performance
    }
}
