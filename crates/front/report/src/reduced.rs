//! A matrix reduced in size, for more PUs than room.

use crate::Grid;
use seatmap_data::machine::{Matrix, Square};
use std::ops::Range;

/// The medians of blocks of a grid. With means, one disturbed pair would colour its whole block.
pub struct Reduced {
    /// Rows of the grid in each block.
    pub blocks: Vec<Range<usize>>,
    /// A row for each block, with the OS index of its first PU. Blocks cross groups only if there
    /// are more groups than room. NaN if no pair is known.
    pub grid: Grid,
}

impl Reduced {
    /// At most `room` rows and columns, but at least one.
    pub fn new(grid: &Grid, room: usize) -> Self {
        let blocks = blocks(&grid.group, room.max(1));
        let group = blocks.iter().map(|block| grid.group[block.start]).collect();
        let os = blocks.iter().map(|block| grid.os[block.start]).collect();
        let cells_ns = Square::from_fn(blocks.len(), |i, j| {
            block_median(&grid.cells_ns, &blocks[i], &blocks[j])
        });
        Reduced { grid: Grid { group, ..Grid::plain(os, cells_ns) }, blocks }
    }

    pub fn largest(&self) -> usize {
        self.blocks.iter().map(Range::len).max().unwrap_or(1)
    }

    /// Whether the cell is a PU's distance to itself.
    pub fn is_self(&self, i: usize, j: usize) -> bool {
        i == j && self.blocks[i].len() == 1
    }
}

fn blocks(group: &[usize], room: usize) -> Vec<Range<usize>> {
    let whole = 0..group.len();
    let runs = runs(group);
    // With more groups than room, blocks must cross groups.
    let parts = if runs.len() <= room { runs } else { vec![whole] };
    let size = (1..=group.len())
        .find(|size| parts.iter().map(|part| part.len().div_ceil(*size)).sum::<usize>() <= room)
        .unwrap_or(1);
    parts.into_iter().flat_map(|part| split(part, size)).collect()
}

/// The rows of each group.
pub fn runs(group: &[usize]) -> Vec<Range<usize>> {
    let mut end = 0;
    group
        .chunk_by(usize::eq)
        .map(|run| {
            let start = end;
            end += run.len();
            start..end
        })
        .collect()
}

/// Pieces of at most `size` and nearly equal length.
fn split(part: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let pieces = part.len().div_ceil(size);
    // Integer division spreads the remainder: pieces differ by at most one row.
    let cut = move |piece: usize| part.start + part.len() * piece / pieces.max(1);
    (0..pieces).map(move |piece| cut(piece)..cut(piece + 1))
}

fn block_median(cells: &Matrix, rows: &Range<usize>, columns: &Range<usize>) -> f64 {
    let pairs = rows.clone().flat_map(|i| columns.clone().map(move |j| (i, j)));
    let mut known =
        Vec::from_iter(pairs.filter(|(i, j)| i != j).map(|at| cells[at]).filter(|v| v.is_finite()));
    if known.is_empty() {
        return f64::NAN;
    }
    // The upper median of an even number. Selection takes linear time, once for each cell.
    let middle = known.len() / 2;
    *known.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(group: &[usize]) -> Grid {
        let os = Vec::from_iter(0..group.len() as u32);
        let cells =
            Matrix::from_fn(group.len(), |i, j| if group[i] == group[j] { 50.0 } else { 200.0 });
        Grid { group: group.to_vec(), ..Grid::plain(os, cells) }
    }

    #[test]
    fn blocks_do_not_straddle_groups() {
        let reduced = Reduced::new(&grid(&[0, 0, 0, 0, 0, 1, 1, 1]), 5);
        assert_eq!(reduced.blocks, [0..1, 1..3, 3..5, 5..6, 6..8]);
        assert_eq!(reduced.grid.cells_ns[(0, 1)], 50.0);
        assert_eq!(reduced.grid.cells_ns[(2, 3)], 200.0);
        assert!(reduced.grid.ends_group(2) && !reduced.grid.ends_group(3));
    }

    #[test]
    fn one_disturbed_pair_does_not_colour_its_block() {
        let mut grid = grid(&[0; 8]);
        grid.cells_ns.set_both(0, 7, 9000.0);
        assert_eq!(Reduced::new(&grid, 2).grid.cells_ns[(0, 1)], 50.0);
    }

    #[test]
    fn only_single_pu_block_is_self() {
        assert!(Reduced::new(&grid(&[0; 4]), 4).is_self(2, 2));
        assert!(!Reduced::new(&grid(&[0; 4]), 2).is_self(1, 1));
        assert!(Reduced::new(&grid(&[]), 4).blocks.is_empty());
    }

    proptest! {
        #[test]
        fn blocks_cover_all_rows_and_fit(group in prop::collection::vec(0usize..4, 1..200), room in 1usize..80) {
            let reduced = Reduced::new(&grid(&group), room);
            prop_assert!(reduced.blocks.len() <= room);
            let rows = Vec::from_iter(reduced.blocks.iter().cloned().flatten());
            prop_assert_eq!(rows, Vec::from_iter(0..group.len()));
        }
    }
}
