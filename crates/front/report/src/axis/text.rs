//! Writes the text beside the ticks of one axis: no two ticks have the same text.

use super::{AxisUnit, Scaling};

/// Multiples of a nanosecond, the largest first.
const TIMES: [(f64, &str); 4] = [(1e9, " s"), (1e6, " ms"), (1e3, " us"), (1.0, " ns")];
/// Multiples of numbers; below 10000 a number is read more easily as it is.
const THOUSANDS: [(f64, &str); 4] = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
/// Multiples of bytes.
const BINARY: [(f64, &str); 4] =
    [(1_073_741_824.0, " Gi"), (1_048_576.0, " Mi"), (1024.0, " Ki"), (1.0, "")];
/// Digits after the point beyond which a double holds nothing.
const MOST_DECIMALS: i32 = 15;

/// The text of each value. A linear axis has one unit and as many decimals as its step; on a
/// logarithmic one each value has the unit that suits it.
pub(super) fn texts(values: &[f64], unit: AxisUnit, scaling: Scaling) -> Vec<String> {
    // The least distance of two ticks is what their texts must tell; infinite where there is one.
    let step = values.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
    let most = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    values
        .iter()
        .map(|value| text(*value, if scaling == Scaling::Log { *value } else { most }, step, unit))
        .collect()
}

/// A value in the multiple that suits `like`.
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

/// The largest multiple that is at most a value over `from`, or the smallest of all.
fn suiting(multiples: &[(f64, &'static str)], like: f64, from: f64) -> (f64, &'static str) {
    // A tick of 1 ms may come out of a product as 999999.9999 ns, and is still 1 ms.
    let fits =
        |(multiple, _): &&(f64, &str)| *multiple == 1.0 || like >= from * multiple * (1.0 - 1e-9);
    multiples.iter().find(fits).copied().unwrap_or((1.0, ""))
}

/// The decimals of the value, without those that only rounding gave it: those of its own or its
/// step's first digit.
fn plain(value: f64, step: f64) -> String {
    let smallest = if step.is_finite() { step.min(value.abs()) } else { value.abs() };
    // The first digit of 0.02 is its second decimal.
    let places = (-smallest.log10().floor()).clamp(0.0, f64::from(MOST_DECIMALS)) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
