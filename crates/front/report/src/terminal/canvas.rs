//! Draws the cells of a picture: half blocks with colours, digits without.

use super::Colour;
use super::axis::{AxisLabel, horizontal, thin};
use super::layout::GridLayout;
use super::paint::PaintedLine;
use crate::Scale;
use crate::palette::{Rgb, UNKNOWN, colour};
use crate::reduced::Reduced;
use anstyle::Style;

/// Columns between labels within a group.
const APART: usize = 8;
/// Lines between labels within a group.
const LINES_APART: usize = 4;

#[derive(Clone, Copy)]
enum Point {
    /// A gap between groups, or a PU with itself.
    Blank,
    Unknown,
    At(f64),
}

impl Point {
    fn colour(self) -> Option<Rgb> {
        match self {
            Point::Blank => None,
            Point::Unknown => Some(UNKNOWN),
            Point::At(position) => Some(colour(position)),
        }
    }

    /// 0 (near) to 9 (far), `?` for unknown.
    fn digit(self) -> char {
        match self {
            Point::Blank => ' ',
            Point::Unknown => '?',
            // Ten classes of equal width; the far end belongs to the last.
            Point::At(position) => char::from(b'0' + (position * 10.0).clamp(0.0, 9.0) as u8),
        }
    }
}

pub fn draw(layout: &GridLayout, scale: Option<Scale>, colour: Colour) -> String {
    let small = &layout.small;
    let point = |row: Option<usize>, column: Option<usize>| match (row, column) {
        (Some(i), Some(j)) if !small.is_self(i, j) => match (small.grid.cells_ns[(i, j)], scale) {
            (value, Some(scale)) if value.is_finite() => Point::At(scale.position(value)),
            _ => Point::Unknown,
        },
        _ => Point::Blank,
    };
    let indent = " ".repeat(layout.label_width);
    let ticks = ticks(small, &layout.columns, 1);
    let mut text = format!("{indent}{}\n", horizontal(&ticks, APART, layout.room));
    let labels = row_labels(layout);
    for (line, rows) in layout.rows.chunks(layout.rows_a_line).enumerate() {
        let points = layout.columns.iter().map(|column| {
            // With an odd number of rows, the last line has no lower half.
            let at = |row: usize| rows.get(row).map_or(Point::Blank, |row| point(*row, *column));
            [at(0), at(1)]
        });
        text += &cells(&labels[line], points, colour);
    }
    text
}

fn cells(label: &str, points: impl Iterator<Item = [Point; 2]>, colour: Colour) -> String {
    let mut line = PaintedLine::default();
    line.push(Style::new(), label);
    for [upper, lower] in points {
        match colour {
            Colour::None => line.push(Style::new(), upper.digit().encode_utf8(&mut [0; 4])),
            _ => half_block(&mut line, upper.colour(), lower.colour(), colour),
        }
    }
    line.end()
}

/// The foreground paints the upper half of a character, the background the lower.
fn half_block(line: &mut PaintedLine, upper: Option<Rgb>, lower: Option<Rgb>, colour: Colour) {
    match (upper, lower) {
        (None, None) => line.push(Style::new(), " "),
        (Some(_), _) => line.push(colour.style(upper, lower), "▀"),
        (None, Some(_)) => line.push(colour.style(lower, None), "▄"),
    }
}

fn ticks(small: &Reduced, points: &[Option<usize>], points_a_place: usize) -> Vec<AxisLabel> {
    // A widened block takes two points; its label is at the first.
    (0..points.len())
        .filter(|at| points[*at].is_some() && (*at == 0 || points[*at] != points[*at - 1]))
        .map(|at| {
            let block = points[at].unwrap_or_default();
            AxisLabel {
                at: at / points_a_place,
                text: small.grid.os[block].to_string(),
                begins_group: block == 0 || small.grid.ends_group(block - 1),
            }
        })
        .collect()
}

fn row_labels(layout: &GridLayout) -> Vec<String> {
    let width = layout.label_width;
    let ticks = ticks(&layout.small, &layout.rows, layout.rows_a_line);
    let mut labels = vec![" ".repeat(width); layout.rows.len().div_ceil(layout.rows_a_line)];
    for tick in thin(&ticks, LINES_APART, |_| 2) {
        labels[tick.at] = format!("{:>1$} ", tick.text, width - 1);
    }
    labels
}
