//! Chooses how many digits of a figure are significant.

use seatmap_data::machine::{OriginKind, Profile};

/// The number of significant decimals of a nanosecond.
///
/// The last digit printed has the same place value as the resolution's first digit, as for any
/// uncertain figure (JCGM 100:2008, 7.2.6): 0.04 ns allows two decimals, 5.2 ns none, 12 ns not
/// even the ones.
#[derive(Clone, Copy)]
pub struct Digits {
    decimals: i32,
}

/// A tenth of a nanosecond is a third of a clock cycle; no distance is more stable.
const MOST_DECIMALS: i32 = 1;

/// Only zeros after the point are redundant: those of 40 are digits.
pub fn without_zeros(number: &str) -> String {
    let is_whole = !number.contains('.');
    if is_whole { number } else { number.trim_end_matches('0').trim_end_matches('.') }.to_owned()
}

impl Digits {
    /// The significant digits of a profile's distances: from the protocol's resolution, or from the
    /// step between the values of an imported file.
    pub fn of(profile: &Profile) -> Self {
        let protocol =
            profile.core_distance.as_ref().and_then(|distance| distance.protocol.as_ref());
        // The step between an imported file's values. A measurement's would be the clock's, which a
        // batch of round trips divides.
        let step = profile.clock.step_ns.filter(|_| profile.origin.kind == OriginKind::Imported);
        Digits::for_resolution(
            protocol.map(|protocol| protocol.resolution_ns).or(step).unwrap_or(0.0),
        )
    }

    /// The digits above a resolution in nanoseconds; if it is 0 or not a number, the most decimals.
    pub fn for_resolution(resolution_ns: f64) -> Self {
        // The place of the resolution's first digit: the second decimal for 0.04 ns.
        let place = if resolution_ns > 0.0 {
            -resolution_ns.log10().floor()
        } else {
            f64::from(MOST_DECIMALS)
        };
        // The lower bound keeps the powers of ten in range.
        Digits { decimals: (place as i32).clamp(-9, MOST_DECIMALS) }
    }

    /// At most whole nanoseconds, for narrow cells.
    pub fn whole(self) -> Self {
        Digits { decimals: self.decimals.min(0) }
    }

    /// The number of decimals; negative if not even the ones are significant.
    pub fn decimals(self) -> i32 {
        self.decimals
    }

    /// The figure without a unit; `?` if unknown.
    pub fn show(self, value_ns: f64) -> String {
        if !value_ns.is_finite() {
            return "?".to_owned();
        }
        // The formatter rounds only to ones, so round tens and hundreds here.
        let place = 10f64.powi(-self.decimals);
        let rounded = if self.decimals < 0 { (value_ns / place).round() * place } else { value_ns };
        format!("{rounded:.*}", self.decimals.max(0) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(resolution_ns: f64) -> String {
        Digits::for_resolution(resolution_ns).show(123.456)
    }

    #[test]
    fn digits_stop_at_resolution() {
        assert_eq!([0.0, 0.01, 0.1, 0.2].map(shown), ["123.5", "123.5", "123.5", "123.5"]);
        assert_eq!([1.0, 5.2, 10.0, 100.0].map(shown), ["123", "123", "120", "100"]);
        assert_eq!([f64::NAN, f64::INFINITY].map(shown), ["123.5", "0"]);
    }

    #[test]
    fn unknown_value_is_question_mark() {
        assert_eq!(Digits::for_resolution(0.1).show(f64::NAN), "?");
    }
}
