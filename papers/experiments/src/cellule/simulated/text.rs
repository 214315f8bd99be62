//! Tables for people.

use super::figures::{Perturbed, SimulatedCalls, SimulatedCellule};
use super::inputs::AssumedCost;
use crate::cellule::costs::CALLS;
use crate::cellule::libspe2::gains::Curves;
use crate::cellule::text::spread;
use seatmap_data::machine::description::Basis;
use seatmap_data::statistics::words::counted;
use std::fmt::Write;

/// The whole comparison.
pub fn simulated(found: &SimulatedCellule) -> String {
    let mut text =
        "Taken as given: the costs of the software, which the mechanism works with\n".to_owned();
    for input in &found.inputs {
        let _ = writeln!(text, "  {:<28} {:>9}  {}", input.name, input.value, origin(input));
    }
    for calls in &found.calls {
        text.push('\n');
        text += &table(calls);
    }
    let _ = writeln!(text, "\n(Linux - cell) / Linux in %, of whole programs");
    for figure in &found.figures {
        text.push('\n');
        text += &curves(figure);
    }
    let _ = writeln!(
        text,
        "\n(Linux - cell) / Linux in %, with another partition (figure 8): median (least to most)"
    );
    for one in &found.perturbed {
        text += &perturbed(one);
    }
    text
}

/// An input's origin in words.
pub fn origin(input: &AssumedCost) -> String {
    let kind = match input.kind {
        Basis::Document => "document",
        Basis::Calibration => "calibration",
        Basis::Assumption => "assumption",
    };
    format!("{kind}: {}", input.source)
}

fn table(calls: &SimulatedCalls) -> String {
    let mut text = format!(
        "{}; median +- standard deviation, of all together; times those of one SPE\n",
        counted(calls.spes, "SPE")
    );
    let _ = writeln!(text, "  {:<10} {:>22} {:>9}  {:>22} {:>9}", "call", "cell", "", "Linux", "");
    for (call, name, _) in CALLS {
        if let (Some(both), Some(growth)) = (calls.times.get(&call), calls.growth.get(&call)) {
            let _ = writeln!(
                text,
                "  {name:<10} {} {:>8.1}x  {} {:>8.1}x",
                spread(&both.cell),
                growth.cell,
                spread(&both.linux),
                growth.linux
            );
        }
    }
    text
}

fn curves(figure: &Curves) -> String {
    let mut text = format!("{}, by {}\n", figure.title, figure.across);
    for curve in &figure.series {
        let _ = write!(text, "  {:<14}", curve.name);
        for point in &curve.points {
            let _ = write!(text, " {}: {:.0} ", point.at, point.gain_percent);
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn perturbed(found: &Perturbed) -> String {
    let mut text = format!("  {:<14}", counted(found.spes, "SPE"));
    for point in &found.points {
        let _ = write!(
            text,
            " {}: {:.0} ({:.0} to {:.0}) ",
            point.size, point.median_percent, point.least_percent, point.most_percent
        );
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
