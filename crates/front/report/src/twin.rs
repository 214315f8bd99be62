//! How similar a twin is to its original, as a table.

use crate::page::{Page, PageSection, Table, section};
use crate::words::counted;
use seatmap_measure::twin::TwinReport;
use seatmap_measure::twin::capacity::Followed;

/// If the best factors differ by more, the result is inconclusive.
const MOST_OPEN: f64 = 1.5;

/// The root mean square of the differences by distance class, for lines of every home, and under
/// load.
pub fn page(report: &TwinReport) -> Page {
    let homes = if report.homes > 1 {
        format!(", {}", counted(report.homes, "home"))
    } else {
        String::new()
    };
    let rest = if report.has_rest { ", residuals of single pairs" } else { "" };
    let about = format!(
        "{}: {}, {} in {}{homes}, offsets per core{rest}; tick {:.3} ns",
        report.name,
        counted(report.cores, "core"),
        counted(report.pus, "PU"),
        counted(report.groups, "group"),
        report.tick_ns
    );
    let loaded = PageSection::new("Under load");
    let loaded = match &report.loaded {
        Some(followed) => loaded.with(curve(followed)).with(under_load(followed)),
        None => loaded.with(vec![
            "Busy times of links and directories are assumed: the profile has no loaded curve."
                .to_owned(),
        ]),
    };
    let sections = vec![section("Distances", distances(report)), loaded];
    Page { lead: vec![about], sections, ..Page::default() }
}

fn distances(report: &TwinReport) -> Table {
    let table =
        Table::new("distances | pairs:>7 | median ns:>9 | RMSE ns:>8 | RMSE %:>7 | worst ns:>8")
            .flush();
    let rows = report.by_class.iter().chain([&report.all, &report.structure]);
    table.rows(rows.chain(&report.by_home).map(|row| {
        [
            row.name.clone(),
            row.pairs.to_string(),
            format!("{:.1}", row.median_ns),
            format!("{:.3}", row.rmse_ns),
            format!("{:.3}", row.rmse_percent),
            format!("{:.3}", row.worst_ns),
        ]
    }))
}

fn curve(followed: &Followed) -> Table {
    let rows = Table::new("pairs at once:>13 | measured ns:>11 | twin ns:>7 | off %:>6 | |")
        .flush()
        .rows(followed.points.iter().map(|point| {
            let off_percent = 100.0 * (point.twin_ns / point.measured_ns - 1.0);
            let [low, high] = point.twin_range_ns;
            // A twin that draws its own pairs has a range of results.
            let range = if followed.same_pairs {
                String::new()
            } else {
                format!("{low:.1} to {high:.1} over all draws")
            };
            [
                point.pairs.to_string(),
                format!("{:.1}", point.measured_ns),
                format!("{:.1}", point.twin_ns),
                format!("{off_percent:.1}"),
                range,
                if point.held_out { "held out" } else { "" }.to_owned(),
            ]
        }));
    rows.where_filled(4)
}

fn under_load(followed: &Followed) -> Vec<String> {
    let held_out = followed
        .held_out_percent
        .map_or_else(String::new, |rmse| format!(", {rmse:.1} % at held-out points"));
    let mut lines = vec![format!(
        "Under load: RMSE {:.1} %{held_out}; links and directories are busy {:.2} times as long \
         as assumed by default.",
        followed.rmse_percent, followed.busy_factor
    )];
    let [low, high] = followed.busy_range;
    // If no link is full, many factors reproduce the curve.
    lines.extend((high > MOST_OPEN * low).then(|| {
        format!("The curve does not determine this factor: {low:.2} to {high:.2} fit as well.")
    }));
    let draw = "The profile does not record its random pairs, so the twin drew its own.";
    lines.extend((!followed.same_pairs).then(|| draw.to_owned()));
    lines
}
