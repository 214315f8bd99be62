//! The summary of one pair's samples.

use super::bootstrap::interval;
use super::{mad, quantile_sorted, sorted};

/// One pair in six numbers; all but `n` in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Median: the figure to quote.
    pub median: f64,
    /// Tenth percentile: the pair without interference.
    pub p10: f64,
    /// Median absolute deviation from the median, unscaled.
    pub mad: f64,
    /// Lower end of the 95 % bootstrap interval of the median.
    pub ci95_low: f64,
    /// Upper end of that interval.
    pub ci95_high: f64,
    /// Samples.
    pub n: usize,
}

/// Summarises one pair from its samples, pass by pass, without infinite values and NaN; `None` if
/// none remain.
pub fn summarise(passes: &[Vec<f64>], seed: u64) -> Option<Summary> {
    let ascending = sorted(passes.iter().flatten());
    let median = quantile_sorted(&ascending, 0.5)?;
    let (ci95_low, ci95_high) = interval(passes, &ascending, seed)?;
    Some(Summary {
        median,
        p10: quantile_sorted(&ascending, 0.1)?,
        mad: mad(&ascending)?,
        ci95_low,
        ci95_high,
        n: ascending.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn constant_samples_have_zero_width() {
        let summary = summarise(&[vec![80.0; 16], vec![80.0; 16]], 1).unwrap();
        assert_eq!(
            summary,
            Summary { median: 80.0, p10: 80.0, mad: 0.0, ci95_low: 80.0, ci95_high: 80.0, n: 32 }
        );
    }

    #[test]
    fn non_finite_values_do_not_count() {
        assert_eq!(summarise(&[vec![f64::NAN], vec![]], 1), None);
        assert_eq!(summarise(&[vec![f64::NAN, 80.0], vec![]], 1).unwrap().n, 1);
    }

    #[test]
    fn interval_depends_only_on_the_seed() {
        let passes = [(0..16).map(|at| f64::from(at % 7)).collect(), vec![3.0, 9.0, 4.5]];
        assert_eq!(summarise(&passes, 7), summarise(&passes, 7));
    }

    proptest! {
        #[test]
        fn interval_contains_the_median(passes in prop::collection::vec(prop::collection::vec(1f64..1e3, 1..20), 1..4)) {
            let summary = summarise(&passes, 3).unwrap();
            let all = sorted(passes.concat());
            prop_assert!(all[0] <= summary.ci95_low && summary.ci95_low <= summary.ci95_high);
            prop_assert!(summary.ci95_high <= all[all.len() - 1]);
            prop_assert!(summary.p10 <= summary.median);
        }
    }
}
