//! Axes of charts: the position of a value, and the round values along the axis.
//!
//! All charts take their ticks from here: multiples of 1, 2 or 5 times a power of ten (powers of
//! two for sizes), with just enough digits to differ, and times in a suitable unit.

mod text;
mod ticks;

use crate::Scale;

/// Above this ratio of its ends, an axis of times or numbers is logarithmic.
const LOG_FROM_RATIO: f64 = 8.0;

/// The unit of an axis; it decides the ticks and their texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisUnit {
    /// Nanoseconds, written as ns, us, ms or s.
    Time,
    /// Nanoseconds, written without the unit, which the axis shows.
    Nanoseconds,
    /// Bytes; ticks are powers of two: 64, 4 Ki.
    Bytes,
    /// Counts measured at powers of two: elements, rows.
    Doublings,
    /// Any number, with k, M and G.
    Number,
    /// Percent. Differences matter, ratios do not, so the axis is never logarithmic.
    Percent,
    /// Counts or numbered things such as ranks; ticks are whole numbers.
    Whole,
    /// CPU numbers, which are names, so the axis is never logarithmic.
    Cpu,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scaling {
    Linear,
    Log,
    /// Square roots: small values stay visible next to large ones, and zero has a position.
    Root,
}

#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    scaling: Scaling,
    unit: AxisUnit,
}

#[derive(Debug)]
pub struct Tick {
    pub value: f64,
    /// From 0 at the low end to 1 at the high end.
    pub position: f64,
    pub text: String,
}

impl Axis {
    pub fn new(low: f64, high: f64, scaling: Scaling, unit: AxisUnit) -> Self {
        Axis { low, high, scaling, unit }
    }

    /// Logarithmic if the unit allows that and the values are positive and far apart. `None`
    /// without values.
    pub fn of(values: impl Iterator<Item = f64>, unit: AxisUnit) -> Option<Self> {
        let (low, high) = ends(values)?;
        let scaling = match unit {
            AxisUnit::Whole | AxisUnit::Cpu | AxisUnit::Percent => Scaling::Linear,
            // Only a logarithmic axis spaces doublings equally, even if there are few.
            AxisUnit::Bytes | AxisUnit::Doublings if low > 0.0 => Scaling::Log,
            _ if low > 0.0 && high / low > LOG_FROM_RATIO => Scaling::Log,
            _ => Scaling::Linear,
        };
        Some(Axis { low, high, scaling, unit })
    }

    /// Extends the axis to round ends, with at most `most` ticks.
    pub fn widened(self, most: usize) -> Self {
        let [low, high] = self.round_ends(most);
        Axis { low, high, ..self }
    }

    /// Whether the axis is logarithmic without ticks that show it, as doublings do.
    pub fn is_unexpectedly_log(&self) -> bool {
        self.scaling == Scaling::Log && !matches!(self.unit, AxisUnit::Bytes | AxisUnit::Doublings)
    }

    pub fn of_scale(scale: Scale, unit: AxisUnit) -> Self {
        let scaling = if scale.log { Scaling::Log } else { Scaling::Linear };
        Axis::new(scale.low_ns, scale.high_ns, scaling, unit)
    }

    /// 0 at the low end, 1 at the high end, 0.5 if the ends are equal.
    pub fn position(&self, value: f64) -> f64 {
        let [low, high, value] = [self.low, self.high, value].map(|value| match self.scaling {
            Scaling::Linear => value,
            // A value of 0 is at the low end instead of at minus infinity.
            Scaling::Log => value.max(f64::MIN_POSITIVE).ln(),
            Scaling::Root => value.max(0.0).sqrt(),
        });
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// At most `most` round values between the ends, in order.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let values = self.round_values(most);
        let texts = text::texts(&values, self.unit, self.scaling);
        values
            .into_iter()
            .zip(texts)
            .map(|(value, text)| Tick { value, position: self.position(value), text })
            .collect()
    }
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let known = values.filter(|value| value.is_finite());
    known.fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

#[cfg(test)]
mod tests;
