//! Chooses the round values of an axis.

use super::{Axis, AxisUnit, Scaling};

/// Fewer logarithmic ticks do not show the scale, so linear steps are used.
const FEWEST: usize = 2;
/// Factors within a decade, the densest set first.
const FACTORS: [&[f64]; 2] = [&[1.0, 2.0, 5.0], &[1.0]];
/// Relative tolerance for rounding at the ends.
const SLACK: f64 = 1e-9;

impl Axis {
    pub fn round_values(&self, most: usize) -> Vec<f64> {
        let low = self.low;
        let high = self.high;
        let most = most.max(2);
        if !(low.is_finite() && high.is_finite() && high >= low) {
            return Vec::new();
        }
        let inside = |value: &f64| {
            let slack = SLACK * low.abs().max(high.abs());
            *value >= low - slack && *value <= high + slack
        };
        let logarithmic =
            if self.scaling == Scaling::Log { self.logarithmic(most) } else { Vec::new() };
        let logarithmic = Vec::from_iter(logarithmic.into_iter().filter(inside));
        let is_enough = logarithmic.len() >= FEWEST || (self.doubles() && !logarithmic.is_empty());
        if is_enough { logarithmic } else { self.linear(most).into_iter().filter(inside).collect() }
    }

    pub fn round_ends(&self, most: usize) -> [f64; 2] {
        if self.scaling == Scaling::Log {
            // Sizes that double from point to point already have round ends.
            return if self.doubles() { [self.low, self.high] } else { self.factors_around() };
        }
        let step = self.step(most.max(2));
        let [low, high] = [(self.low / step).floor() * step, (self.high / step).ceil() * step];
        // Equal ends are extended by one step.
        if high > low { [low, high] } else { [low, low + step] }
    }

    fn doubles(&self) -> bool {
        matches!(self.unit, AxisUnit::Bytes | AxisUnit::Doublings)
    }

    fn logarithmic(&self, most: usize) -> Vec<f64> {
        if self.doubles() {
            return self.doublings(most);
        }
        // The densest set that fits: 1, 2, 5; then 1; then every second decade...
        let sets = FACTORS.iter().map(|factors| self.in_decades(factors, 1));
        let decades = (2..=12).map(|every| self.in_decades(&[1.0], every));
        sets.chain(decades).find(|values| values.len() <= most).unwrap_or_default()
    }

    /// These factors times every `every`-th power of ten.
    fn in_decades(&self, factors: &[f64], every: i32) -> Vec<f64> {
        // From 3 to 40, the tick at 5 counts, whose decade begins below.
        let first = if factors.len() > 1 {
            self.low.log10().floor()
        } else {
            (self.low * (1.0 - SLACK)).log10().ceil()
        };
        let first = first as i32;
        let last = self.high.log10().ceil() as i32;
        let powers = (first..=last).step_by(every as usize);
        let values =
            powers.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        values
            .filter(|value| {
                *value >= self.low * (1.0 - SLACK) && *value <= self.high * (1.0 + SLACK)
            })
            .collect()
    }

    /// The nearest values of 1, 2 or 5 times a power of ten outside the ends.
    fn factors_around(&self) -> [f64; 2] {
        let factors = FACTORS[0];
        let around = |value: f64| {
            let power = value.log10().floor() as i32;
            (power..=power + 1)
                .flat_map(move |power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        };
        let below =
            around(self.low).filter(|round| *round <= self.low * (1.0 + SLACK)).fold(0.0, f64::max);
        let above = around(self.high)
            .find(|round| *round >= self.high * (1.0 - SLACK))
            .unwrap_or(self.high);
        [if below > 0.0 { below } else { self.low }, above]
    }

    /// Powers of two or, if these are too many, of four, eight...
    fn doublings(&self, most: usize) -> Vec<f64> {
        let first = self.low.log2().ceil() as i32;
        let last = (self.high * (1.0 + SLACK)).log2().floor() as i32;
        let count = (last - first + 1).max(0) as usize;
        let every = count.div_ceil(most).max(1) as i32;
        (first..=last)
            // Counted from the largest, so the high end has a tick.
            .filter(|power| (last - power) % every == 0)
            .map(|power| f64::from(power).exp2())
            .collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten. A count's first value, such as rank 1, also
    /// gets a tick.
    fn linear(&self, most: usize) -> Vec<f64> {
        let step = self.step(most);
        let first = (self.low / step - SLACK).ceil() as i64;
        let last = (self.high / step + SLACK).floor() as i64;
        // A step rounded down could give one tick too many.
        let mut values = Vec::from_iter((first..=last).take(most + 1).map(|at| at as f64 * step));
        let has_room = values.first().is_none_or(|first| first - self.low >= 0.6 * step);
        if self.unit == AxisUnit::Whole && has_room {
            values.insert(0, self.low);
        }
        values
    }

    /// The smallest round step with at most `most` ticks.
    fn step(&self, most: usize) -> f64 {
        let range = self.high - self.low;
        let least = match self.unit {
            AxisUnit::Whole | AxisUnit::Cpu | AxisUnit::Doublings | AxisUnit::Bytes => 1.0,
            _ => 0.0,
        };
        let wanted = (range / (most.max(2) - 1) as f64).max(least);
        // Without extent, or too long for a double: the value's power of ten.
        if wanted <= 0.0 || !wanted.is_finite() {
            return if self.low == 0.0 { 1.0 } else { 10f64.powf(self.low.abs().log10().floor()) };
        }
        let decade = 10f64.powf((wanted * (1.0 + SLACK)).log10().floor());
        // Below about 1e-308 a power of ten loses digits.
        if !decade.is_normal() {
            return range;
        }
        let round = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
        round.into_iter().find(|step| *step >= wanted * (1.0 - SLACK)).unwrap_or(10.0 * decade)
    }
}
