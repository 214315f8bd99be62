//! A heatmap as a standalone SVG, for papers and slides.
//!
//! Vector all through: cells of one colour are one path, neighbours in a row one rectangle of it. A
//! picture of 512 PUs takes some megabytes at worst instead of the tens that a `<rect>` a cell
//! would.

mod cells;
mod charts;
pub(crate) mod cluster;
pub mod curves;
pub(crate) mod frame;
pub(crate) mod intervals;
mod legend;
pub(crate) mod noise;
pub(crate) mod traffic;

pub use charts::{Chart, charts};
pub use frame::Title;
pub use noise::noise;
pub use traffic::traffic;

use crate::axis::{Axis, Tick};
use crate::palette::{colour, hex};
use crate::{Digits, Grid, Order, Scale};
use cells::{Fill, LEVELS};
use maud::{Markup, html};
use seatmap_machine::Profile;

/// Side of the square of cells, in user units.
const SIDE: f64 = 640.0;
/// Room for row labels, left.
const LEFT: f64 = 56.0;
/// Room for title and column labels, above.
const TOP: f64 = 72.0;
/// Room for the legend, right.
const RIGHT: f64 = 116.0;
/// Room below.
const BOTTOM: f64 = 24.0;
/// Room that an axis label needs, in user units.
const LABEL_ROOM: f64 = 32.0;
/// Height of the colour bar.
const BAR: f64 = 240.0;
/// Values that are named beside it, at most, and how far apart, as a share of it.
const BAR_TICKS: usize = 6;
const APART: f64 = 0.07;

/// The medians of a profile with axes, legend, title and lines between groups; a short notice where
/// there are none.
#[must_use]
pub fn heatmap(profile: &Profile, order: Order) -> String {
    let grid = Grid::of(profile, order, None);
    picture(profile, grid.as_ref()).into_string() + "\n"
}

/// The picture of a grid.
pub(crate) fn picture(profile: &Profile, grid: Option<&Grid>) -> Markup {
    let width = LEFT + SIDE + RIGHT;
    let height = TOP + SIDE + BOTTOM;
    // XML knows no control characters, not even as references.
    let title =
        format!("Core distances of {}, round trip", seatmap_document::visible(&profile.name));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="picture" viewBox=(format!("0 0 {width} {height}")) width=(width)
            height=(height) role="img" font-family="system-ui, sans-serif" font-size="11" {
            title { (title) }
            rect.paper width=(width) height=(height) fill="#fff" {}
            text.ink x=(LEFT) y="20" font-size="16" font-weight="600" fill="#1b1f24" { (title) }
            text.quiet x=(LEFT) y="40" fill="#57606a" { "Rows and columns: CPUs" }
            @match grid.and_then(|grid| Some((grid, Scale::of(grid.values_ns())?))) {
                Some((grid, scale)) => {
                    (matrix(grid, scale))
                    (legend(scale, Digits::of(profile)))
                }
                None => text x=(LEFT) y=(TOP) fill="#57606a" { "No core distances known." }
            }
        }
    }
}

fn matrix(grid: &Grid, scale: Scale) -> Markup {
    let n = grid.os.len();
    let cell = SIDE / n as f64;
    let ends: Vec<usize> = (0..n).filter(|row| grid.ends_group(*row)).map(|row| row + 1).collect();
    html! {
        g transform=(format!("translate({LEFT} {TOP}) scale({})", number(cell))) shape-rendering="crispEdges" {
            @for (fill, path) in cells::paths(n, |row, column| fill(grid, scale, row, column)) {
                path fill=(fill) d=(path) {}
            }
            g.cuts stroke="#fff" stroke-width=(number(2.0 / cell)) {
                @for end in ends {
                    path d=(format!("M{end} 0v{n}M0 {end}h{n}")) {}
                }
            }
        }
        g.quiet fill="#57606a" {
            @for (at, os) in labels(grid) {
                @let middle = (at as f64 + 0.5) * cell;
                text x=(LEFT - 6.0) y=(number(TOP + middle + 4.0)) text-anchor="end" { (os) }
                text x=(number(LEFT + middle)) y=(TOP - 8.0) text-anchor="middle" { (os) }
            }
        }
    }
}

/// The diagonal stays empty.
fn fill(grid: &Grid, scale: Scale, row: usize, column: usize) -> Option<Fill> {
    let value = grid.cells_ns[(row, column)];
    if row == column {
        None
    } else if !value.is_finite() {
        Some(Fill::Unknown)
    } else {
        Some(Fill::Level((scale.position(value) * (LEVELS - 1.0)).round() as u8))
    }
}

/// (row, OS index) of the rows that get a label, from the first to the last: the first of each
/// group, and in between rows that are a power of two apart, none too near another. Siblings stand
/// side by side, two or four a core: other steps would name the first of one core and the second of
/// the next, which are numbered far apart.
fn labels(grid: &Grid) -> Vec<(usize, u32)> {
    let n = grid.os.len();
    let apart = ((LABEL_ROOM * n as f64 / SIDE).ceil() as usize).max(1);
    let step = apart.next_power_of_two();
    let firsts: Vec<usize> = (0..n).filter(|row| *row == 0 || grid.ends_group(row - 1)).collect();
    let in_step = |row: &usize| {
        let group = firsts.partition_point(|first| first <= row);
        (row - firsts[group.saturating_sub(1)]).is_multiple_of(step)
    };
    let mut taken: Vec<usize> = Vec::new();
    for row in firsts.iter().copied().chain((0..n).filter(in_step)) {
        if taken.iter().all(|other| other.abs_diff(row) >= apart) {
            taken.push(row);
        }
    }
    taken.sort_unstable();
    taken.into_iter().map(|row| (row, grid.os[row])).collect()
}

