//! Core distances: the round trip of one cache line between every two PUs.

use crate::machine::topology::place_of;
use crate::machine::{Matrix, PairStatus, Square};
use serde::{Deserialize, Serialize};

/// Core distances (Liu et al. 2015): round-trip nanoseconds for one cache line, for every pair of
/// PUs.
///
/// All matrices are square, in the order of `pus`, symmetric, zero on the diagonal, `null` if
/// unknown. Only the median is always present; imported files have nothing else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreDistance {
    /// OS indices, in matrix order.
    pub pus: Vec<u32>,
    /// The median round trip of each pair, in nanoseconds: the figure to quote.
    #[cfg_attr(feature = "schema", schemars(inner(inner(range(min = 0)))))]
    pub median_ns: Matrix,
    /// The tenth percentile of the batches, in nanoseconds.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(inner(range(min = 0)))))]
    pub p10_ns: Option<Matrix>,
    /// The median absolute deviation from the median, unscaled, in nanoseconds.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(inner(range(min = 0)))))]
    pub mad_ns: Option<Matrix>,
    /// Lower end of the 95 % bootstrap interval of the median, in nanoseconds.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(inner(range(min = 0)))))]
    pub ci95_low_ns: Option<Matrix>,
    /// Upper end of that interval, in nanoseconds.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(inner(range(min = 0)))))]
    pub ci95_high_ns: Option<Matrix>,
    /// The distribution of each pair's batches, in nanoseconds, one row per pair: first the pairs
    /// of row 0 of the matrices by column, then those of row 1, and so on. A row has the fastest
    /// batch, the first to ninth decile and the slowest batch; it is `null` for pairs without
    /// batches. Samples are not kept, because a large machine has millions.
    #[serde(default)]
    pub deciles_ns: Option<Vec<Option<Deciles>>>,
    /// How reliable each pair's distance is; `null` on the diagonal.
    pub status: Square<Option<PairStatus>>,
    /// The levels of the pairs whose status is multi-regime.
    #[serde(default)]
    pub regimes: Vec<PairRegimes>,
    /// How it was measured; null for unmeasured figures.
    #[serde(default)]
    pub protocol: Option<Protocol>,
}

/// The fastest batch of a pair, its first to its ninth decile, and its slowest batch, in round-trip
/// nanoseconds.
pub type Deciles = [f64; 11];

/// The levels between which one pair flips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairRegimes {
    /// The two OS indices.
    pub pus: [u32; 2],
    /// The regimes from fast to slow; shares add up to 1.
    pub regimes: Vec<Regime>,
}

/// One level of a pair that flips between several.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Regime {
    /// The median in this regime.
    pub median_ns: f64,
    /// The share of the samples, 0 to 1.
    pub share: f64,
}

/// How core distances were measured, and which samples were dropped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Protocol {
    /// Visits to each pair; each visits all pairs in a new random order.
    pub passes: u32,
    /// Further visits to the pairs whose passes disagreed, spread over a second or more.
    #[serde(default)]
    pub further_passes: u32,
    /// Timed batches per visit.
    pub batches: u32,
    /// Round trips per batch.
    pub round_trips: u32,
    /// The smallest meaningful difference: clock step over round trips.
    pub resolution_ns: f64,
    /// Dropped batches with an interruption (a gap too long for any cache).
    pub discarded_gap: u64,
    /// Dropped batches whose thread was switched out.
    pub discarded_switched: u64,
    /// Dropped batches whose thread was seen on another PU.
    pub discarded_moved: u64,
    /// Kept batches.
    pub kept: u64,
    /// Wall-clock seconds of the whole matrix.
    pub seconds: f64,
    /// Whether pairs were measured at the same time.
    #[serde(default)]
    pub parallel: bool,
}

impl CoreDistance {
    /// Distances with only medians, as in other tools' files, in round-trip nanoseconds.
    pub fn imported(pus: Vec<u32>, median_ns: Matrix) -> Self {
        CoreDistance {
            status: Square::from_fn(pus.len(), |i, j| (i != j).then_some(PairStatus::Imported)),
            pus,
            median_ns,
            ..CoreDistance::default()
        }
    }

    /// The row of a PU in the matrices.
    pub fn index_of(&self, os: u32) -> Option<usize> {
        place_of(&self.pus, os, |pu| *pu)
    }
}
