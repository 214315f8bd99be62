//! Distances over CPUs and gains over comparisons, as in the figures of Liu et al. 2015.

use maud::Markup;
use seatmap_experiments::channels::curve::Point;
use seatmap_experiments::channels::slices::Spread;
use seatmap_experiments::channels::{Figures, Found};
use seatmap_report::Unit;
use seatmap_report::svg::curves::{Curve, WIDTH, curves, drawing, height};
use seatmap_report::svg::{Title, standalone};

/// An experiment's result, as a standalone picture.
#[must_use]
pub fn channels(found: &Found) -> String {
    let (them, across, up) = drawn(found);
    let drawing = drawing(&them, across, up).unwrap_or_default();
    standalone([WIDTH, height(&them)], &drawing)
}

/// The same for a page.
pub(crate) fn picture(found: &Found) -> Markup {
    let (them, across, up) = drawn(found);
    curves(&them, across, up)
}

fn drawn(found: &Found) -> (Vec<Curve>, Title<'static>, Title<'static>) {
    let title = |text, unit| Title { text, unit };
    let cycles = title("round trip, cycles", Unit::Number);
    match &found.figures {
        Figures::Curve(told) => {
            let them = [
                ("median", points(&told.points, |point| point.cycles)),
                ("slowest", points(&told.points, |point| point.slowest_cycles)),
            ];
            (numbered(them), title("CPU, by its number", Unit::Cpu), cycles)
        }
        Figures::Slices(told) => {
            let them = [("at random", shares(&told.random)), ("in slices", shares(&told.sliced))];
            (
                numbered(them),
                title("share of the pairs that are not slower, %", Unit::Percent),
                cycles,
            )
        }
        Figures::Gain(told) => {
            let points =
                (1..).zip(&told.speed_ups).map(|(at, gain)| (f64::from(at), *gain)).collect();
            let mean = vec![(1.0, told.mean), (told.speed_ups.len() as f64, told.mean)];
            let up = title("speed-up, the search for homes included", Unit::Number);
            (
                numbered([("each comparison", points), ("mean", mean)]),
                title("comparison", Unit::Whole),
                up,
            )
        }
    }
}

fn numbered(them: [(&str, Vec<(f64, f64)>); 2]) -> Vec<Curve> {
    them.into_iter().enumerate().map(|(at, (name, points))| Curve::new(at, name, points)).collect()
}

/// Points by the number of the CPU.
fn points(all: &[Point], cycles: impl Fn(&Point) -> f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> =
        all.iter().map(|point| (f64::from(point.pu), cycles(point))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn shares(spread: &Spread) -> Vec<(f64, f64)> {
    vec![(50.0, spread.median_cycles), (90.0, spread.p90_cycles), (100.0, spread.most_cycles)]
}
