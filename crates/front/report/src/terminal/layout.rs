//! Arranges the cells of a picture: their number, size, and the gaps between groups.

use super::{Colour, DrawOptions};
use crate::Grid;
use crate::reduced::Reduced;

/// Taller pictures are not widened: they would not fit on one screen.
const WIDEN_UP_TO: usize = 32;
/// With smaller groups, gaps would take half the picture.
const CELLS_FOR_A_GAP: usize = 3;

/// The block of each column and row of points; `None` is a gap.
pub struct GridLayout {
    pub small: Reduced,
    /// Includes the space after the labels.
    pub label_width: usize,
    /// Characters to the right of the labels.
    pub room: usize,
    pub columns: Vec<Option<usize>>,
    pub rows: Vec<Option<usize>>,
    /// Two rows as half blocks, one as digits.
    pub rows_a_line: usize,
}

impl GridLayout {
    /// Fits the width and, if possible, this many lines.
    pub fn fit(grid: &Grid, options: &DrawOptions, lines: usize) -> Self {
        let label_width = label_width(grid);
        let rows_a_line = if options.colour == Colour::None { 1 } else { 2 };
        let columns = options.width.saturating_sub(label_width).max(1);
        let rows = lines.saturating_mul(rows_a_line).max(1);
        let gaps = gaps(grid, columns.min(rows));
        // The matrix is square, so the smaller side decides.
        let small = Reduced::new(grid, columns.min(rows).saturating_sub(gaps));
        let wide = small.blocks.len() <= WIDEN_UP_TO && 2 * small.blocks.len() + gaps <= columns;
        let tall = wide && rows_a_line == 2 && 2 * small.blocks.len() + gaps <= rows;
        // Half blocks are square and grow in both directions; digits are twice as high as wide.
        let widened = tall || (wide && rows_a_line == 1);
        GridLayout {
            label_width,
            room: columns,
            columns: points(&small, if widened { 2 } else { 1 }, gaps > 0),
            rows: points(&small, if tall { 2 } else { 1 }, gaps > 0),
            rows_a_line,
            small,
        }
    }
}

pub fn label_width(grid: &Grid) -> usize {
    grid.os.iter().max().map_or(1, |os| os.to_string().len()) + 1
}

/// One between every two groups, or none.
fn gaps(grid: &Grid, room: usize) -> usize {
    let gaps = (0..grid.os.len()).filter(|row| grid.ends_group(*row)).count();
    if (gaps + 1) * CELLS_FOR_A_GAP <= room.min(grid.os.len()) { gaps } else { 0 }
}

fn points(small: &Reduced, size: usize, gaps: bool) -> Vec<Option<usize>> {
    (0..small.blocks.len())
        .flat_map(|at| {
            let gap = gaps && small.grid.ends_group(at);
            std::iter::repeat_n(Some(at), size).chain(gap.then_some(None))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GridOrder;
    use crate::samples::grouped;
    use proptest::prelude::*;

    fn grid(n: u32, size: u32) -> Grid {
        Grid::of(&grouped(n, size), GridOrder::Group, None).unwrap()
    }

    #[test]
    fn small_cells_are_widened_and_groups_separated() {
        let layout = GridLayout::fit(&grid(6, 3), &DrawOptions::default(), usize::MAX);
        let columns: String = layout
            .columns
            .iter()
            .map(|at| at.map_or(' ', |at| char::from(b'a' + at as u8)))
            .collect();
        assert_eq!(columns, "aabbcc ddeeff");
        assert_eq!(layout.rows.len(), 7);
    }

    #[test]
    fn groups_of_two_get_no_gaps() {
        let layout = GridLayout::fit(&grid(40, 2), &DrawOptions::default(), usize::MAX);
        assert_eq!(layout.columns.len(), 40);
    }

    proptest! {
        #[test]
        fn layout_fits_width_and_lines(n in 1u32..300, size in 1u32..40, width in 20usize..150, lines in 6usize..90, colour: bool) {
            let colour = if colour { Colour::True } else { Colour::None };
            let layout = GridLayout::fit(&grid(n, size), &DrawOptions { colour, width, ..DrawOptions::default() }, lines);
            prop_assert!(layout.columns.len() + layout.label_width <= width);
            prop_assert!(layout.rows.len().div_ceil(layout.rows_a_line) <= lines);
        }
    }
}
