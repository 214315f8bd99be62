//! The file of a hierarchical machine: `seatmap-coherent/1` with a fabric of kind `levels`.

use super::ORDINARY;
use crate::ModelError;
use crate::coherent::fabric::LANES;
use crate::coherent::figures::CoherentFigures;
use crate::coherent::homes::hashed;
use crate::figure::{ModelFigure, parsed};
use seatmap_data::machine::CoreKind;
use seatmap_data::machine::description::Basis;
use serde::{Deserialize, Serialize};

/// The keys of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hierarchy {
    /// [`FORMAT`](crate::coherent::FORMAT).
    pub format: String,
    /// Name of the machine.
    pub name: String,
    /// One line about the machine.
    pub summary: String,
    /// Sources of the figures.
    pub sources: Vec<String>,
    /// Core clock.
    pub frequency_ghz: ModelFigure,
    /// Ticks of a core cycle: distances are whole numbers of ticks.
    pub ticks_per_cycle: u32,
    /// Kind of fabric, and its links.
    pub fabric: Ties,
    /// Homes of lines, if there are several.
    #[serde(default)]
    pub homes: Option<HierarchyHomes>,
    /// Round trips between groups, and the rest of pairs.
    pub distances: HierarchyDistances,
    /// Cores.
    pub cores: Vec<CoreWritten>,
    /// Costs of all other operations.
    pub figures: CoherentFigures,
}

/// The fabric's kind, and what its links carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ties {
    /// `levels`.
    pub kind: String,
    /// Core cycles for which an address, a line and an acknowledgement keep a link to another
    /// package busy.
    pub package_busy_cycles: [u32; LANES],
    /// Basis of these cycles.
    pub basis: Basis,
    /// Source or reason of the cycles.
    pub source: String,
}

/// The homes of lines, on a machine whose homes are not among the line's sharers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HierarchyHomes {
    /// Homes; cores have an offset for each.
    pub count: u32,
    /// Seed of the hash that distributes lines over homes.
    pub hash_seed: u32,
    /// Whether cores of one group nevertheless settle a line between them.
    pub settled_in_groups: bool,
}

/// Round trips in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HierarchyDistances {
    /// Basis of the distances.
    pub kind: Basis,
    /// Source of the distances.
    pub source: String,
    /// B: inside groups (the diagonal) and between them; `nan` inside a group of one core.
    pub between_ns: Vec<Vec<f64>>,
    /// The rest of each pair of cores after B and the offsets, below the diagonal: row i holds
    /// cores 0 to i - 1. Empty if none.
    #[serde(default)]
    pub rest_ns: Vec<Vec<f64>>,
}

/// One core.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreWritten {
    /// Its hardware threads, as the operating system numbers them.
    pub pus: Vec<u32>,
    /// Its group: a row of `between_ns`.
    pub group: u32,
    /// Its level-2 cache.
    #[serde(default)]
    pub l2: Option<u32>,
    /// Its level-3 cache.
    #[serde(default)]
    pub l3: Option<u32>,
    /// Its die.
    #[serde(default)]
    pub die: Option<u32>,
    /// Its NUMA node.
    #[serde(default)]
    pub numa: Option<u32>,
    /// Its package.
    #[serde(default)]
    pub package: Option<u32>,
    /// Kind of core, on a hybrid processor.
    #[serde(default)]
    pub kind: Option<CoreKind>,
    /// Round trip between its threads, if it has several.
    #[serde(default)]
    pub sibling_ns: Option<f64>,
    /// Nanoseconds that it adds to each of its distances, by home.
    pub offset_ns: Vec<f64>,
}

impl Hierarchy {
    /// Reads the text. The machine it describes is checked later.
    ///
    /// # Errors
    /// [`ModelError`] with the position, if the text is not TOML or does not have these keys.
    pub fn read(name: &str, text: &str) -> Result<Self, ModelError> {
        parsed(name, text)
    }

    /// Default figures of ordinary machines.
    ///
    /// # Errors
    /// [`ModelError`], if the built-in file is wrong: a bug in Seatmap.
    pub fn ordinary() -> Result<CoherentFigures, ModelError> {
        parsed("ordinary.toml", ORDINARY)
    }

    pub(crate) fn ticks_per_ns(&self) -> f64 {
        self.frequency_ghz.value * f64::from(self.ticks_per_cycle)
    }

    /// Counts offsets of each core.
    pub fn home_count(&self) -> usize {
        self.homes.as_ref().map_or(1, |homes| homes.count as usize)
    }

    /// The home of a line.
    pub fn home_of(&self, line: u32) -> usize {
        self.homes
            .as_ref()
            .map_or(0, |homes| hashed(line, homes.hash_seed.into(), homes.count as usize))
    }

    pub(crate) fn settles(&self) -> bool {
        self.homes.as_ref().is_none_or(|homes| homes.settled_in_groups)
    }

    /// The round trip in nanoseconds of two different cores for a line of this home; NaN if
    /// unknown.
    pub fn round_trip_ns(&self, a: usize, b: usize, home: usize) -> f64 {
        let first = &self.cores[a];
        let second = &self.cores[b];
        let base = self.distances.between_ns[first.group as usize][second.group as usize];
        let rest = self
            .distances
            .rest_ns
            .get(a.max(b))
            .and_then(|row| row.get(a.min(b)))
            .copied()
            .unwrap_or(0.0);
        base + first.offset_ns[home] + second.offset_ns[home] + rest
    }
}
