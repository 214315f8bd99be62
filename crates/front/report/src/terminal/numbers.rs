//! Draws a small matrix as a table: each cell's number on a background of its colour.

use super::DrawOptions;
use super::layout::label_width;
use super::paint::PaintedLine;
use crate::palette::{Rgb, UNKNOWN, colour, is_light};
use crate::{Digits, Grid, Scale};
use anstyle::Style;
use seatmap_data::machine::PairStatus;

/// `None` if the numbers do not fit the width even without decimals.
pub fn table(
    grid: &Grid,
    scale: Option<Scale>,
    digits: Digits,
    options: &DrawOptions,
) -> Option<String> {
    let room = options.width - label_width(grid).min(options.width);
    let digits = [digits, digits.whole()]
        .into_iter()
        .find(|digits| widest(grid, *digits) * grid.os.len() <= room)?;
    let width = widest(grid, digits);
    let mut head = " ".repeat(label_width(grid));
    for os in &grid.os {
        head += &format!("{os:>0$}", width - 1);
        head.push(' ');
    }
    let mut text = head.trim_end().to_owned() + "\n";
    for row in 0..grid.os.len() {
        let mut line = PaintedLine::default();
        line.push(Style::new(), &format!("{:>1$} ", grid.os[row], label_width(grid) - 1));
        for column in 0..grid.os.len() {
            let value = grid.cells_ns[(row, column)];
            let number = if row == column { "-".to_owned() } else { digits.show(value) };
            let ground = (row != column).then(|| ground(value, scale));
            let ink = ground.map(|ground| if is_light(ground) { [0; 3] } else { [255; 3] });
            let text = format!("{number:>0$}{1}", width - 1, mark(grid.status[(row, column)]));
            line.push(options.colour.style(ink, ground), &text);
        }
        text += &line.end();
    }
    Some(text)
}

/// A cell's number, its mark, and a blank to the left.
fn widest(grid: &Grid, digits: Digits) -> usize {
    // The diagonal's dash is never the widest.
    let numbers = grid.values_ns().map(|value| digits.show(value).len());
    let labels = grid.os.iter().map(|os| os.to_string().len());
    numbers.chain(labels).max().unwrap_or(1) + 2
}

fn ground(value: f64, scale: Option<Scale>) -> Rgb {
    scale.filter(|_| value.is_finite()).map_or(UNKNOWN, |scale| colour(scale.position(value)))
}

/// The mark of a pair without a single stable distance.
pub fn mark(status: Option<PairStatus>) -> char {
    match status {
        Some(PairStatus::MultiRegime | PairStatus::Unsteady) => '*',
        Some(PairStatus::Drifting) => '~',
        Some(PairStatus::Stacked) => '!',
        _ => ' ',
    }
}
