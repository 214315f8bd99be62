//! Distances over CPUs and gains over comparisons, as in the figures of Liu et al. 2015.

use super::curves::{Curve, curves};
use seatmap_measure::channels::{Figures, Found};

/// What an experiment found, as a standalone picture.
#[must_use]
pub fn channels(found: &Found) -> String {
    let curve = |name: &str, points: Vec<(f64, f64)>| Curve { name: name.to_owned(), points };
    let (them, across, up) = match &found.figures {
        Figures::Curve(told) => {
            let of = |cycles: fn(&seatmap_measure::channels::curve::Point) -> f64| {
                told.points.iter().map(|point| (f64::from(point.pu), cycles(point))).collect()
            };
            (
                vec![curve("median", of(|point| point.cycles)), curve("slowest", of(|point| point.slowest_cycles))],
                "CPU",
                "cycles of a round trip",
            )
        }
        Figures::Slices(told) => {
            let of = |spread: &seatmap_measure::channels::slices::Spread| {
                vec![(50.0, spread.median_cycles), (90.0, spread.p90_cycles), (100.0, spread.most_cycles)]
            };
            (
                vec![curve("at random", of(&told.random)), curve("in slices", of(&told.sliced))],
                "share of the pairs, %",
                "cycles of a round trip",
            )
        }
        Figures::Gain(told) => {
            let points = (1..).zip(&told.speed_ups).map(|(at, gain)| (f64::from(at), *gain)).collect();
            let mean = vec![(1.0, told.mean), (told.speed_ups.len() as f64, told.mean)];
            (vec![curve("speed-up", points), curve("mean", mean)], "comparison", "speed-up, the search included")
        }
    };
    curves(&them, across, up).into_string() + "\n"
}
