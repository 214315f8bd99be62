//! Draws the names of curves in rows above a plot.

use super::curves::{COLOURS, PlotCurve};
use super::number;
use maud::{Markup, html};

pub const ROW: f64 = 17.0;
/// A line before its name, and the gap after it.
const LINE: f64 = 24.0;
const AIR: f64 = 14.0;
/// A wide letter, since the browser chooses the font.
const LETTER: f64 = 6.6;

pub fn height(curves: &[PlotCurve], width: f64) -> f64 {
    places(curves, width).last().map_or(0.0, |(_, y)| y + ROW)
}

pub fn legend(curves: &[PlotCurve], width: f64) -> Markup {
    html! {
        @for (curve, (x, y)) in curves.iter().zip(places(curves, width)) {
            // The page's dark style has its own colours.
            line.(curve.class()) x1=(number(x)) x2=(number(x + LINE - 6.0)) y1=(number(y + 8.0))
                y2=(number(y + 8.0))
                stroke=(COLOURS[curve.colour]) stroke-width=(number(curve.width + 0.6)) {}
            text x=(number(x + LINE)) y=(number(y + 12.0)) fill="#1b1f24" { (curve.name) }
        }
    }
}

/// An entry that does not fit into a row begins the next.
fn places(curves: &[PlotCurve], width: f64) -> Vec<(f64, f64)> {
    let mut x = 0.0;
    let mut y = 0.0;
    let mut places = Vec::new();
    for curve in curves {
        let wide = LINE + LETTER * curve.name.chars().count() as f64;
        // A name longer than a row begins one, and is not moved further.
        if x > 0.0 && x + wide > width {
            (x, y) = (0.0, y + ROW);
        }
        places.push((x, y));
        x += wide + AIR;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_legend_row_wraps() {
        let curves = ["1 CPU", "2 CPUs", "a name of twenty-four le", "x"]
            .map(|name| PlotCurve::new(0, name, Vec::new()));
        let rows = Vec::from_iter(places(&curves, 300.0).iter().map(|(_, y)| *y));
        assert_eq!(rows, [0.0, 0.0, ROW, ROW]);
        assert_eq!((height(&curves, 300.0), height(&[], 300.0)), (2.0 * ROW, 0.0));
    }
}
