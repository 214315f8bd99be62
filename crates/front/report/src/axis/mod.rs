//! Axes of charts: where a value stands between two ends, and the round values that are named
//! beside it.
//!
//! Every chart takes its ticks from here, so that they are all alike: multiples of 1, 2 or 5 in
//! some decade (doublings for sizes), each written with as many digits as tell it from its
//! neighbours, times in the unit that suits them.

mod text;
mod ticks;

use crate::Scale;

/// Beyond this ratio between its ends an axis of times or numbers is logarithmic.
const LOG_FROM_RATIO: f64 = 8.0;

/// The unit of an axis, which decides the round ticks and how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisUnit {
    /// Nanoseconds, written as ns, us, ms or s.
    Time,
    /// Nanoseconds, written without their unit, which the axis shows.
    Nanoseconds,
    /// Bytes: ticks are doublings, 64, 4 Ki.
    Bytes,
    /// Counts that are doubled from point to point: elements, rows.
    Doublings,
    /// Any number, with k, M and G.
    Number,
    /// Per cent. Differences count and ratios do not, so the axis is never logarithmic.
    Percent,
    /// Things that are counted or numbered, such as ranks: no tick lies between two of them.
    Whole,
    /// CPUs by their number, which is a name: such an axis is never logarithmic.
    Cpu,
}

/// How positions follow from values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long.
    Log,
    /// Equal differences of square roots are: little stays visible beside much, and zero has a
    /// place.
    Root,
}

/// An axis from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    scaling: Scaling,
    unit: AxisUnit,
}

/// A round value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// The value.
    pub value: f64,
    /// Where it stands: 0 at the axis' low end, 1 at its high one.
    pub position: f64,
    /// The text beside the tick.
    pub text: String,
}

impl Axis {
    /// An axis between two values.
    pub fn new(low: f64, high: f64, scaling: Scaling, unit: AxisUnit) -> Self {
        Axis { low, high, scaling, unit }
    }

    /// An axis that holds all of these values. It is logarithmic where they are positive and far
    /// apart and their unit allows it. `None` where there is no value.
    pub fn of(values: impl Iterator<Item = f64>, unit: AxisUnit) -> Option<Self> {
        let (low, high) = ends(values)?;
        let scaling = match unit {
            AxisUnit::Whole | AxisUnit::Cpu | AxisUnit::Percent => Scaling::Linear,
            // Points at each doubling are equally far apart on such an axis only, however few they
            // are.
            AxisUnit::Bytes | AxisUnit::Doublings if low > 0.0 => Scaling::Log,
            _ if low > 0.0 && high / low > LOG_FROM_RATIO => Scaling::Log,
            _ => Scaling::Linear,
        };
        Some(Axis { low, high, scaling, unit })
    }

    /// The same axis, widened from one round value to another, for at most this many ticks.
    pub fn widened(self, most: usize) -> Self {
        let [low, high] = self.round_ends(most);
        Axis { low, high, ..self }
    }

    /// Whether the axis is logarithmic though its ticks are not doublings, which would show that by
    /// themselves.
    pub fn is_unexpectedly_log(&self) -> bool {
        self.scaling == Scaling::Log && !matches!(self.unit, AxisUnit::Bytes | AxisUnit::Doublings)
    }

    /// The axis of a scale of colours.
    pub fn of_scale(scale: Scale, unit: AxisUnit) -> Self {
        let scaling = if scale.log { Scaling::Log } else { Scaling::Linear };
        Axis::new(scale.low_ns, scale.high_ns, scaling, unit)
    }

    /// Where a value stands: from 0 at the low end to 1 at the high end; in the middle of an axis
    /// without extent.
    pub fn position(&self, value: f64) -> f64 {
        let at = |value: f64| match self.scaling {
            Scaling::Linear => value,
            // A value of 0, such as a count, stands at the low end instead of at minus infinity.
            Scaling::Log => value.max(f64::MIN_POSITIVE).ln(),
            Scaling::Root => value.max(0.0).sqrt(),
        };
        let low = at(self.low);
        let high = at(self.high);
        if high > low { ((at(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// At most this many round values between the ends, in order.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let values = self.round_values(most);
        let texts = text::texts(&values, self.unit, self.scaling);
        let tick = |(value, text)| Tick { value, position: self.position(value), text };
        values.into_iter().zip(texts).map(tick).collect()
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
