//! Small charts as SVG: they need no script and use the page's colours.

use crate::axis::{Axis, AxisUnit};
use crate::page::Block;
use crate::svg::PlotCurve;
use crate::svg::frame::{ChartFrame, Title, chart};
use crate::svg::number;
use crate::{Digits, Scale};
use maud::{Markup, html};
use seatmap_data::machine::LoadedPoint;
use seatmap_measure::classes::DistanceClass;

/// Narrow, because the histograms are next to the heat map.
const WIDTH: f64 = 300.0;
/// Room for the outer ticks.
const SIDE: f64 = 14.0;
/// The height of a class: name, histogram and gap.
const ROW: f64 = 56.0;
const BARS: f64 = 30.0;
/// Room for ticks and title.
const BELOW: f64 = 40.0;
const BINS: usize = 96;

/// A histogram for each class on a common axis, with its median.
pub fn distribution(classes: &[(DistanceClass, Vec<f64>)], scale: Scale, digits: Digits) -> Markup {
    let plot = ROW * classes.len() as f64;
    let x = Axis::of_scale(scale, AxisUnit::Nanoseconds);
    let frame =
        ChartFrame { left: SIDE, top: 0.0, width: WIDTH - 2.0 * SIDE, height: plot, x, y: x };
    let drawn = html! {
        @for (at, (class, values_ns)) in classes.iter().enumerate() {
            (row(class, values_ns, ROW * (at as f64 + 1.0), &frame, digits))
        }
        (frame.ticks_across())
        (frame.title_across("round trip, ns"))
    };
    chart([WIDTH, plot + BELOW], "Distribution of distances by class", &drawn)
}

/// `floor` is the lower end of the bars.
fn row(
    class: &DistanceClass,
    values_ns: &[f64],
    floor: f64,
    frame: &ChartFrame,
    digits: Digits,
) -> Markup {
    let width = frame.width / BINS as f64;
    let median = frame.x(class.median_ns);
    let bars =
        histogram(values_ns, &frame.x).into_iter().enumerate().filter(|(_, height)| *height > 0.0);
    html! {
        text.name x="0" y=(number(floor - BARS - 10.0)) { (class.name) }
        text.tick x=(WIDTH) y=(number(floor - BARS - 10.0))
            text-anchor="end" { "median " (digits.show(class.median_ns)) }
        line.rule x1=(number(frame.left)) x2=(number(frame.left + frame.width)) y1=(number(floor))
            y2=(number(floor)) {}
        @for (at, height) in bars {
            rect.bar x=(number(frame.left + at as f64 * width)) y=(number(floor - height))
                width=(number(width - 0.5))
                height=(number(height)) {}
        }
        rect.median x=(number(median - 1.0)) y=(number(floor - BARS - 3.0)) width="2"
            height=(number(BARS + 6.0)) rx="1" {}
    }
}

/// Square roots of the counts, so a few far pairs next to a thousand near ones are visible.
fn histogram(values_ns: &[f64], axis: &Axis) -> Vec<f64> {
    let mut counts = vec![0u32; BINS];
    for value in values_ns.iter().filter(|value| value.is_finite()) {
        counts[((axis.position(*value) * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(0).max(1);
    counts.into_iter().map(|count| BARS * (f64::from(count) / f64::from(most)).sqrt()).collect()
}

/// Quantiles by the number of concurrent pairs; at least two points.
pub fn loaded(points: &[LoadedPoint]) -> Block {
    let names = if points.len() > 1 { &["p90", "median", "p10"][..] } else { &[] };
    let curves = names.iter().enumerate().map(|(at, name)| {
        let points = points.iter().map(|point| {
            let ns = [point.p90_ns, point.median_ns, point.p10_ns][at];
            (f64::from(point.pairs), ns)
        });
        PlotCurve::new(at, name, points.collect())
    });
    Block::Curves {
        curves: curves.collect(),
        across: "pairs at once",
        up: Title { text: "round trip", unit: AxisUnit::Time },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_shows_class_with_median() {
        let class = |name: &str, median_ns| {
            let name = name.to_owned();
            let pairs = 1;
            let quantiles_of = seatmap_measure::classes::QuantilesOf::Samples;
            (
                DistanceClass { name, pairs, median_ns, p10_ns: 50.0, p90_ns: 50.0, quantiles_of },
                vec![median_ns],
            )
        };
        let scale = Scale::whole([10.0, 100.0].into_iter()).unwrap();
        let classes = [class("SMT siblings", 12.0), class("same NUMA node, other group", 87.5)];
        insta::assert_snapshot!(
            distribution(&classes, scale, Digits::for_resolution(0.1)).0.replace("><", ">\n<")
        );
    }
}
