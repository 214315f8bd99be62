//! Draws curves over two axes, for figures like those of papers.

use super::frame::{ChartFrame, Title, across_most, chart, up_most};
use super::legend;
use super::number;
use crate::axis::{Axis, AxisUnit};
use maud::{Markup, html};

/// Width of a picture, in user units: narrow enough to be legible on a telephone.
pub const WIDTH: f64 = 480.0;
/// Room for the texts of vertical ticks.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 22.0;
/// Room for the title of the vertical axis.
const ABOVE: f64 = 30.0;
const PLOT: f64 = 210.0;
/// Room for the ticks and the title of the horizontal axis.
const BELOW: f64 = 42.0;
/// Longer curves have no marks.
const MOST_MARKS: usize = 24;

/// The colours of curves, distinguishable for people who confuse red and green and in grey print
/// (Okabe & Ito 2008, "Color universal design").
pub const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];

/// A curve.
pub struct PlotCurve {
    /// Name in the legend.
    pub name: String,
    /// Points, (across, up).
    pub points: Vec<(f64, f64)>,
    /// Index of its colour in [`COLOURS`].
    pub colour: usize,
    /// Line width, in user units.
    pub width: f64,
}

impl PlotCurve {
    /// A curve in the colour of its index among others.
    pub fn new(at: usize, name: &str, points: Vec<(f64, f64)>) -> Self {
        PlotCurve { name: name.to_owned(), points, colour: at % COLOURS.len(), width: 1.8 }
    }

    pub(super) fn class(&self) -> String {
        format!("series-{}", self.colour)
    }
}

/// Curves with axes and names, for a page.
pub fn curves(curves: &[PlotCurve], across: Title, up: Title) -> Markup {
    let Some(drawing) = drawing(curves, across, up) else {
        return html! { p { "Nothing to draw." } };
    };
    let label = format!("{} against {}", up.text, across.text);
    chart([WIDTH, height(curves)], &label, &drawing)
}

/// The height of a picture of these curves, in user units.
pub fn height(curves: &[PlotCurve]) -> f64 {
    legend::height(curves, WIDTH) + ABOVE + PLOT + BELOW
}

/// The drawing inside the frame of [`curves`]; `None` without points.
pub fn drawing(curves: &[PlotCurve], across: Title, up: Title) -> Option<Markup> {
    let frame = frame(curves, across.unit, up.unit)?;
    Some(html! {
        (legend::legend(curves, WIDTH))
        (frame.title_up(up.text))
        (frame.ticks_up())
        (frame.ticks_across())
        (frame.title_across(across.text))
        @for curve in curves { (line(curve, &frame)) }
    })
}

fn frame(curves: &[PlotCurve], across: AxisUnit, up: AxisUnit) -> Option<ChartFrame> {
    let all = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let legend = legend::height(curves, WIDTH);
    let width = WIDTH - LEFT - RIGHT;
    let x = Axis::of(all().map(|point| point.0), across)?;
    Some(ChartFrame {
        left: LEFT,
        top: legend + ABOVE,
        width,
        height: PLOT,
        // Percentages end at a round value; other axes end where the data do.
        x: if across == AxisUnit::Percent { x.widened(across_most(width)) } else { x },
        y: Axis::of(all().map(|point| point.1), up)?.widened(up_most(PLOT)),
    })
}

fn line(curve: &PlotCurve, frame: &ChartFrame) -> Markup {
    let known = curve.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
    let places = Vec::from_iter(known.map(|(x, y)| (number(frame.x(*x)), number(frame.y(*y)))));
    let points = Vec::from_iter(places.iter().map(|(x, y)| format!("{x},{y}")));
    let class = curve.class();
    let colour = COLOURS[curve.colour];
    html! {
        polyline.(class) fill="none" stroke=(colour) stroke-width=(number(curve.width))
            points=(points.join(" ")) {}
        // Marks show where few points were measured; many marks would cover the line.
        @if points.len() <= MOST_MARKS {
            @for (x, y) in places { circle.(class) cx=(x) cy=(y) r="2.2" fill=(colour)
                stroke="none" {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(text: &str, unit: AxisUnit) -> Title<'_> {
        Title { text, unit }
    }

    #[test]
    fn curves_have_titled_axes_and_round_ticks() {
        let points = vec![(8.0, 292.0), (128.0, 300.0), (2048.0, 1_200.0), (16_384.0, 13_500.0)];
        let curves = curves(
            &[PlotCurve::new(0, "1 CPU", points)],
            title("bytes", AxisUnit::Bytes),
            title("latency", AxisUnit::Time),
        );
        insta::assert_snapshot!(curves.0.replace("><", ">\n<"));
    }

    #[test]
    fn empty_plot_and_unknown_points_are_drawn() {
        let across = title("CPU", AxisUnit::Cpu);
        let up = title("cycles", AxisUnit::Number);
        assert_eq!(curves(&[], across, up).0, "<p>Nothing to draw.</p>");
        let gap = PlotCurve::new(9, "x", vec![(1.0, f64::NAN), (2.0, 3.0)]);
        let picture = curves(&[gap], across, up).0;
        assert!(!picture.contains("NaN") && picture.contains("class=\"series-2\""), "{picture}");
    }
}
