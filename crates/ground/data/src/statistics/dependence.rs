//! How much wider an interval must be for a series than for independent values.
//!
//! Blocks of runs follow each other, and a disturbance of a minute affects several in the same way.
//! Such values carry less information than independent ones; how much less cannot be estimated from
//! few values: the first lags, or batches of 10 to 60 values, give far too small a widening. It
//! therefore comes from the posterior of the mean under a first-order autoregression, averaged over
//! all correlations of neighbours by how well they explain the series (Zellner and Tiao 1964,
//! "Bayesian analysis of the regression model with autocorrelated errors"). Part of the prior is on
//! independence, because the order within blocks is random; the rest is spread as in Berger and
//! Yang 1994 ("Noninformative priors and Bayesian testing for the AR(1) model").

use crate::statistics::{MAD_TO_SIGMA, greatest, mad, median, signed_rank::normal_share};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

const STEPS: usize = 24;

/// The prior of independence. A larger one makes intervals of ten values with neighbours'
/// correlation 0.8 hold the truth in fewer than 93 % of cases.
const INDEPENDENT: f64 = 0.4;

/// The weight, relative to the best, below which a correlation changes no digit.
const NEGLIGIBLE: f64 = 1e-6;

/// The largest distance from the median, in deviations; values farther away are clipped to it,
/// because one spike would hide the correlation of the rest.
const FARTHEST: f64 = 3.0;

/// The degrees of freedom from which Student's distribution is taken as normal.
const NEARLY_NORMAL: usize = 200;

/// The factor, at least 1, by which an interval for independent values must be widened for values
/// in order of time. Infinite values and NaN are ignored.
pub fn widening(in_order: &[f64], confidence: f64) -> f64 {
    let values = clipped(in_order);
    let free = values.len().saturating_sub(1);
    let Some(sums) = Sums::of(&values) else { return 1.0 };
    let fits: Vec<Fit> = (0..=STEPS).map(|step| sums.fit(step)).collect();
    let weighted = fits.iter().zip(weights(&fits));
    let likely: Vec<Fit> =
        weighted.filter(|(_, weight)| *weight > NEGLIGIBLE).map(|(fit, _)| *fit).collect();
    let of_these = half_width(&likely, free, confidence);
    of_these
        .zip(half_width(&fits[..1], free, confidence))
        .map_or(1.0, |(these, independent)| (these / independent).max(1.0))
}

fn clipped(values: &[f64]) -> Vec<f64> {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let most = FARTHEST * MAD_TO_SIGMA * mad(values).unwrap_or(0.0);
    let centre = median(values).unwrap_or(0.0);
    finite.map(|value| (value - centre).clamp(-most, most)).collect()
}

struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
    products: f64,
    ends: [f64; 2],
}

#[derive(Clone, Copy)]
struct Fit {
    log_weight: f64,
    mean: f64,
    error: f64,
}

impl Sums {
    fn of(values: &[f64]) -> Option<Self> {
        let [first, .., last] = *values else { return None };
        let differ = values.len() > 2 && values.iter().any(|value| *value != first);
        differ.then(|| Sums {
            count: values.len() as f64,
            sum: values.iter().sum(),
            squares: values.iter().map(|value| value * value).sum(),
            products: values.windows(2).map(|pair| pair[0] * pair[1]).sum(),
            ends: [first, last],
        })
    }

    /// The fit of a step from 0, independence, to [`STEPS`], almost a random walk.
    fn fit(&self, step: usize) -> Fit {
        let rho = (step as f64 - 0.5).max(0.0) / STEPS as f64;
        let Sums { count, sum, squares, products, ends: [first, last] } = *self;
        // The inverse of the correlation matrix, times 1 - rho^2, has 1 + rho^2 on its diagonal (1
        // at both ends) and -rho next to it.
        let inner = 1.0 + rho * rho;
        let ends = first + last;
        let ones = 2.0 + (count - 2.0) * inner - 2.0 * (count - 1.0) * rho;
        let mixed = ends + inner * (sum - ends) - rho * (2.0 * sum - ends);
        let end_squares = first * first + last * last;
        let own = end_squares + inner * (squares - end_squares) - 2.0 * rho * products;
        let mean = mixed / ones;
        // Rounding may make the rest negative.
        let rest = (own - mixed * mean).max(f64::MIN_POSITIVE);
        let free = count - 1.0;
        let unseen = 1.0 - rho * rho;
        // Mean and scale are integrated out with their usual priors; 1 - rho^2 cancels except for
        // half its logarithm.
        let likelihood = 0.5 * (unseen.ln() - ones.ln() - free * rest.ln());
        let prior = if step == 0 {
            INDEPENDENT
        } else {
            (1.0 - INDEPENDENT) * FRAC_2_PI / (STEPS as f64 * unseen.sqrt())
        };
        Fit { log_weight: likelihood + prior.ln(), mean, error: (rest / (free * ones)).sqrt() }
    }
}

