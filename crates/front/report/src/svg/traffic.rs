//! The matrix of a pattern as a standalone SVG.

use super::cells::{self, Fill, LEVELS};
use super::{APART, BAR, BAR_TICKS, BOTTOM, LABEL_ROOM, LEFT, RIGHT, SIDE, TOP, number};
use crate::axis::{Axis, Scaling, Unit};
use crate::palette::{colour, hex};
use crate::pattern::{degrees, name, size};
use crate::traffic::{Traffic, counted, short};
use maud::{Markup, html};
use seatmap_pattern::Pattern;

/// Rows and columns in which a picture of this size still shows single cells.
const MOST_CELLS: usize = 320;
/// Characters of the title that fit above the matrix.
const MOST_TITLE: usize = 70;
/// The ground of cells in which nothing flows: lighter than any colour of the scale.
const NOTHING: &str = "#f0f1f3";

/// The traffic between tasks, with axes, legend and title: rows send, columns receive, and dark
/// cells carry much.
#[must_use]
pub fn traffic(pattern: &Pattern) -> String {
    picture(pattern).into_string() + "\n"
}

/// How rows and columns are labelled: tasks by their numbers unless said otherwise.
pub(crate) struct Labelled<'a> {
    /// The title above the matrix.
    pub title: &'a str,
    /// The name of the items that the labels number.
    pub axis: &'a str,
    /// The label of a row and column.
    pub label: &'a dyn Fn(usize) -> String,
    /// The rows after which a line is drawn.
    pub ends: &'a [usize],
}

/// The picture itself.
pub(crate) fn picture(pattern: &Pattern) -> Markup {
    let title: String = name(pattern).chars().take(MOST_TITLE).collect();
    labelled(
        pattern,
        &Labelled { title: &title, axis: "tasks", label: &|task| task.to_string(), ends: &[] },
    )
}

/// The same with labels of its own.
pub(crate) fn labelled(pattern: &Pattern, labels: &Labelled) -> Markup {
    let width = LEFT + SIDE + RIGHT;
    let height = TOP + SIDE + BOTTOM;
    let traffic = Traffic::of(pattern, MOST_CELLS);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="picture" viewBox=(format!("0 0 {width} {height}")) width=(width)
            height=(height) role="img" font-family="system-ui, sans-serif" font-size="11" {
            title { (labels.title) }
            desc { (size(pattern)) ". " (degrees(pattern)) }
            rect.paper width=(width) height=(height) fill="#fff" {}
            text.ink x=(LEFT) y="20" font-size="16" font-weight="600" fill="#1b1f24" { (labels.title) }
            text.quiet x=(LEFT) y="40" fill="#57606a" { "Rows send, columns receive: " (labels.axis) }
            (matrix(&traffic))
            (axes(&traffic, labels))
            @if traffic.most > 0.0 { (legend(&traffic)) }
            text.quiet x=(LEFT) y=(TOP + SIDE + 16.0) fill="#57606a" { (size(pattern)) (caption(&traffic)) }
        }
    }
}

/// Dark for much: the scale of distances, where dark is near, read from its other end.
fn level(strength: f64) -> f64 {
    (LEVELS - 1.0) * (1.0 - strength)
}

fn matrix(traffic: &Traffic) -> Markup {
    let fill = |row, column| {
        traffic.strength(row, column).map(|strength| Fill::Level(level(strength).round() as u8))
    };
    let scale = SIDE / traffic.n as f64;
    html! {
        rect x=(LEFT) y=(TOP) width=(SIDE) height=(SIDE) fill=(NOTHING) {}
        g transform=(format!("translate({LEFT} {TOP}) scale({scale:.6})")) shape-rendering="crispEdges" {
            @for (fill, path) in cells::paths(traffic.n, fill) {
                path fill=(fill) d=(path) {}
            }
        }
    }
}

/// Labels at rows and columns, as many as have room: every one, every second, every fourth...
fn axes(traffic: &Traffic, labels: &Labelled) -> Markup {
    let cell = SIDE / traffic.n as f64;
    let mut step = 1;
    while (step as f64) * cell < LABEL_ROOM {
        step *= 2;
    }
    let lines = labels.ends.iter().map(|end| (*end as f64) / traffic.block as f64 * cell);
    html! {
        @for at in lines.map(number) {
            path.rule d=(format!("M{LEFT} {TOP}m0 {at}h{SIDE}M{LEFT} {TOP}m{at} 0v{SIDE}")) stroke="#8b949e" stroke-width="0.8" {}
        }
        g.quiet fill="#57606a" {
            @for at in (0..traffic.n).step_by(step) {
                @let (middle, text) = ((at as f64 + 0.5) * cell, (labels.label)(at * traffic.block));
                text x=(LEFT - 6.0) y=(number(TOP + middle + 4.0)) text-anchor="end" { (text) }
                text x=(number(LEFT + middle)) y=(TOP - 8.0) text-anchor="middle" { (text) }
            }
        }
    }
}

