//! Draws intervals below each other on one axis, with a line at 0: differences are clear of it.

use super::frame::{ChartFrame, across_most, chart};
use super::number;
use crate::axis::{Axis, AxisUnit};
use maud::{Markup, html};

/// A width legible on a telephone.
const WIDTH: f64 = 480.0;
const ROW: f64 = 40.0;
/// Room for the outer ticks.
const SIDE: f64 = 22.0;
const BELOW: f64 = 42.0;
/// The title of the axis.
pub const TITLE: &str = "difference, %";

/// A difference with its interval.
pub struct Interval {
    pub name: String,
    pub centre: f64,
    pub ends: Option<[f64; 2]>,
}

/// Each interval is below its name.
pub fn intervals(rows: &[Interval]) -> Markup {
    // Zero is always on the axis, even if all intervals are far from it.
    let values =
        rows.iter().flat_map(|row| row.ends.into_iter().flatten().chain([row.centre, 0.0]));
    let width = WIDTH - 2.0 * SIDE;
    let Some(x) = Axis::of(values, AxisUnit::Percent).map(|x| x.widened(across_most(width))) else {
        return html! { p { "Nothing to draw." } };
    };
    let height = ROW * rows.len() as f64;
    // Rows have no vertical axis; the frame needs one.
    let frame = ChartFrame { left: SIDE, top: 0.0, width, height, x, y: x };
    let drawn = html! {
        (frame.ticks_across())
        @for (at, row) in rows.iter().enumerate() { (drawn(row, ROW * at as f64, &frame)) }
        (frame.title_across(TITLE))
    };
    chart([WIDTH, height + BELOW], TITLE, &drawn)
}

fn drawn(row: &Interval, top: f64, frame: &ChartFrame) -> Markup {
    let y = top + 28.0;
    let zero = number(frame.x(0.0));
    html! {
        // Below the name, which it would cross.
        line.zero x1=(zero) x2=(zero) y1=(number(y - 9.0)) y2=(number(top + ROW)) stroke="#57606a"
            stroke-width="1.5" {}
        text.name x="0" y=(number(top + 14.0)) { (row.name) }
        g {
            @if let Some([low, high]) = row.ends {
                line.series-0 x1=(number(frame.x(low))) x2=(number(frame.x(high))) y1=(number(y))
                    y2=(number(y))
                    stroke="#0072b2" stroke-width="3" {}
            }
            circle.series-0 cx=(number(frame.x(row.centre))) cy=(number(y)) r="4" fill="#0072b2"
                stroke="none" {}
        }
    }
}
