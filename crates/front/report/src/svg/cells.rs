//! Draws cells as paths: one path for each colour, one rectangle for each run of equal cells.

use crate::palette::{Rgb, UNKNOWN, colour, hex, is_light};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The eye distinguishes fewer.
pub const LEVELS: f64 = 64.0;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fill {
    Level(u8),
    /// A predicted figure.
    Pale(u8),
    /// An unknown figure.
    Unknown,
}

/// (fill, path data) with cells of side 1; cells without a fill stay empty.
pub fn paths(
    n: usize,
    fill: impl Fn(usize, usize) -> Option<Fill>,
) -> impl Iterator<Item = (Fill, String)> {
    let mut paths: BTreeMap<Fill, String> = BTreeMap::new();
    for row in 0..n {
        let fills = Vec::from_iter((0..n).map(|column| fill(row, column)));
        let mut column = 0;
        for run in fills.chunk_by(|a, b| a == b) {
            if let Some(fill) = run[0] {
                let path = paths.entry(fill).or_default();
                // Writing to a String cannot fail.
                let _ = write!(path, "M{column} {row}h{0}v1h-{0}z", run.len());
            }
            column += run.len();
        }
    }
    paths.into_iter()
}

impl Fill {
    /// The step of a position between 0 and 1.
    pub fn at(position: f64) -> Self {
        Fill::Level((position * (LEVELS - 1.0)).round() as u8)
    }

    pub fn pale(self) -> Self {
        if let Fill::Level(level) = self { Fill::Pale(level) } else { self }
    }

    pub fn hex(self) -> String {
        hex(self.rgb())
    }

    /// `None` if fully opaque.
    pub fn opacity(self) -> Option<&'static str> {
        matches!(self, Fill::Pale(_)).then_some("0.45")
    }

    pub fn ink(self) -> &'static str {
        // A pale colour shows the light background, even if it is dark itself.
        let is_light = self.opacity().is_some() || is_light(self.rgb());
        if is_light { "#1b1f24" } else { "#ffffff" }
    }

    fn rgb(self) -> Rgb {
        match self {
            Fill::Level(level) | Fill::Pale(level) => colour(f64::from(level) / (LEVELS - 1.0)),
            Fill::Unknown => UNKNOWN,
        }
    }
}
