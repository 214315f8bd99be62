//! Draws a small picture of a machine's distances.

use crate::svg::cells::{Fill, paths};
use crate::{Grid, GridOrder, Scale};
use maud::{Markup, html};
use seatmap_data::machine::Profile;

const MOST_CELLS: usize = 32;

/// Empty without distances. On a large machine, each cell is the median of a square of pairs, so
/// two packages are still two squares.
pub fn thumbnail(profile: &Profile) -> Markup {
    let grid = Grid::of(profile, GridOrder::Group, None);
    let Some((grid, scale)) = grid.and_then(|grid| {
        let scale = Scale::of(grid.values_ns())?;
        Some((grid, scale))
    }) else {
        return html! {};
    };
    let pus = grid.os.len();
    let n = pus.min(MOST_CELLS);
    html! {
        svg.thumbnail xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {n} {n}"))
            width="64" height="64" aria-hidden="true" shape-rendering="crispEdges" {
            @for (fill, path) in paths(n, |row, column| cell(&grid, scale, [row, column], n)) {
                path fill=(fill.hex()) d=(path) {}
            }
        }
    }
}

/// `None` if the cell contains no pair of different PUs.
fn cell(grid: &Grid, scale: Scale, [row, column]: [usize; 2], n: usize) -> Option<Fill> {
    let pus = grid.os.len();
    let [rows, columns] = [row, column].map(|at| at * pus / n..(at + 1) * pus / n);
    let mut values_ns = Vec::from_iter(
        rows.flat_map(|i| columns.clone().map(move |j| (i, j)))
            .filter(|(i, j)| i != j)
            .map(|pair| grid.cells_ns[pair]),
    );
    if values_ns.is_empty() {
        return None;
    }
    values_ns.retain(|ns| ns.is_finite());
    values_ns.sort_by(f64::total_cmp);
    let median = values_ns.get(values_ns.len() / 2);
    Some(median.map_or(Fill::Unknown, |ns| Fill::at(scale.position(*ns))))
}
