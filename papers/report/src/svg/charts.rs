//! Charts in a column, as a standalone picture.

use maud::{Markup, html};
use seatmap_report::AxisUnit;
use seatmap_report::svg::curves::{PlotCurve, WIDTH, curves, drawing, height};
use seatmap_report::svg::{Title, number, standalone};

const TITLE: f64 = 28.0;

/// Curves with a title.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The quantity on the horizontal axis: a size or count.
    pub across: String,
    /// The quantity on the vertical axis, in percent.
    pub up: String,
    /// Each curve's name and points.
    pub curves: Vec<(String, Vec<(f64, f64)>)>,
}

impl Chart {
    fn drawn(&self) -> Vec<PlotCurve> {
        self.curves
            .iter()
            .enumerate()
            .map(|(at, (name, points))| PlotCurve::new(at, name, points.clone()))
            .collect()
    }

    fn titles(&self) -> [Title<'_>; 2] {
        [
            Title { text: &self.across, unit: AxisUnit::Doublings },
            Title { text: &self.up, unit: AxisUnit::Percent },
        ]
    }

    /// The chart for a page, without its title.
    pub fn picture(&self) -> Markup {
        let [across, up] = self.titles();
        curves(&self.drawn(), across, up)
    }
}

/// Draws charts with points in a column.
pub fn charts(charts: &[Chart]) -> String {
    column(charts.iter().map(|chart| (chart.title.as_str(), chart.drawn(), chart.titles())))
}

/// Draws titled curves with points in a column.
pub(super) fn column<'a>(
    charts: impl Iterator<Item = (&'a str, Vec<PlotCurve>, [Title<'a>; 2])>,
) -> String {
    let mut below = 0.0;
    let mut drawn = Vec::new();
    for (title, curves, [across, up]) in charts {
        // A chart without points leaves no gap.
        if let Some(picture) = drawing(&curves, across, up) {
            drawn.push((below, title, picture));
            below += TITLE + height(&curves);
        }
    }
    let drawn = html! {
        @for (top, title, picture) in drawn {
            g transform=(format!("translate(0 {})", number(top))) {
                text x="0" y="20" font-size="13" font-weight="600" { (title) }
                g transform=(format!("translate(0 {TITLE})")) { (picture) }
            }
        }
    };
    standalone([WIDTH, below], &drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_stacked_vertically() {
        let chart = |title: &str, points: Vec<(f64, f64)>| Chart {
            title: title.to_owned(),
            across: "size".to_owned(),
            up: "gain in %".to_owned(),
            curves: vec![("one".to_owned(), points)],
        };
        let picture = charts(&[
            chart("a & b", vec![(1.0, 60.0), (2.0, 20.0)]),
            chart("nothing", vec![]),
            chart("c", vec![(1.0, 1.0)]),
        ]);
        assert!(
            picture.contains("viewBox=\"0 0 480 654\"") && picture.contains("translate(0 327)"),
            "{picture}"
        );
        assert!(picture.contains("a &amp; b") && !picture.contains("nothing"), "{picture}");
    }
}
