//! Names of curves in rows above a plot.

use super::number;
use maud::{Markup, html};

/// Height of a row.
pub(super) const ROW: f64 = 17.0;
/// The length of a line before its name, and the gap from a name to the next line.
const LINE: f64 = 24.0;
const AIR: f64 = 14.0;
/// The width of a letter: a wide one, since the page's font is the reader's own.
const LETTER: f64 = 6.6;

/// A curve's name, its class in the page's style, and its colour where there is none.
pub(super) struct Entry<'a> {
    pub name: &'a str,
    pub class: String,
    pub colour: &'static str,
    pub width: f64,
}

/// How high the rows of these names are in a width.
pub(super) fn height<'a>(names: impl Iterator<Item = &'a str>, width: f64) -> f64 {
    places(names, width).last().map_or(0.0, |(_, y)| y + ROW)
}

/// The names, from the upper left corner of a picture of this width.
pub(super) fn legend(entries: &[Entry], width: f64) -> Markup {
    let places = places(entries.iter().map(|entry| entry.name), width);
    html! {
        @for (entry, (x, y)) in entries.iter().zip(places) {
            line.(entry.class) x1=(number(x)) x2=(number(x + LINE - 6.0)) y1=(number(y + 8.0)) y2=(number(y + 8.0))
                stroke=(entry.colour) stroke-width=(number(entry.width + 0.6)) {}
            text x=(number(x + LINE)) y=(number(y + 12.0)) fill="#1b1f24" { (entry.name) }
        }
    }
}

/// The corner of each name's entry; an entry that does not fit into a row begins the next.
fn places<'a>(names: impl Iterator<Item = &'a str>, width: f64) -> Vec<(f64, f64)> {
    let mut x = 0.0;
    let mut y = 0.0;
    let mut place = |name: &str| {
        let wide = LINE + LETTER * name.chars().count() as f64;
        if x > 0.0 && x + wide > width {
            (x, y) = (0.0, y + ROW);
        }
        let at = (x, y);
        x += wide + AIR;
        at
    };
    names.map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_a_row_where_the_last_is_full() {
        let names = ["1 SPE", "2 SPEs", "a name of twenty-four le", "x"];
        let at = places(names.into_iter(), 300.0);
        assert_eq!(at.iter().map(|(_, y)| *y).collect::<Vec<_>>(), [0.0, 0.0, ROW, ROW]);
        assert_eq!(
            (height(names.into_iter(), 300.0), height(std::iter::empty(), 300.0)),
            (2.0 * ROW, 0.0)
        );
    }
}
