//! How like its original a twin is, as a table.

use crate::counted;
use seatmap_data::document::left_aligned;
use seatmap_measure::twin::TwinReport;
use seatmap_measure::twin::capacity::Followed;
use seatmap_measure::twin::fidelity::Fidelity;
use std::fmt::Write;

/// Factors further apart than this leave the answer open.
const MOST_OPEN: f64 = 1.5;

/// The root mean square of the differences by distance class, for lines of every home, and under
/// load.
#[must_use]
pub fn table(report: &TwinReport) -> String {
    let homes = if report.homes > 1 {
        format!(", {}", counted(report.homes, "home"))
    } else {
        String::new()
    };
    let rest = if report.has_rest { ", with what these leave of single pairs" } else { "" };
    let mut text = format!(
        "{}: {}, {} in {}{homes}, offsets by core{rest}; ticks of {:.3} ns\n\n",
        seatmap_data::document::visible(&report.name),
        counted(report.cores, "core"),
        counted(report.pus, "PU"),
        counted(report.groups, "group"),
        report.tick_ns
    );
    let rows: Vec<&Fidelity> = report
        .by_class
        .iter()
        .chain([&report.all, &report.structure])
        .chain(&report.by_home)
        .collect();
    let widest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(
        text,
        "{}  {:>7}  {:>9}  {:>8}  {:>7}  {:>8}",
        left_aligned("distances", widest),
        "pairs",
        "median ns",
        "RMSE ns",
        "RMSE %",
        "worst ns"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{}  {:>7}  {:>9.1}  {:>8.3}  {:>7.3}  {:>8.3}",
            left_aligned(&row.name, widest),
            row.pairs,
            row.median_ns,
            row.rmse_ns,
            row.rmse_percent,
            row.worst_ns
        );
    }
    text.push('\n');
    match &report.loaded {
        Some(followed) => text += &under_load(followed),
        None => {
            text += "How long links and directories are busy is assumed: the profile has no loaded \
                     curve.\n"
        }
    }
    text
}

fn under_load(followed: &Followed) -> String {
    let mut text = format!(
        "{:>13}  {:>11}  {:>7}  {:>6}\n",
        "pairs at once", "measured ns", "twin ns", "off %"
    );
    for point in &followed.points {
        let off_percent = 100.0 * (point.twin_ns / point.measured_ns - 1.0);
        let [low, high] = point.twin_range_ns;
        // A twin that runs the measured pairs has one result; one that draws its own has one a
        // draw.
        let range = if followed.same_pairs {
            String::new()
        } else {
            format!("  {low:.1} to {high:.1} by the draw")
        };
        let held_out = if point.held_out { "  held out" } else { "" };
        let _ = writeln!(
            text,
            "{:>13}  {:>11.1}  {:>7.1}  {off_percent:>6.1}{range}{held_out}",
            point.pairs, point.measured_ns, point.twin_ns
        );
    }
    let held_out = followed
        .held_out_percent
        .map_or(String::new(), |rmse| format!(", {rmse:.1} % where held out"));
    let _ = writeln!(
        text,
        "Under load: RMSE {:.1} %{held_out}; links and directories busy {:.2} times as long as \
         assumed of others.",
        followed.rmse_percent, followed.busy_factor
    );
    let [low, high] = followed.busy_range;
    // A curve in which no link is full is followed by many factors, of which the line above has
    // one.
    if high > MOST_OPEN * low {
        let _ = writeln!(
            text,
            "The curve hardly tells: {low:.2} to {high:.2} times follow it as well."
        );
    }
    if !followed.same_pairs {
        text += "The profile does not tell which pairs it drew: the twin drew its own.\n";
    }
    text
}
