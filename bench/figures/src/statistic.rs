//! Order statistics as a row prints them: NaN where there are no values.

/// The median, or NaN.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The quantile at a share from 0 to 1, or NaN.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    seatmap_statistics::quantile(values, share).unwrap_or(f64::NAN)
}
