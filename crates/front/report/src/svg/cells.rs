//! Cells as paths: one path a colour, one rectangle a run of equal cells.

use crate::palette::{UNKNOWN, colour, hex};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Steps of the colour scale; the eye distinguishes fewer.
pub(super) const LEVELS: f64 = 64.0;

/// The fill of a cell, by level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fill {
    /// A step of the scale, from 0.
    Level(u8),
    /// The colour of what is not known.
    Unknown,
}

/// (colour, path data) with cells of side 1, for `n` rows and columns; cells without a fill stay
/// empty.
pub(super) fn paths(
    n: usize,
    fill: impl Fn(usize, usize) -> Option<Fill>,
) -> impl Iterator<Item = (String, String)> {
    let mut paths: BTreeMap<Fill, String> = BTreeMap::new();
    for row in 0..n {
        let fills: Vec<Option<Fill>> = (0..n).map(|column| fill(row, column)).collect();
        let mut column = 0;
        for run in fills.chunk_by(|a, b| a == b) {
            if let Some(fill) = run[0] {
                let path = paths.entry(fill).or_default();
                // Writing to a String has no way to fail.
                let _ = write!(path, "M{column} {row}h{0}v1h-{0}z", run.len());
            }
            column += run.len();
        }
    }
    paths.into_iter().map(|(fill, path)| (fill.hex(), path))
}

impl Fill {
    fn hex(self) -> String {
        match self {
            Fill::Level(level) => hex(colour(f64::from(level) / (LEVELS - 1.0))),
            Fill::Unknown => hex(UNKNOWN),
        }
    }
}
