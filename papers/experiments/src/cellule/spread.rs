//! Summarises samples in a few numbers.

use seatmap_data::statistics::{quantile, summarise};
use serde::Serialize;

const SEED: u64 = 1;

/// Samples in a few numbers, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleSummary {
    /// The headline.
    pub median_ns: f64,
    /// The lower end of the 95 % bootstrap interval of the median.
    pub ci95_low_ns: f64,
    /// The upper end of that interval.
    pub ci95_high_ns: f64,
    /// The time that 1 % of the calls exceed.
    pub p99_ns: f64,
    /// The standard deviation, as in the paper. Compared with the median it shows the few
    /// interrupted calls.
    pub deviation_ns: f64,
    /// The number of samples.
    pub samples: usize,
}

impl SampleSummary {
    /// The spread of samples from several turns; `None` without samples.
    pub fn of(turns_ns: &[Vec<f64>]) -> Option<Self> {
        let summary = summarise(turns_ns, SEED)?;
        let all = turns_ns.concat();
        Some(SampleSummary {
            median_ns: summary.median,
            ci95_low_ns: summary.ci95_low,
            ci95_high_ns: summary.ci95_high,
            p99_ns: quantile(&all, 0.99)?,
            deviation_ns: deviation(&all),
            samples: summary.n,
        })
    }
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlier_changes_deviation_not_median() {
        let spread = SampleSummary::of(&[vec![70.0; 99], vec![7000.0]]).unwrap();
        assert_eq!((spread.median_ns, spread.samples), (70.0, 100));
        assert!((spread.deviation_ns - 693.0).abs() < 1e-9, "{spread:?}");
        assert_eq!(SampleSummary::of(&[vec![5.0]]).unwrap().deviation_ns, 0.0);
        assert_eq!(SampleSummary::of(&[vec![]]), None);
    }
}
