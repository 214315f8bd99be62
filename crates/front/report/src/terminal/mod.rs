//! Profiles in the terminal.

mod axis;
mod canvas;
mod caption;
mod layout;
mod numbers;
mod page;
mod paint;
pub mod top;
mod tree;

pub use crate::page::draw::line::{LEAST_COLUMNS, command, wrapped};
pub use page::page;

use crate::{Digits, Grid, GridOrder, Scale};
use layout::GridLayout;
use seatmap_data::machine::Profile;

/// The colours of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Colour {
    /// 24-bit colours.
    True,
    /// The 256 fixed colours.
    Ansi256,
    /// No colours, and only ASCII: for pipes, files and `NO_COLOR`.
    #[default]
    None,
}

/// How to draw.
#[derive(Clone, Copy)]
pub struct DrawOptions {
    /// Colours of the terminal.
    pub colour: Colour,
    /// Columns of the terminal.
    pub width: usize,
    /// Order of rows and columns.
    pub order: GridOrder,
    /// Home whose predictions replace the medians.
    pub home: Option<usize>,
}

impl Default for DrawOptions {
    fn default() -> Self {
        DrawOptions { colour: Colour::None, width: 80, order: GridOrder::Group, home: None }
    }
}

/// Up to this many PUs, every cell contains its number.
const NUMBERS_UP_TO: usize = 16;
/// A narrower picture would show nothing.
const LEAST_WIDTH: usize = 20;

/// The core distances as a picture, or a line that says that there are none.
pub fn heatmap(profile: &Profile, options: &DrawOptions) -> String {
    let Some(grid) = Grid::of(profile, options.order, options.home) else {
        return "No core distances to draw.\n".to_owned();
    };
    draw(&grid, Digits::of(profile), options, usize::MAX)
}

/// A picture of at most `lines` lines, as far as the minimum size allows.
pub(crate) fn draw(grid: &Grid, digits: Digits, options: &DrawOptions, lines: usize) -> String {
    let options = DrawOptions { width: options.width.max(LEAST_WIDTH), ..*options };
    let scale = Scale::of(grid.values_ns());
    // The table has a line of labels above, and the legend's two below.
    let numbers = (grid.os.len() <= NUMBERS_UP_TO && grid.os.len() + 3 <= lines)
        .then(|| numbers::table(grid, scale, digits, &options))
        .flatten();
    match numbers {
        // Figures without colours need no scale.
        Some(table) if options.colour == Colour::None => table + &caption::note(scale, &options),
        Some(table) => table + &caption::legend(scale, digits, &options),
        None => reduced(grid, scale, &options, lines) + &caption::legend(scale, digits, &options),
    }
}

/// Cells without numbers.
fn reduced(grid: &Grid, scale: Option<Scale>, options: &DrawOptions, lines: usize) -> String {
    let layout = GridLayout::fit(grid, options, lines.saturating_sub(caption::LINES + 2));
    canvas::draw(&layout, scale, options.colour) + &caption::reduction(&layout.small)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{grouped, two_groups};
    use insta::assert_snapshot;

    fn shown(text: &str) -> String {
        text.replace('\u{1b}', "␛")
    }

    fn picture(profile: &Profile, colour: Colour, width: usize) -> String {
        shown(&heatmap(profile, &DrawOptions { colour, width, ..DrawOptions::default() }))
    }

    #[test]
    fn numbers_are_drawn_in_every_colour_depth() {
        let profile = two_groups();
        assert_snapshot!("numbers-plain", picture(&profile, Colour::None, 80));
        assert_snapshot!("numbers-256", picture(&profile, Colour::Ansi256, 80));
        assert_snapshot!("numbers-24-bit", picture(&profile, Colour::True, 80));
    }

    #[test]
    fn cells_are_drawn_in_every_colour_depth() {
        let mut profile = grouped(24, 6);
        if let Some(distance) = &mut profile.core_distance {
            distance.median_ns.set_both(3, 20, f64::NAN);
        }
        assert_snapshot!("cells-plain", picture(&profile, Colour::None, 80));
        assert_snapshot!("cells-256", picture(&profile, Colour::Ansi256, 80));
        assert_snapshot!("cells-24-bit", picture(&profile, Colour::True, 80));
    }

    #[test]
    fn large_matrix_is_reduced_to_narrow_terminal() {
        assert_snapshot!("reduced-plain", picture(&grouped(96, 8), Colour::None, 40));
    }

    #[test]
    fn prediction_for_one_home_is_drawn() {
        let options = DrawOptions { home: Some(1), ..DrawOptions::default() };
        assert_snapshot!("home-1-plain", heatmap(&two_groups(), &options));
    }

    #[test]
    fn missing_distances_are_reported() {
        let mut profile = two_groups();
        profile.core_distance = None;
        assert_eq!(heatmap(&profile, &DrawOptions::default()), "No core distances to draw.\n");
    }

    #[test]
    fn the_largest_machines_fit_into_a_terminal() {
        let text =
            heatmap(&grouped(512, 16), &DrawOptions { width: 120, ..DrawOptions::default() });
        assert!(text.lines().all(|line| line.len() <= 120));
        assert!(text.lines().count() < 124, "{}", text.lines().count());
    }
}
