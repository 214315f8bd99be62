//! The file of a hierarchical machine: `seatmap-coherent/1` with a fabric of kind `levels`.

use super::ORDINARY;
use crate::ModelError;
use crate::coherent::fabric::LANES;
use crate::coherent::homes::hashed;
use crate::coherent::written::Figures;
use crate::figure::{Figure, syntax};
use seatmap_machine::CoreKind;
use seatmap_machine::description::Basis;
use serde::{Deserialize, Serialize};

/// The keys of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hierarchy {
    /// [`FORMAT`](crate::coherent::FORMAT).
    pub format: String,
    /// Its name.
    pub name: String,
    /// One line about the machine.
    pub summary: String,
    /// The sources of the figures.
    pub sources: Vec<String>,
    /// The core clock.
    pub frequency_ghz: Figure,
    /// Ticks of a core cycle: distances are whole numbers of ticks.
    pub ticks_per_cycle: u32,
    /// The kind of fabric, and its links.
    pub fabric: Ties,
    /// Homes of lines, where there are several.
    #[serde(default)]
    pub homes: Option<HierarchyHomes>,
    /// Round trips between groups, and what is left of pairs.
    pub distances: Distances,
    /// The cores.
    pub cores: Vec<CoreWritten>,
    /// The costs of everything else.
    pub figures: Figures,
}

/// The fabric's kind, and what its links carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ties {
    /// `levels`.
    pub kind: String,
    /// Core cycles for which a link to another package is busy with an address, a line, an acknowledgement.
    pub package_busy_cycles: [u32; LANES],
    /// The basis of these cycles.
    pub basis: Basis,
    /// Where that is written, or why.
    pub source: String,
}

/// Where lines are kept, when not with who holds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HierarchyHomes {
    /// How many there are; cores have an offset for each.
    pub count: u32,
    /// Where the hash starts that deals lines to them.
    pub hash_seed: u32,
    /// Whether cores of one group settle a line between them all the same.
    pub settled_in_groups: bool,
}

/// Round trips in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distances {
    /// The basis of the distances.
    pub kind: Basis,
    /// Where that is written.
    pub source: String,
    /// B: inside groups (the diagonal) and between them; `nan` inside a group of one core.
    pub between_ns: Vec<Vec<f64>>,
    /// The rest that B and the offsets leave of the pairs of cores, below the diagonal: row i holds cores 0 to i - 1.
    /// Empty for nothing.
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
    /// The kind of core, on a hybrid processor.
    #[serde(default)]
    pub kind: Option<CoreKind>,
    /// The round trip between its threads, where it has several.
    #[serde(default)]
    pub sibling_ns: Option<f64>,
    /// Nanoseconds that it adds to each of its distances, by home.
    pub offset_ns: Vec<f64>,
}

impl Hierarchy {
    /// Reads the text; whether it makes a machine is not known yet.
    ///
    /// # Errors
    /// Not TOML, or not these keys; with the place.
    pub fn read(name: &str, text: &str) -> Result<Self, ModelError> {
        toml::from_str(text).map_err(|error| syntax(name, text, &error))
    }

    /// The figures assumed for ordinary machines.
    ///
    /// # Errors
    /// That the built-in file is wrong, which is a mistake of Seatmap's.
    pub fn ordinary() -> Result<Figures, ModelError> {
        toml::from_str(ORDINARY).map_err(|error| syntax("ordinary.toml", ORDINARY, &error))
    }

    /// Ticks of a nanosecond.
    pub(crate) fn ticks_per_ns(&self) -> f64 {
        self.frequency_ghz.value * f64::from(self.ticks_per_cycle)
    }

    /// How many offsets each core has.
    #[must_use]
    pub fn home_count(&self) -> usize {
        self.homes.as_ref().map_or(1, |homes| homes.count as usize)
    }

    /// The home of a line.
    #[must_use]
    pub fn home_of(&self, line: u32) -> usize {
        self.homes.as_ref().map_or(0, |homes| hashed(line, homes.hash_seed.into(), homes.count as usize))
    }

    /// Whether cores of one group settle a line between them.
    pub(crate) fn settles(&self) -> bool {
        self.homes.as_ref().is_none_or(|homes| homes.settled_in_groups)
    }

    /// The round trip that two cores (not one) are to have for a line of this home, in nanoseconds; NaN where it is
    /// not known.
    #[must_use]
    pub fn round_trip_ns(&self, a: usize, b: usize, home: usize) -> f64 {
        let (first, second) = (&self.cores[a], &self.cores[b]);
        let base = self.distances.between_ns[first.group as usize][second.group as usize];
        let rest = self.distances.rest_ns.get(a.max(b)).and_then(|row| row.get(a.min(b))).copied().unwrap_or(0.0);
        base + first.offset_ns[home] + second.offset_ns[home] + rest
    }
}
