//! Passes whose medians move one way.

use seatmap_data::statistics::{MAD_TO_SIGMA, greatest, mad, median};

/// The smallest significant movement from the first to the last median, in standard errors. High,
/// because batches of a visit share their surroundings and understate differences between visits.
const STANDARD_ERRORS: f64 = 4.0;

/// As a share of the median: the repeatability of bare metal.
const SMALLEST_MOVE: f64 = 0.02;

/// The standard error of a median of n normal samples, times the square root of n, in standard
/// deviations: sqrt(pi / 2).
const MEDIAN_ERROR: f64 = 1.2533;

/// Whether the medians of the passes rise or fall throughout, by more than noise.
pub fn is_drifting(passes: &[Vec<f64>]) -> bool {
    let medians: Vec<f64> = passes.iter().filter_map(median).collect();
    let [first, .., last] = medians.as_slice() else { return false };
    let rises = medians.windows(2).all(|pair| pair[0] < pair[1]);
    let falls = medians.windows(2).all(|pair| pair[0] > pair[1]);
    let noise = greatest(passes.iter().filter_map(|pass| standard_error(pass)));
    let moved = (last - first).abs();
    (rises || falls)
        && moved > SMALLEST_MOVE * first
        && moved > STANDARD_ERRORS * std::f64::consts::SQRT_2 * noise
}

fn standard_error(pass: &[f64]) -> Option<f64> {
    Some(MEDIAN_ERROR * MAD_TO_SIGMA * mad(pass)? / (pass.len() as f64).sqrt())
}
