//! Statistics, once for all crates: order statistics, intervals, rank correlation.
//!
//! | item | gives |
//! |---|---|
//! | [`median`], [`quantile`], [`mad`] | order statistics |
//! | [`summarise`] | the summary of one pair's batches, with a bootstrap interval of the median |
//! | [`signed_rank`] | the shift of paired differences, its interval, and the detection limit |
//! | [`dependence`] | how much less a series says than as many independent values |
//! | [`mod@change_points`] | the places at which a series changes |
//! | [`friedman`] | the things that are worse than the best, by their ranks in blocks |
//! | [`correlation`] | whether two lists agree on the order |
//! | [`random`] | random numbers that follow from a seed, the same everywhere |
//! | [`words`] | numbers in sentences: plurals, figures without `-0`, times in one unit |
//! | [`normal()`] | normally distributed noise for machines that are made up |
//!
//! A mean is never a headline here: one interrupted batch of a thousand moves it at will, and the
//! same pair was seen at 47-59 ns by its minimum and at 27-466 ns by its mean. All functions ignore
//! values that are not finite.

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
pub mod words;

pub use normal::normal;
pub use random::Xoshiro;
pub use summary::{Summary, summarise};

/// Turns a median absolute deviation into the standard deviation of a normal distribution with the
/// same one.
pub const MAD_TO_SIGMA: f64 = 1.4826;

/// The finite values, in ascending order.
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    finite
}

/// The quantile of values in ascending order at `share` (0 to 1), interpolated between neighbours:
/// type 7 of Hyndman and Fan 1996, as R and NumPy have it. `None` where there are no values.
#[must_use]
pub fn quantile_sorted(ascending: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * ascending.len().checked_sub(1)? as f64;
    let below = *ascending.get(place.floor() as usize)?;
    let above = *ascending.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

/// The quantile at `share` of values in any order; `None` where none is finite.
#[must_use]
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    quantile_sorted(&sorted(values), share)
}

/// The median; `None` where no value is finite.
///
/// ```
/// # use seatmap_data::statistics::median;
/// assert_eq!(median(&[80.0, 300.0, f64::NAN, 84.0]), Some(84.0));
/// ```
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The median absolute deviation from the median, unscaled; `None` where no value is finite.
#[must_use]
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    median(&values.iter().map(|value| (value - centre).abs()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_are_those_of_type_seven() {
        let values = [15.0, 20.0, 35.0, 40.0, 50.0];
        assert_eq!(quantile(&values, 0.4), Some(29.0));
        assert_eq!(quantile(&values, 0.0), Some(15.0));
        assert_eq!(quantile(&values, 1.0), Some(50.0));
    }

    #[test]
    fn no_value_has_no_median() {
        assert_eq!(median(&[]), None);
        assert_eq!(mad(&[f64::NAN, f64::INFINITY]), None);
        assert_eq!(mad(&[3.0]), Some(0.0));
    }

    proptest! {
        #[test]
        fn the_median_has_half_on_each_side(values in prop::collection::vec(-1e9f64..1e9, 1..80)) {
            let middle = median(&values).unwrap();
            prop_assert!(values.iter().filter(|value| **value < middle).count() * 2 <= values.len());
            prop_assert!(values.iter().filter(|value| **value > middle).count() * 2 <= values.len());
        }

        #[test]
        fn quantiles_move_with_the_values(values in prop::collection::vec(0f64..1e3, 1..40), by in 0f64..1e3) {
            let moved: Vec<f64> = values.iter().map(|value| value + by).collect();
            let here = quantile(&values, 0.1).unwrap();
            let there = quantile(&moved, 0.1).unwrap();
            prop_assert!((here + by - there).abs() < 1e-9);
            prop_assert!((mad(&values).unwrap() - mad(&moved).unwrap()).abs() < 1e-9);
        }
    }
}
