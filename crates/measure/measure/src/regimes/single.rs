//! How well one level explains the samples.
//!
//! Distances are skewed (the hardware limits only fast round trips) and heavy-tailed (interrupts),
//! so a plain normal is too weak a rival: a shifted lognormal, a normal of the values and Student's
//! t are tried as well. All likelihoods are of the samples' logarithms.

use seatmap_data::statistics::{mad, mean, median};
use std::f64::consts::{PI, TAU};

/// The initial share of outliers, and the minimum in the next constant.
pub const OUTLIERS: f64 = 0.03;
/// See [`OUTLIERS`].
pub const FEWEST_OUTLIERS: f64 = 1e-3;
/// The minimum relative width of a level, so equal samples do not make it infinitely likely.
pub const SIGMA_FLOOR: f64 = 2e-3;

/// Outliers are assumed to be at least up to this many times slower; a guess.
const OUTLIER_REACH: f64 = 16.0;
const ITERATIONS: usize = 30;
/// Starts of a shifted lognormal below the fastest sample, in distances from there to the median.
const SHIFTS: [f64; 4] = [0.03, 0.1, 0.3, 1.0];

/// The density of a normal distribution.
pub fn normal(distance: f64, sigma: f64) -> f64 {
    (-0.5 * (distance / sigma).powi(2)).exp() / (sigma * TAU.sqrt())
}

/// The background's density.
pub fn background(ascending: &[f64]) -> f64 {
    let range = ascending.last().zip(ascending.first()).map_or(0.0, |(last, first)| last - first);
    1.0 / range.max(OUTLIER_REACH.ln())
}

/// The log-likelihood of the best single level. `logs` are ascending.
pub fn best(logs: &[f64], floor: f64) -> f64 {
    let plain = with_background(logs, floor);
    let normal_values = shifted(logs, f64::INFINITY, floor);
    let skewed =
        SHIFTS.iter().map(|shift| shifted(logs, *shift, floor)).fold(f64::NEG_INFINITY, f64::max);
    plain.max(normal_values).max(skewed).max(heavy(logs, floor))
}

/// A normal level over a uniform background.
pub fn with_background(logs: &[f64], floor: f64) -> f64 {
    let density = background(logs);
    let mut centre = median(logs).unwrap_or_default();
    let mut sigma =
        (seatmap_data::statistics::MAD_TO_SIGMA * mad(logs).unwrap_or_default()).max(floor);
    let mut weight = 1.0 - OUTLIERS;
    let mut log_likelihood = 0.0;
    for _ in 0..ITERATIONS {
        let before = log_likelihood;
        // A few outliers would widen the level.
        let outliers = (1.0 - weight).max(FEWEST_OUTLIERS) * density;
        let mut count = 0.0;
        let mut sum = 0.0;
        let mut squares = 0.0;
        log_likelihood = 0.0;
        for log in logs {
            let level = weight * normal(log - centre, sigma);
            let share = level / (level + outliers);
            log_likelihood += (level + outliers).ln();
            count += share;
            sum += share * log;
            squares += share * (log - centre).powi(2);
        }
        (centre, sigma, weight) =
            (sum / count, (squares / count).sqrt().max(floor), count / logs.len() as f64);
        if (log_likelihood - before).abs() < 1e-3 {
            break;
        }
    }
    log_likelihood
}

/// A lognormal that starts below the fastest sample; with an infinite shift, a normal of the
/// values.
fn shifted(logs: &[f64], shift: f64, floor: f64) -> f64 {
    let (Some(middle), Some(fastest)) = (median(logs), logs.first()) else {
        return f64::NEG_INFINITY;
    };
    let middle = middle.exp();
    let fastest = fastest.exp();
    // The fastest sample must have a finite logarithm.
    let start = fastest - shift * (middle - fastest) - 1e-3 * middle;

    if start.is_finite() && start <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let (values, derivatives): (Vec<f64>, Vec<f64>) = logs
        .iter()
        .map(|log| log.exp())
        .map(|value| {
            if start.is_finite() {
                ((value - start).ln(), value / (value - start))
            } else {
                (value / middle, value / middle)
            }
        })
        .unzip();
    let n = values.len() as f64;
    let centre = mean(&values);
    let sigma =
        (values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / n).sqrt().max(floor);
    let moved: f64 = derivatives.iter().map(|derivative| derivative.ln()).sum();
    moved
        + values
            .iter()
            .map(|value| normal(value - centre, sigma).max(f64::MIN_POSITIVE).ln())
            .sum::<f64>()
}

/// Student's t with three degrees of freedom and with one (Cauchy's distribution), scaled by the
/// median absolute deviation.
fn heavy(logs: &[f64], floor: f64) -> f64 {
    let (Some(centre), Some(mad)) = (median(logs), mad(logs)) else { return f64::NEG_INFINITY };
    let three = (mad / 0.7649).max(floor);
    let one = mad.max(floor);
    let of_three = likelihood(logs, centre, |distance| {
        2.0 / (PI * 3f64.sqrt() * three * (1.0 + (distance / three).powi(2) / 3.0).powi(2))
    });
    let of_one =
        likelihood(logs, centre, |distance| 1.0 / (PI * one * (1.0 + (distance / one).powi(2))));
    of_three.max(of_one)
}

fn likelihood(logs: &[f64], centre: f64, density: impl Fn(f64) -> f64) -> f64 {
    logs.iter().map(|log| density(log - centre).ln()).sum()
}
