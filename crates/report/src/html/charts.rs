//! Small charts as SVG: they need no script and take their colours from the page's style.

use crate::svg::number;
use crate::{Digits, Scale};
use maud::{Markup, html};
use seatmap_machine::Loaded;
use seatmap_measure::classes::DistanceClass;

/// Width of a chart in user units.
const WIDTH: f64 = 560.0;
/// Room at the left, for names, at least.
const LEFT: f64 = 120.0;
/// What a letter of a name takes: a wide one, since the page's font is the reader's own.
const LETTER: f64 = 7.2;
/// Between a name and its axis.
const GAP: f64 = 12.0;
/// Room at the right, so that the last label is not cut.
const RIGHT: f64 = 36.0;
/// Height of one class: its histogram, and air above it.
const ROW: f64 = 44.0;
/// The part of it that the tallest bar takes.
const BARS: f64 = 34.0;
/// Bars of a histogram.
const BINS: usize = 96;
/// Height of the loaded curve.
const CURVE: f64 = 200.0;

/// How the distances are spread: a histogram for each class on a common axis, with its median.
pub(super) fn distribution(classes: &[(DistanceClass, Vec<f64>)], scale: Scale, digits: Digits) -> Markup {
    let longest = classes.iter().map(|(class, _)| class.name.chars().count()).max().unwrap_or(0);
    let left = LEFT.max(LETTER * longest as f64 + GAP);
    let x = |value_ns: f64| left + (WIDTH - left - RIGHT) * scale.position(value_ns);
    let height = ROW * classes.len() as f64 + 26.0;
    html! {
        svg.chart viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="Distribution of distances by class" {
            @for (at, (class, values_ns)) in classes.iter().enumerate() {
                (row(class, values_ns, ROW * (at as f64 + 1.0), left, scale))
            }
            @for step in 0..=4 {
                @let value = scale.value_ns(f64::from(step) / 4.0);
                text.tick x=(number(x(value))) y=(height - 4.0) text-anchor="middle" {
                    (digits.show(value)) @if step == 4 { " ns" }
                }
            }
        }
    }
}

/// One class, its bars standing on `floor`.
fn row(class: &DistanceClass, values_ns: &[f64], floor: f64, left: f64, scale: Scale) -> Markup {
    let width = (WIDTH - left - RIGHT) / BINS as f64;
    let median = left + (WIDTH - left - RIGHT) * scale.position(class.median_ns);
    html! {
        text.name x=(number(left - GAP)) y=(number(floor - 4.0)) text-anchor="end" { (class.name) }
        line.rule x1=(number(left)) x2=(WIDTH - RIGHT) y1=(number(floor)) y2=(number(floor)) {}
        @for (at, height) in histogram(values_ns, scale).into_iter().enumerate().filter(|(_, height)| *height > 0.0) {
            rect.bar x=(number(left + at as f64 * width)) y=(number(floor - height)) width=(number(width - 0.5))
                height=(number(height)) {}
        }
        rect.median x=(number(median - 1.0)) y=(number(floor - BARS - 3.0)) width="2" height=(number(BARS + 6.0)) rx="1" {}
    }
}

/// Heights of the bars: square roots of the counts, so that a few far pairs beside a thousand near ones are seen.
fn histogram(values_ns: &[f64], scale: Scale) -> Vec<f64> {
    let mut counts = vec![0u32; BINS];
    for value in values_ns.iter().filter(|value| value.is_finite()) {
        counts[((scale.position(*value) * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(0).max(1);
    counts.into_iter().map(|count| BARS * (f64::from(count) / f64::from(most)).sqrt()).collect()
}

/// Distance over the number of pairs at once: the median as a line, p10 to p90 as a band. Nothing for fewer than two
/// points, which the table tells as well.
pub(super) fn loaded(points: &[Loaded], digits: Digits) -> Markup {
    let top = points.iter().map(|point| point.p90_ns.max(point.median_ns)).fold(0.0, f64::max);
    let (Some(first), Some(last), true) = (points.first(), points.last(), points.len() > 1 && top > 0.0) else {
        return html! {};
    };
    let span = f64::from(last.pairs.saturating_sub(first.pairs)).max(1.0);
    let left = 56.0;
    let x = |pairs: u32| left + (WIDTH - left - RIGHT) * f64::from(pairs.saturating_sub(first.pairs)) / span;
    let y = |ns: f64| 12.0 + CURVE * (1.0 - ns / top);
    let at = |point: &Loaded, ns: f64| format!("{},{}", number(x(point.pairs)), number(y(ns)));
    let upper = points.iter().map(|point| at(point, point.p90_ns));
    let lower = points.iter().rev().map(|point| at(point, point.p10_ns));
    let band: Vec<String> = upper.chain(lower).collect();
    let line: Vec<String> = points.iter().map(|point| at(point, point.median_ns)).collect();
    html! {
        svg.chart viewBox=(format!("0 0 {WIDTH} {}", CURVE + 48.0)) role="img" aria-label="Distance under load" {
            @for step in 0..=4 {
                @let ns = top * f64::from(step) / 4.0;
                line.rule x1=(left) x2=(WIDTH - RIGHT) y1=(number(y(ns))) y2=(number(y(ns))) {}
                text.tick x=(left - 8.0) y=(number(y(ns) + 4.0)) text-anchor="end" { (digits.whole().show(ns)) }
            }
            polygon.band points=(band.join(" ")) {}
            polyline.curve points=(line.join(" ")) {}
            @for point in [first, last] {
                text.tick x=(number(x(point.pairs))) y=(CURVE + 30.0) text-anchor="middle" { (point.pairs) }
            }
            text.tick x=(WIDTH / 2.0) y=(CURVE + 44.0) text-anchor="middle" { "pairs at once" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_begins_behind_the_longest_name() {
        let class = |name: &str| {
            let name = name.to_owned();
            (
                DistanceClass {
                    name,
                    pairs: 1,
                    median_ns: 50.0,
                    p10_ns: 50.0,
                    p90_ns: 50.0,
                    quantiles_of: seatmap_measure::classes::QuantilesOf::Samples,
                },
                vec![50.0],
            )
        };
        let scale = Scale::whole([10.0, 100.0].into_iter()).unwrap();
        let names_end = |name: &str| {
            let picture =
                distribution(&[class("same L3"), class(name)], scale, Digits::for_resolution(0.1)).into_string();
            let from = picture.find("class=\"name\" x=\"").unwrap() + 16;
            picture[from..].split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert_eq!(names_end("same group"), LEFT - GAP);
        assert!(names_end("same NUMA node, other group") > 180.0, "27 letters of half their height at least");
    }
}
