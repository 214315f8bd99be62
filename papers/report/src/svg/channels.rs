//! Distances by CPU and gains by comparison, like the figures of Liu et al. 2015.

use maud::Markup;
use seatmap_experiments::channels::curve::PuDistance;
use seatmap_experiments::channels::slices::RoundTripSpread;
use seatmap_experiments::channels::{ChannelsResult, ExperimentFigures};
use seatmap_report::AxisUnit;
use seatmap_report::svg::curves::{PlotCurve, WIDTH, curves, drawing, height};
use seatmap_report::svg::{Title, standalone};

/// An experiment's result as a standalone picture.
pub fn channels(found: &ChannelsResult) -> String {
    let (them, across, up) = drawn(found);
    let drawing = drawing(&them, across, up).unwrap_or_default();
    standalone([WIDTH, height(&them)], &drawing)
}

pub fn picture(found: &ChannelsResult) -> Markup {
    let (them, across, up) = drawn(found);
    curves(&them, across, up)
}

fn drawn(found: &ChannelsResult) -> (Vec<PlotCurve>, Title<'static>, Title<'static>) {
    let cycles = title("round trip, cycles", AxisUnit::Number);
    match &found.figures {
        ExperimentFigures::Curve(figures) => {
            let them = [
                ("median", points(&figures.points, |point| point.cycles)),
                ("slowest", points(&figures.points, |point| point.slowest_cycles)),
            ];
            (numbered(them), title("CPU, by its number", AxisUnit::Cpu), cycles)
        }
        ExperimentFigures::Slices(figures) => {
            let them =
                [("at random", shares(&figures.random)), ("in slices", shares(&figures.sliced))];
            (
                numbered(them),
                title("share of the pairs that are not slower, %", AxisUnit::Percent),
                cycles,
            )
        }
        ExperimentFigures::Gain(figures) => {
            let points =
                (1..).zip(&figures.speed_ups).map(|(at, gain)| (f64::from(at), *gain)).collect();
            // A horizontal line over all comparisons.
            let mean = vec![(1.0, figures.mean), (figures.speed_ups.len() as f64, figures.mean)];
            let up = title("speed-up, the search for homes included", AxisUnit::Number);
            (
                numbered([("each comparison", points), ("mean", mean)]),
                title("comparison", AxisUnit::Whole),
                up,
            )
        }
    }
}

fn title(text: &'static str, unit: AxisUnit) -> Title<'static> {
    Title { text, unit }
}

fn numbered(them: [(&str, Vec<(f64, f64)>); 2]) -> Vec<PlotCurve> {
    them.into_iter()
        .enumerate()
        .map(|(at, (name, points))| PlotCurve::new(at, name, points))
        .collect()
}

fn points(all: &[PuDistance], cycles: impl Fn(&PuDistance) -> f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> =
        all.iter().map(|point| (f64::from(point.pu), cycles(point))).collect();
    // Points are in the order of cores, but a curve needs ascending numbers.
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn shares(spread: &RoundTripSpread) -> Vec<(f64, f64)> {
    // Three points of the distribution: half of the pairs, nine tenths, all.
    vec![(50.0, spread.median_cycles), (90.0, spread.p90_cycles), (100.0, spread.most_cycles)]
}
