//! Writes the texts of an axis's ticks; no two are equal.

use super::{AxisUnit, Scaling};
use crate::digits::without_zeros;

/// The units, the largest first.
const TIMES: [(f64, &str); 4] = [(1e9, " s"), (1e6, " ms"), (1e3, " us"), (1.0, " ns")];
/// Below 10000 a number is more legible in full.
const THOUSANDS: [(f64, &str); 4] = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const BINARY: [(f64, &str); 4] =
    [(1_073_741_824.0, " Gi"), (1_048_576.0, " Mi"), (1024.0, " Ki"), (1.0, "")];
/// A double's precision.
const MOST_DECIMALS: i32 = 15;

/// A linear axis has one unit and as many decimals as its step; on a logarithmic axis each value
/// has a suitable unit.
pub fn texts(values: &[f64], unit: AxisUnit, scaling: Scaling) -> Vec<String> {
    // The texts must distinguish the nearest ticks; infinite for a single tick.
    let step = values.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
    let most = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    values
        .iter()
        .map(|value| text(*value, if scaling == Scaling::Log { *value } else { most }, step, unit))
        .collect()
}

/// The value in the multiple suitable for `like`.
fn text(value: f64, like: f64, step: f64, unit: AxisUnit) -> String {
    let (multiple, suffix) = match unit {
        AxisUnit::Time => suiting(&TIMES, like, 1.0),
        AxisUnit::Bytes => suiting(&BINARY, like, 1.0),
        AxisUnit::Number | AxisUnit::Doublings => suiting(&THOUSANDS, like, 10.0),
        AxisUnit::Nanoseconds | AxisUnit::Whole | AxisUnit::Cpu | AxisUnit::Percent => (1.0, ""),
    };
    if value == 0.0 {
        return "0".to_owned();
    }
    format!("{}{suffix}", plain(value / multiple, step / multiple))
}

/// The largest multiple at most `like / from`, else the smallest.
fn suiting(multiples: &[(f64, &'static str)], like: f64, from: f64) -> (f64, &'static str) {
    // A product may give 999999.9999 ns for a tick of 1 ms.
    let fits =
        |(multiple, _): &&(f64, &str)| *multiple == 1.0 || like >= from * multiple * (1.0 - 1e-9);
    multiples.iter().find(fits).copied().unwrap_or((1.0, ""))
}

/// Decimals down to the first digit of the value or its step, without those that come from
/// rounding.
fn plain(value: f64, step: f64) -> String {
    let smallest = if step.is_finite() { step.min(value.abs()) } else { value.abs() };
    // The first digit of 0.02 is its second decimal.
    let places = (-smallest.log10().floor()).clamp(0.0, f64::from(MOST_DECIMALS)) as usize;
    without_zeros(&format!("{value:.places$}"))
}
