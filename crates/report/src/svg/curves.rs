//! Curves over a logarithmic axis, for figures like those of papers.

use crate::svg::number;
use maud::{Markup, html};

pub(super) const WIDTH: f64 = 560.0;
pub(super) const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 112.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;

/// Told apart also by people who confuse red and green, and in grey (Okabe & Ito 2008, "Color universal design").
pub(crate) const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];

/// One curve.
pub(crate) struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// An axis from one value to another, logarithmic where it spans much.
#[derive(Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let is_log = low > 0.0 && high / low > 8.0;
        if is_log { Axis { low, high, is_log } } else { Axis { low: low.min(0.0), high: high.max(low + 1e-9), is_log } }
    }

    /// From 0 to 1.
    fn position(self, value: f64) -> f64 {
        if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    fn ticks(self) -> Vec<f64> {
        if !self.is_log {
            return (0..=4).map(|step| self.low + (self.high - self.low) * f64::from(step) / 4.0).collect();
        }
        let doublings = (self.high / self.low).log2();
        let step = (doublings / 6.0).ceil().max(1.0);
        (0..)
            .map(|tick| self.low * (f64::from(tick) * step).exp2())
            .take_while(|value| *value <= self.high * 1.001)
            .collect()
    }
}

/// Curves with axes and names.
pub(crate) fn curves(curves: &[Curve], across: &str, up: &str) -> Markup {
    let all = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    if all().next().is_none() {
        return html! { p { "Nothing to draw." } };
    }
    html! {
        svg.chart xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
            aria-label=(format!("{up} against {across}")) font-family="system-ui, sans-serif" font-size="11" {
            (drawing(curves, across, up))
        }
    }
}

/// What lies within the frame of [`curves`].
pub(super) fn drawing(curves: &[Curve], across: &str, up: &str) -> Markup {
    let all = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let (xs, ys) = (Axis::of(all().map(|point| point.0)), Axis::of(all().map(|point| point.1)));
    let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * xs.position(value);
    let y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ys.position(value);
    html! {
        @for tick in ys.ticks() {
            line.rule x1=(LEFT) x2=(WIDTH - RIGHT) y1=(number(y(tick))) y2=(number(y(tick))) stroke="#8884" {}
            text.tick x=(LEFT - 6.0) y=(number(y(tick) + 4.0)) text-anchor="end" fill="currentColor" { (short(tick)) }
        }
        @for tick in xs.ticks() {
            text.tick x=(number(x(tick))) y=(HEIGHT - BOTTOM + 16.0) text-anchor="middle" fill="currentColor" { (short(tick)) }
        }
        text.tick x=(LEFT) y=(HEIGHT - 6.0) fill="currentColor" { (up) " against " (across) }
        @for (at, curve) in curves.iter().enumerate() {
            @let colour = COLOURS[at % COLOURS.len()];
            polyline fill="none" stroke=(colour) stroke-width="1.8" points=(path(curve, x, y)) {}
            text x=(WIDTH - RIGHT + 8.0) y=(TOP + 10.0 + 15.0 * at as f64) style=(format!("fill:{colour}")) { (curve.name) }
        }
    }
}

fn path(curve: &Curve, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let points: Vec<String> =
        curve.points.iter().map(|point| format!("{},{}", number(x(point.0)), number(y(point.1)))).collect();
    points.join(" ")
}

/// Three digits, with k and M.
fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        1e6.. => (value / 1e6, "M"),
        1e4.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = if scaled.abs() >= 100.0 || scaled.fract() == 0.0 { 0 } else { 1 };
    format!("{scaled:.digits$}{unit}")
}
