//! Pictures: heat maps, curves and intervals, for pages and, standalone, for papers and slides.
//!
//! All are vector graphics: a path for each colour, a rectangle for each run of equal cells in a
//! row. A picture of 512 PUs takes a few megabytes at worst.

pub(crate) mod cells;
pub mod curves;
pub(crate) mod frame;
pub(crate) mod heat;
pub(crate) mod intervals;
mod legend;
pub(crate) mod noise;
pub(crate) mod traffic;

pub use curves::PlotCurve;
pub use frame::{Title, standalone};
pub(crate) use intervals::Interval;
pub use noise::noise;
pub use traffic::traffic;

use crate::axis::{Axis, AxisUnit, Tick};
use crate::digits::without_zeros;
use crate::palette::{UNKNOWN, hex};
use crate::{Digits, Grid, GridOrder, Scale};
use cells::Fill;
use heat::{HeatMap, bar, swatch};
use maud::{Markup, html};
use seatmap_data::machine::Profile;

/// Ticks of a colour bar, and their least distance as a share of its length.
const BAR_TICKS: usize = 6;
pub(crate) const APART: f64 = 0.07;

/// The medians of a profile with axes, legend, title and lines between groups; a short notice if
/// none.
pub fn heatmap(profile: &Profile, order: GridOrder) -> String {
    let grid = Grid::of(profile, order, None);
    picture(profile, grid.as_ref()).into_string() + "\n"
}

pub(crate) fn picture(profile: &Profile, grid: Option<&Grid>) -> Markup {
    let Some((grid, scale)) = grid.and_then(|grid| Some((grid, Scale::of(grid.values_ns())?)))
    else {
        let notice = html! { text.ink x="0" y="24" fill="#1b1f24" { "No core distances known." } };
        return frame::chart([480.0, 40.0], "Core distances", &notice);
    };
    let digits = Digits::of(profile);
    let n = grid.os.len();
    // XML has no control characters, not even as references.
    let title =
        format!("Core distances of {}, round trip", seatmap_data::document::visible(&profile.name));
    let unit = if scale.log { "ns, log" } else { "ns" };
    let ticks = bar_ticks(scale, AxisUnit::Nanoseconds, |ns| digits.show(ns), APART);
    let map = HeatMap {
        title: &title,
        about: "Rows and columns: CPUs",
        desc: String::new(),
        n,
        fill: &|row, column| fill(grid, scale, row, column),
        ground: None,
        figure: &|row, column| digits.show(grid.cells_ns[(row, column)]),
        tip: &|_, _| String::new(),
        label: &|row| grid.os[row].to_string(),
        begins: (1..n).filter(|row| grid.ends_group(row - 1)).collect(),
        legend: html! { (bar(&ticks, unit, true)) (swatch(0, true, &hex(UNKNOWN), "unknown")) },
        below: String::new(),
    };
    map.picture()
}

/// The diagonal stays empty.
fn fill(grid: &Grid, scale: Scale, row: usize, column: usize) -> Option<Fill> {
    let value = grid.cells_ns[(row, column)];
    if row == column {
        None
    } else if !value.is_finite() {
        Some(Fill::Unknown)
    } else {
        Some(Fill::at(scale.position(value)))
    }
}

/// (position, text): both ends, and round values at least `apart` from each other.
pub(crate) fn bar_ticks(
    scale: Scale,
    unit: AxisUnit,
    word: impl Fn(f64) -> String,
    apart: f64,
) -> Vec<(f64, String)> {
    let below = if scale.below { "\u{2264}\u{2009}" } else { "" };
    let above = if scale.above { "\u{2265}\u{2009}" } else { "" };
    let mut ticks = vec![(0.0, format!("{below}{}", word(scale.low_ns)))];
    for Tick { position, text, .. } in Axis::of_scale(scale, unit).ticks(BAR_TICKS) {
        // Leave room for the text at the high end, which is added last.
        let has_room = ticks.last().is_some_and(|(last, _)| position - last >= apart)
            && 1.0 - position >= apart;
        ticks.extend(has_room.then_some((position, text)));
    }
    let high = (1.0, format!("{above}{}", word(scale.high_ns)));
    ticks.extend((scale.high_ns > scale.low_ns).then_some(high));
    ticks
}

/// A point of a path.
pub(crate) fn point((x, y): (f64, f64)) -> String {
    format!("{} {}", number(x), number(y))
}

/// A number for an attribute: at most three decimals, without trailing zeros.
pub fn number(value: f64) -> String {
    without_zeros(&format!("{value:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{grouped, two_groups};

    #[test]
    fn small_heatmap_matches_snapshot() {
        let mut profile = two_groups();
        profile.core_distance.as_mut().unwrap().median_ns.set_both(0, 7, f64::NAN);
        insta::assert_snapshot!(
            "heatmap",
            heatmap(&profile, GridOrder::Group).replace("><", ">\n<")
        );
    }

    fn labels(profile: &Profile) -> Vec<u32> {
        let picture = heatmap(profile, GridOrder::Group);
        let rows = picture.split("text-anchor=\"end\">").skip(1);
        rows.map(|row| row.split('<').next().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn axis_labels_are_in_order() {
        let cpus = labels(&grouped(64, 8));
        assert!(cpus.len() > 8 && cpus.is_sorted(), "{cpus:?}");
        // Two sockets of 32 cores; the second hardware threads are CPUs 64 to 127.
        let cpus = labels(&seatmap_data::machine::catalog::load("xeon-8375c-2s").unwrap());
        assert!(cpus.len() > 8 && cpus.is_sorted() && cpus.iter().all(|cpu| *cpu < 64), "{cpus:?}");
    }

    #[test]
    fn colour_bar_labels_ends_and_round_values() {
        let texts = |scale| {
            Vec::from_iter(
                bar_ticks(
                    scale,
                    AxisUnit::Nanoseconds,
                    |ns| Digits::for_resolution(0.04).show(ns),
                    0.07,
                )
                .into_iter()
                .map(|(_, text)| text),
            )
        };
        let linear = Scale { low_ns: 41.0, high_ns: 106.0, log: false, below: false, above: true };
        assert_eq!(texts(linear), ["41.0", "60", "80", "100", "\u{2265}\u{2009}106.0"]);
        let log = Scale { low_ns: 19.6, high_ns: 400.9, log: true, below: false, above: false };
        assert_eq!(texts(log), ["19.6", "50", "100", "200", "400.9"]);
    }

    #[test]
    fn heatmap_escapes_names() {
        let mut profile = two_groups();
        profile.name = "</title><script>alert(1)</script>".into();
        let text = heatmap(&profile, GridOrder::Os);
        assert!(!text.contains("<script"));
        assert!(text.contains("&lt;script&gt;"));
    }

    #[test]
    fn largest_heatmap_stays_small() {
        let mut profile = grouped(512, 16);
        let distance = profile.core_distance.as_mut().unwrap();
        // The worst case: all neighbours differ.
        distance.median_ns = seatmap_data::machine::Matrix::from_fn(512, |i, j| {
            50.0 + ((i * 7919 + j * 104_729) % 997) as f64
        });
        let text = heatmap(&profile, GridOrder::Group);
        assert!(text.len() < 4_500_000, "{}", text.len());
        assert!(text.matches('<').count() < 400);
    }

    #[test]
    fn missing_distances_show_notice() {
        let mut profile = two_groups();
        profile.core_distance = None;
        assert!(heatmap(&profile, GridOrder::Group).contains("No core distances known."));
    }
}