/// The weights of these fits, relative to that of the likeliest.
fn weights(fits: &[Fit]) -> Vec<f64> {
    let best = fits.iter().map(|fit| fit.log_weight).fold(f64::NEG_INFINITY, f64::max);
    fits.iter().map(|fit| (fit.log_weight - best).exp()).collect()
}

fn half_width(fits: &[Fit], free: usize, confidence: f64) -> Option<f64> {
    let weights = weights(fits);
    let all: f64 = weights.iter().sum();
    let centre = fits.first()?.mean;
    let mut low = 0.0;
    let mut high = greatest(fits.iter().map(|fit| fit.error));
    let within = |half: f64| {
        let each = fits.iter().zip(&weights).map(|(fit, weight)| {
            let ends = [-half, half].map(|end| below((centre + end - fit.mean) / fit.error, free));
            weight * (ends[1] - ends[0])
        });
        each.sum::<f64>() / all
    };
    while within(high) < confidence {
        high *= 2.0;
    }
    // 20 halvings: far more exact than a report shows.
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        if within(middle) < confidence { low = middle } else { high = middle }
    }
    (high > 0.0).then_some(high)
}

/// The share of Student's distribution below a value (Abramowitz and Stegun 1964, 26.7.3 and
/// 26.7.4).
fn below(value: f64, free: usize) -> f64 {
    if free > NEARLY_NORMAL {
        return normal_share(value);
    }
    let angle = (value.abs() / (free as f64).sqrt()).atan();
    let [sine, cosine] = [angle.sin(), angle.cos()];
    let is_odd = !free.is_multiple_of(2);
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = if is_odd && free == 1 { 0.0 } else { term };
    for next in (if is_odd { 3 } else { 2 }..free.saturating_sub(1)).step_by(2) {
        term *= cosine * cosine * (next - 1) as f64 / next as f64;
        sum += term;
    }
    let inside = if is_odd { (angle + sine * sum) / FRAC_PI_2 } else { sine * sum };
    0.5 * (1.0 + inside.copysign(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;
    use crate::statistics::signed_rank::{Shift, shift, shift_in_order};

    #[test]
    fn student_distribution_matches_tables() {
        // Two-sided 95 % points.
        for (free, point) in [(1, 12.706), (2, 4.303), (5, 2.571), (9, 2.262), (60, 2.000)] {
            assert!((below(point, free) - 0.975).abs() < 2e-5, "{free}: {}", below(point, free));
            assert!((below(-point, free) - 0.025).abs() < 2e-5, "{free}");
        }
    }

    fn series(count: usize, rho: f64, rng: &mut fastrand::Rng) -> Vec<f64> {
        let mut value = normal(rng);
        (0..count)
            .map(|_| {
                let now = value;
                value = rho * now + (1.0 - rho * rho).sqrt() * normal(rng);
                now
            })
            .collect()
    }

    fn holds(shift: &Shift) -> bool {
        shift.low <= 0.0 && 0.0 <= shift.high
    }

    /// Without the widening: 95, 75 and 45 to 50 %.
    #[test]
    fn series_intervals_have_their_stated_coverage() {
        let mut rng = fastrand::Rng::with_seed(5);
        for count in [10, 15, 20, 30, 60] {
            for rho in [0.0, 0.5, 0.8] {
                let mut held = [0, 0];
                for _ in 0..1000 {
                    let values = series(count, rho, &mut rng);
                    held[0] += usize::from(holds(&shift(&values, 0.95).unwrap()));
                    held[1] += usize::from(holds(&shift_in_order(&values, 0.95).unwrap()));
                }
                eprintln!("{count} values, {rho}: {held:?} of 1000");
                assert!(held[1] >= 930, "{count} values, rho {rho}: {held:?}");
            }
        }
    }

    #[test]
    fn widening_is_small_for_independent_values_large_for_jumps() {
        let mut rng = fastrand::Rng::with_seed(6);
        let wider: Vec<f64> =
            (0..200).map(|_| widening(&series(30, 0.0, &mut rng), 0.95)).collect();
        assert!(wider.iter().all(|factor| *factor >= 1.0));
        assert!(median(&wider).unwrap() < 1.15, "{:?}", median(&wider));
        let jump: Vec<f64> =
            (0..30).map(|at| normal(&mut rng) + if at < 12 { 0.0 } else { 20.0 }).collect();
        assert!(widening(&jump, 0.95) > 3.0, "{}", widening(&jump, 0.95));
    }

    #[test]
    fn spike_keeps_widening_and_equal_values_have_none() {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut values = series(40, 0.9, &mut rng);
        let before = widening(&values, 0.95);
        values[20] = 1e9;
        assert!(widening(&values, 0.95) > 0.7 * before, "{before}");
        assert_eq!(widening(&[3.0; 10], 0.95), 1.0);
        assert_eq!(widening(&[1.0, 2.0], 0.95), 1.0);
        assert_eq!(widening(&[], 0.95), 1.0);
        assert_eq!(widening(&[f64::NAN; 9], 0.95), 1.0);
    }
}
