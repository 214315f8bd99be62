//! Statistics for all crates: order statistics, intervals, rank correlation.
//!
//! | item | gives |
//! |---|---|
//! | [`median`], [`quantile`], [`mad`], [`least`], [`greatest`] | order statistics |
//! | [`Ordered`] | a number as a key to sort by |
//! | [`mean`] | the arithmetic mean |
//! | [`summarise`] | the summary of one pair's batches, with a bootstrap interval of the median |
//! | [`signed_rank`] | the shift of paired differences, its interval, and the detection limit |
//! | [`dependence`] | how much less information a series has than independent values |
//! | [`mod@change_points`] | the positions at which a series changes |
//! | [`friedman`] | the things worse than the best, by their ranks in blocks |
//! | [`correlation`] | whether two lists agree on the order |
//! | [`random`] | random numbers from a seed, the same on all computers |
//! | [`trial`] | the random orders of a trial, and the confidence of several claims |
//! | [`words`] | numbers in sentences: plurals, figures without `-0`, times in one unit |
//! | [`normal()`] | normally distributed noise for artificial machines |
//!
//! Headline figures are never means: one interrupted batch of a thousand changes a mean
//! arbitrarily. For the same pair the minimum was 47-59 ns and the mean 27-466 ns. All functions
//! ignore infinite values and NaN.

mod bootstrap;
pub mod change_points;
pub mod correlation;
pub mod dependence;
pub mod friedman;
mod normal;
mod pairs;
pub mod random;
pub mod signed_rank;
mod summary;
pub mod trial;
pub mod words;

pub use normal::normal;
pub use random::Xoshiro;
pub use summary::{Summary, summarise};

/// The factor from a median absolute deviation to the standard deviation of a normal distribution.
pub const MAD_TO_SIGMA: f64 = 1.4826;

use std::borrow::Borrow;
use std::cmp::Ordering;

/// A number in the total order of IEEE 754, as the key of `sort_by_key` or `max_by_key`.
#[derive(Clone, Copy, Debug)]
pub struct Ordered(pub f64);

impl Ord for Ordered {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// The arithmetic mean; NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The finite values, in ascending order.
pub fn sorted(values: impl IntoIterator<Item: Borrow<f64>>) -> Vec<f64> {
    let values = values.into_iter().map(|value| *value.borrow());
    let mut finite: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    finite
}

/// The least of these values; infinity without any.
pub fn least(values: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    values.into_iter().fold(f64::INFINITY, |least, value| least.min(*value.borrow()))
}

/// The greatest of 0 and these values.
pub fn greatest(values: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    values.into_iter().fold(0.0, |greatest: f64, value| greatest.max(*value.borrow()))
}

/// The quantile of ascending values at `share` (0 to 1), interpolated between neighbours: type 7 of
/// Hyndman and Fan 1996, as in R and NumPy. `None` without values.
pub fn quantile_sorted(ascending: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * ascending.len().checked_sub(1)? as f64;
    let below = *ascending.get(place.floor() as usize)?;
    let above = *ascending.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

/// The quantile at `share` of values in any order; `None` if none is finite.
pub fn quantile(values: impl IntoIterator<Item: Borrow<f64>>, share: f64) -> Option<f64> {
    quantile_sorted(&sorted(values), share)
}

/// The median; `None` if no value is finite.
///
/// ```
/// # use seatmap_data::statistics::median;
/// assert_eq!(median(&[80.0, 300.0, f64::NAN, 84.0]), Some(84.0));
/// ```
pub fn median(values: impl IntoIterator<Item: Borrow<f64>>) -> Option<f64> {
    quantile(values, 0.5)
}

/// The median absolute deviation from the median, unscaled; `None` if no value is finite.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    median(values.iter().map(|value| (value - centre).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_follow_type_seven() {
        let values = [15.0, 20.0, 35.0, 40.0, 50.0];
        assert_eq!(quantile(values, 0.4), Some(29.0));
        assert_eq!(quantile(values, 0.0), Some(15.0));
        assert_eq!(quantile(values, 1.0), Some(50.0));
    }

    #[test]
    fn median_and_mad_ignore_non_finite_values() {
        assert_eq!(median([0.0; 0]), None);
        assert_eq!(mad(&[f64::NAN, f64::INFINITY]), None);
        assert_eq!(mad(&[3.0]), Some(0.0));
    }

    proptest! {
        #[test]
        fn median_splits_values_in_half(values in prop::collection::vec(-1e9f64..1e9, 1..80)) {
            let middle = median(&values).unwrap();
            prop_assert!(values.iter().filter(|value| **value < middle).count() * 2 <= values.len());
            prop_assert!(values.iter().filter(|value| **value > middle).count() * 2 <= values.len());
        }

        #[test]
        fn quantiles_and_mad_shift_with_values(values in prop::collection::vec(0f64..1e3, 1..40), by in 0f64..1e3) {
            let moved: Vec<f64> = values.iter().map(|value| value + by).collect();
            let here = quantile(&values, 0.1).unwrap();
            let there = quantile(&moved, 0.1).unwrap();
            prop_assert!((here + by - there).abs() < 1e-9);
            prop_assert!((mad(&values).unwrap() - mad(&moved).unwrap()).abs() < 1e-9);
        }
    }
}