fn legend(scale: Scale, digits: Digits) -> Markup {
    let x = LEFT + SIDE + 24.0;
    let stop = |at: u32| (format!("{}%", at * 10), hex(colour(f64::from(at) / 10.0)));
    html! {
        defs {
            linearGradient id="ramp" x1="0" y1="1" x2="0" y2="0" {
                @for (offset, fill) in (0..=10).map(stop) {
                    stop offset=(offset) stop-color=(fill) {}
                }
            }
        }
        rect x=(x) y=(TOP) width="14" height=(BAR) fill="url(#ramp)" {}
        g.quiet fill="#57606a" {
            @for (position, text) in bar_ticks(scale, digits, APART) {
                text x=(x + 20.0) y=(number(TOP + BAR * (1.0 - position) + 4.0)) { (text) }
            }
            text x=(x) y=(TOP + BAR + 20.0) { "ns" @if scale.log { ", log" } }
            rect x=(x) y=(TOP + BAR + 32.0) width="14" height="14" fill=(hex(crate::palette::UNKNOWN)) {}
            text x=(x + 20.0) y=(TOP + BAR + 43.0) { "not known" }
        }
    }
}

/// (position, text) beside a bar of colours, from its low end: both ends, and round values at least
/// so far from each other and from the ends.
pub(crate) fn bar_ticks(scale: Scale, digits: Digits, apart: f64) -> Vec<(f64, String)> {
    let sign = |is_outside: bool, sign: &str| {
        if is_outside { format!("{sign}\u{2009}") } else { String::new() }
    };
    let low = (0.0, sign(scale.below, "\u{2264}") + &digits.show(scale.low_ns));
    let high = (1.0, sign(scale.above, "\u{2265}") + &digits.show(scale.high_ns));
    let mut ticks = vec![low];
    for Tick { position, text, .. } in Axis::from(scale).ticks(BAR_TICKS) {
        let has_room = ticks.last().is_some_and(|(last, _)| position - last >= apart)
            && 1.0 - position >= apart;
        ticks.extend(has_room.then_some((position, text)));
    }
    // A scale without extent has one end.
    ticks.extend((scale.high_ns > scale.low_ns).then_some(high));
    ticks
}

/// A number for an attribute: at most three decimals, without trailing zeros.
#[must_use]
pub fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{grouped, two_groups};

    #[test]
    fn a_small_heatmap() {
        let mut profile = two_groups();
        profile.core_distance.as_mut().unwrap().median_ns.set_both(0, 7, f64::NAN);
        insta::assert_snapshot!("heatmap", heatmap(&profile, Order::Group).replace("><", ">\n<"));
    }

    #[test]
    fn labels_stand_in_order() {
        let grid = Grid::of(&grouped(64, 8), Order::Group, None).unwrap();
        let rows: Vec<usize> = labels(&grid).into_iter().map(|(row, _)| row).collect();
        assert!(rows.len() > 8 && rows.is_sorted(), "{rows:?}");
        // Two sockets of 32 cores; the second hardware threads are CPUs 64 to 127.
        let siblings = seatmap_machine::catalog::load("xeon-8375c-2s").unwrap();
        let grid = Grid::of(&siblings, Order::Group, None).unwrap();
        let cpus: Vec<u32> = labels(&grid).into_iter().map(|(_, os)| os).collect();
        assert!(cpus.len() > 8 && cpus.is_sorted() && cpus.iter().all(|cpu| *cpu < 64), "{cpus:?}");
    }

    #[test]
    fn a_bar_names_its_ends_and_round_values() {
        let texts = |scale| {
            bar_ticks(scale, Digits::for_resolution(0.04), 0.07)
                .into_iter()
                .map(|(_, text)| text)
                .collect::<Vec<_>>()
        };
        let linear = Scale { low_ns: 41.0, high_ns: 106.0, log: false, below: false, above: true };
        assert_eq!(texts(linear), ["41.0", "60", "80", "100", "\u{2265}\u{2009}106.0"]);
        let log = Scale { low_ns: 19.6, high_ns: 400.9, log: true, below: false, above: false };
        assert_eq!(texts(log), ["19.6", "50", "100", "200", "400.9"]);
    }

    #[test]
    fn is_well_formed_and_names_are_text() {
        let mut profile = two_groups();
        profile.name = "</title><script>alert(1)</script>".into();
        let text = heatmap(&profile, Order::Os);
        assert!(!text.contains("<script"));
        assert!(text.contains("&lt;script&gt;"));
    }

    #[test]
    fn the_largest_machines_stay_small() {
        let mut profile = grouped(512, 16);
        let distance = profile.core_distance.as_mut().unwrap();
        // The worst case: no two neighbours alike.
        distance.median_ns = seatmap_machine::Matrix::from_fn(512, |i, j| {
            50.0 + ((i * 7919 + j * 104_729) % 997) as f64
        });
        let text = heatmap(&profile, Order::Group);
        assert!(text.len() < 4_500_000, "{}", text.len());
        assert!(text.matches('<').count() < 400);
    }

    #[test]
    fn no_distances_is_a_notice() {
        let mut profile = two_groups();
        profile.core_distance = None;
        assert!(heatmap(&profile, Order::Group).contains("No core distances known."));
    }
}
