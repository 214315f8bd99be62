//! Cells as paths: one path a colour, one rectangle a run of equal cells.

use crate::palette::{UNKNOWN, colour, hex};
use crate::{Grid, Scale};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Steps of the colour scale; an eye tells fewer apart.
const LEVELS: f64 = 64.0;

/// What a cell is filled with, by level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fill {
    Level(u8),
    Unknown,
}

/// (colour, path data) with cells of side 1. The diagonal stays empty.
pub(super) fn paths(grid: &Grid, scale: Scale) -> impl Iterator<Item = (String, String)> {
    let mut paths: BTreeMap<Fill, String> = BTreeMap::new();
    for row in 0..grid.os.len() {
        let fills: Vec<Option<Fill>> = (0..grid.os.len()).map(|column| fill(grid, scale, row, column)).collect();
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

fn fill(grid: &Grid, scale: Scale, row: usize, column: usize) -> Option<Fill> {
    let value = grid.cells_ns[(row, column)];
    match row == column {
        true => None,
        false if !value.is_finite() => Some(Fill::Unknown),
        false => Some(Fill::Level((scale.position(value) * (LEVELS - 1.0)).round() as u8)),
    }
}

impl Fill {
    fn hex(self) -> String {
        match self {
            Fill::Level(level) => hex(colour(f64::from(level) / (LEVELS - 1.0))),
            Fill::Unknown => hex(UNKNOWN),
        }
    }
}