fn legend(traffic: &Traffic) -> Markup {
    let x = LEFT + SIDE + 24.0;
    let below = if traffic.is_even() { TOP } else { TOP + BAR + 32.0 };
    html! {
        @if traffic.is_even() {
            (swatch(x, below, &hex(colour(0.0)), &counted(traffic.most, "byte")))
        } @else {
            (ramp(traffic, x))
        }
        (swatch(x, below + 22.0, NOTHING, "nothing"))
    }
}

fn swatch(x: f64, y: f64, fill: &str, text: &str) -> Markup {
    html! {
        rect x=(x) y=(y) width="14" height="14" fill=(fill) {}
        text.quiet x=(x + 20.0) y=(y + 11.0) fill="#57606a" { (text) }
    }
}

fn ramp(traffic: &Traffic, x: f64) -> Markup {
    let stop = |at: u32| (format!("{}%", at * 10), hex(colour(1.0 - f64::from(at) / 10.0)));
    html! {
        defs {
            linearGradient id="traffic" x1="0" y1="1" x2="0" y2="0" {
                @for (offset, fill) in (0..=10).map(stop) {
                    stop offset=(offset) stop-color=(fill) {}
                }
            }
        }
        rect x=(x) y=(TOP) width="14" height=(BAR) fill="url(#traffic)" {}
        g.quiet fill="#57606a" {
            @for (position, text) in bar_ticks(traffic) {
                text x=(x + 20.0) y=(number(TOP + BAR * (1.0 - position) + 4.0)) { (text) }
            }
            text x=(x) y=(TOP + BAR + 20.0) { "bytes" }
        }
    }
}

/// (position, text) beside the bar: the most bytes of any cell, and round values below it.
fn bar_ticks(traffic: &Traffic) -> Vec<(f64, String)> {
    let axis = Axis::new(0.0, traffic.most, Scaling::Root, Unit::Number);
    let below = axis.ticks(BAR_TICKS).into_iter().filter(|tick| tick.position <= 1.0 - APART);
    below.map(|tick| (tick.position, tick.text)).chain([(1.0, short(traffic.most))]).collect()
}

fn caption(traffic: &Traffic) -> String {
    let block = traffic.block;
    // Plural: a square of several pairs.
    if block > 1 {
        format!("; a square is {block} x {block} pairs of tasks")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatmap_pattern::Edge;

    fn of(spec: &str) -> String {
        traffic(&seatmap_pattern::generate(spec).unwrap())
    }

    #[test]
    fn a_small_ring() {
        insta::assert_snapshot!("ring", of("ring:4").replace("><", ">\n<"));
    }

    #[test]
    fn names_are_text() {
        let mut pattern = seatmap_pattern::generate("ring:2").unwrap();
        pattern.name = "</title><script>alert(1)</script>\u{1b}".into();
        let text = traffic(&pattern);
        assert!(
            !text.contains("<script")
                && !text.contains('\u{1b}')
                && text.contains("&lt;script&gt;")
        );
    }

    #[test]
    fn labels_never_collide_and_pictures_stay_small() {
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
    fn little_and_much_have_the_ends_of_the_scale() {
        let mut pattern = seatmap_pattern::generate("pipeline:3").unwrap();
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
        fn whatever_flows_is_drawn(amounts in prop::collection::vec((0usize..40, 1usize..40, 0.0f64..1e18, -320i32..0), 0..30)) {
            let edge = |(from, along, bytes, tens): (usize, usize, f64, i32)| {
                Edge { from, to: (from + along) % 40, bytes: bytes * 10f64.powi(tens), messages: 1.0 }
            };
            let pattern = Pattern::gathered("any", 40, amounts.into_iter().map(edge));
            let picture = traffic(&pattern);
            let text = crate::pattern::drawn(&pattern, 100);
            prop_assert!(!picture.contains("NaN") && !text.contains("NaN") && !picture.contains("inf"), "{text}");
            prop_assert_eq!(text.lines().count(), 43);
        }
    }
}
