//! Draws the matrix of a pattern as a standalone SVG.

use super::cells::Fill;
use super::heat::{HeatMap, bar, swatch};
use super::{APART, BAR_TICKS};
use crate::axis::{Axis, AxisUnit, Scaling};
use crate::palette::{colour, hex};
use crate::traffic::{TrafficMatrix, counted, degrees, name, short, size};
use maud::{Markup, html};
use seatmap_data::pattern::Pattern;

/// With more, single cells are invisible.
const MOST_CELLS: usize = 320;
const MOST_TITLE: usize = 70;
/// Lighter than any colour of the scale.
const NOTHING: &str = "#f0f1f3";

/// The traffic between tasks: rows send, columns receive, and darker cells carry more.
pub fn traffic(pattern: &Pattern) -> String {
    picture(pattern).into_string() + "\n"
}

pub struct Labelled<'a> {
    pub title: &'a str,
    /// Name of the numbered items.
    pub axis: &'a str,
    pub label: &'a dyn Fn(usize) -> String,
    /// Rows followed by a line.
    pub ends: &'a [usize],
}

pub fn picture(pattern: &Pattern) -> Markup {
    // File names can be wider than the picture, and SVG does not wrap text.
    let title: String = name(pattern).chars().take(MOST_TITLE).collect();
    labelled(
        pattern,
        &Labelled { title: &title, axis: "tasks", label: &|task| task.to_string(), ends: &[] },
    )
}

pub fn labelled(pattern: &Pattern, labels: &Labelled) -> Markup {
    let traffic = TrafficMatrix::of(pattern, MOST_CELLS);
    let is_even = traffic.is_even();
    // Plural: a square of several pairs.
    let shared = match traffic.block {
        ..2 => String::new(),
        block => format!("; a square is {block} x {block} pairs of tasks"),
    };
    let map = HeatMap {
        title: labels.title,
        about: &format!("Rows send, columns receive: {}", labels.axis),
        desc: format!("{}. {}", size(pattern), degrees(pattern)),
        n: traffic.n,
        // Darker is more: the scale of distances, where dark is near, reversed.
        fill: &|row, column| traffic.strength(row, column).map(|share| Fill::at(1.0 - share)),
        ground: Some(NOTHING),
        // Equal figures in all squares would only repeat the legend.
        figure: &|row, column| {
            if is_even { String::new() } else { short(traffic.cells[(row, column)]) }
        },
        tip: &|_, _| String::new(),
        label: &|at| (labels.label)(at * traffic.block),
        begins: labels.ends.iter().map(|end| end / traffic.block).collect(),
        legend: legend(&traffic),
        below: size(pattern) + &shared,
    };
    map.picture()
}

fn legend(traffic: &TrafficMatrix) -> Markup {
    html! {
        @if traffic.most <= 0.0 {
        } @else if traffic.is_even() {
            (swatch(0, false, &hex(colour(0.0)), &counted(traffic.most, "byte")))
            (swatch(1, false, NOTHING, "nothing"))
        } @else {
            (bar(&bar_ticks(traffic), "bytes", false))
            (swatch(1, true, NOTHING, "nothing"))
        }
    }
}

/// (position, text): the largest cell, and round values below.
fn bar_ticks(traffic: &TrafficMatrix) -> Vec<(f64, String)> {
    let axis = Axis::new(0.0, traffic.most, Scaling::Root, AxisUnit::Number);
    // Leave room for the text of the largest.
    let below = axis.ticks(BAR_TICKS).into_iter().filter(|tick| tick.position <= 1.0 - APART);
    below.map(|tick| (tick.position, tick.text)).chain([(1.0, short(traffic.most))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use proptest::prelude::*;
    use seatmap_data::pattern::Edge;

    fn of(spec: &str) -> String {
        traffic(&samples::pattern(spec))
    }

    #[test]
    fn small_ring_matches_snapshot() {
        insta::assert_snapshot!("ring", of("ring:4").replace("><", ">\n<"));
    }

    #[test]
    fn hostile_names_are_escaped() {
        let mut pattern = samples::pattern("ring:2");
        pattern.name = "</title><script>alert(1)</script>\u{1b}".into();
        let text = traffic(&pattern);
        assert!(
            !text.contains("<script")
                && !text.contains('\u{1b}')
                && text.contains("&lt;script&gt;")
        );
    }

    #[test]
    fn pictures_have_few_labels_and_stay_small() {
        for spec in ["idle:1", "stencil2d:8x8", "random:1000:8:1", "all-to-all:700", "ring:1048576"]
        {
            let text = of(spec);
            assert!(
                text.matches("<text").count() < 70 && text.len() < 1_500_000,
                "{spec}: {}",
                text.len()
            );
        }
    }

    #[test]
    fn extreme_weights_use_ends_of_scale() {
        let mut pattern = samples::pattern("pipeline:3");
        pattern.edges[1].bytes = 1e9;
        let text = traffic(&pattern);
        assert!(
            text.contains(">1.00 G</text>") && !of("ring:4").contains("linearGradient"),
            "{text}"
        );
        for end in [0.0, 1.0] {
            assert!(text.contains(&format!("<path fill=\"{}\"", hex(colour(end)))), "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_traffic_is_drawn_without_nan(amounts in prop::collection::vec((0usize..40, 1usize..40, 0.0f64..1e18, -320i32..0), 0..30)) {
            let edge = |(from, along, bytes, tens): (usize, usize, f64, i32)| {
                Edge { from, to: (from + along) % 40, bytes: bytes * 10f64.powi(tens), messages: 1.0 }
            };
            let pattern = Pattern::gathered("any", 40, amounts.into_iter().map(edge));
            let picture = traffic(&pattern);
            let text = crate::pattern::drawn(&pattern, 100).text(None);
            prop_assert!(!picture.contains("NaN") && !text.contains("NaN") && !picture.contains("inf"), "{text}");
            prop_assert_eq!(text.lines().count(), 43);
        }
    }
}
