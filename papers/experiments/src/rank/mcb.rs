//! Which mappings may be the best: multiple comparisons with the best (Hsu 1984, "Constrained
//! simultaneous confidence intervals for multiple comparisons with the best").
//!
//! Times are compared by their logarithms, because disturbances slow a run down in proportion. Runs
//! are blocks: a change that affects all mappings of a run alike does not count. A mapping may be
//! the best unless its mean exceeds the smallest of the others by more than the critical value.
//! With the stated confidence the true best is among the rest.

use super::MappingTimes;
use libm::{erfc, lgamma};
use std::f64::consts::{PI, SQRT_2};

/// The confidence that the best is among the remaining mappings.
pub const CONFIDENCE: f64 = 0.95;
/// Steps of an integral (even, for Simpson's rule); more change no shown digit.
const STEPS: u32 = 160;
/// The range of integrals on each side, in standard deviations.
const TAIL: f64 = 8.0;
/// Above the largest critical value: 6.31, for one comparison with one degree of freedom.
const LARGEST: f64 = 8.0;
const HALVINGS: u32 = 30;

/// Which mappings may be the best.
#[derive(Clone, Debug, PartialEq)]
pub struct MayBeBest {
    /// Each mapping's flag, in the times' order.
    pub flags: Vec<bool>,
    /// How much slower than the best a mapping may be measured and still remain, as a factor from
    /// 1.
    pub margin: f64,
}

/// Compares all mappings with the best. `None` for a single run, which shows no differences between
/// runs, and for a single mapping.
pub fn may_be_best(times: &MappingTimes) -> Option<MayBeBest> {
    let mappings = times.indices().len();
    let runs = times.runs();
    if mappings < 2 || runs < 2 || times.rows().flatten().any(|ns| *ns <= 0.0) {
        return None;
    }
    let logs: Vec<Vec<f64>> =
        times.rows().map(|row| row.iter().map(|ns| ns.ln()).collect()).collect();
    let means: Vec<f64> = logs.iter().map(|row| mean(row)).collect();
    // Degrees of freedom of a two-way layout without repetition.
    let freedom = ((mappings - 1) * (runs - 1)) as f64;
    // The deviation left after the effects of mappings and runs.
    let sigma = (residual(&logs, &means) / freedom).sqrt();
    let margin = critical(mappings - 1, freedom) * sigma * (2.0 / runs as f64).sqrt();
    let mut sorted = means.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let flags = means
        .iter()
        // The best itself is compared with the second best.
        .map(|own| own - (if *own == sorted[0] { sorted[1] } else { sorted[0] }) <= margin)
        .collect();
    Some(MayBeBest { flags, margin: margin.exp() })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn residual(logs: &[Vec<f64>], means: &[f64]) -> f64 {
    let runs = logs[0].len();
    let of_run: Vec<f64> = (0..runs)
        .map(|run| logs.iter().map(|row| row[run]).sum::<f64>() / logs.len() as f64)
        .collect();
    let all = mean(means);
    logs.iter()
        .zip(means)
        .map(|(row, own): (&Vec<f64>, &f64)| -> f64 {
            // The overall mean was subtracted twice.
            row.iter().zip(&of_run).map(|(log, run)| (log - own - run + all).powi(2)).sum()
        })
        .sum()
}

/// The one-sided critical value of Dunnett 1955 for `others` comparisons with one, `freedom`
/// degrees of freedom and equal numbers of runs, at [`CONFIDENCE`].
pub fn critical(others: usize, freedom: f64) -> f64 {
    let mut low = 0.0;
    let mut high = LARGEST;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if confidence(middle, others, freedom) < CONFIDENCE { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The probability, for equal mappings, that none is better than a given one by more than `value`
/// estimated deviations: the integral over the estimate and over the given one's own error.
fn confidence(value: f64, others: usize, freedom: f64) -> f64 {
    // The deviation of an estimated sigma around 1 is about 1 / sqrt(2 * freedom).
    let spread = TAIL / (2.0 * freedom).sqrt();
    simpson((1.0 - spread).max(1e-9), 1.0 + spread, |sigma| {
        // For each own error, the probability that all others stay within the critical value.
        chi_density(sigma, freedom)
            * simpson(-TAIL, TAIL, |own| {
                // The difference of two means has the square root of two times the deviation of
                // one.
                density(own) * below(own + SQRT_2 * value * sigma).powf(others as f64)
            })
    })
}

fn simpson(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / f64::from(STEPS);
    (0..=STEPS).map(|at| simpson_weight(at) * f(from + f64::from(at) * step)).sum::<f64>() * step
        / 3.0
}

fn simpson_weight(at: u32) -> f64 {
    // Simpson's weights: 1 4 2 4 ... 4 1.
    if at == 0 || at == STEPS { 1.0 } else { f64::from(2 + 2 * (at % 2)) }
}

fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

fn below(z: f64) -> f64 {
    0.5 * erfc(-z / SQRT_2)
}

/// The density of the estimate of a deviation of 1 with this many degrees of freedom.
fn chi_density(sigma: f64, freedom: f64) -> f64 {
    let half = 0.5 * freedom;
    // In logarithms, because the gamma function overflows a double above 171.
    (2.0_f64.ln() + half * half.ln() - lgamma(half) + (freedom - 1.0) * sigma.ln()
        - half * sigma * sigma)
        .exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::MappingTrial;

    #[test]
    fn critical_values_match_published_table() {
        // Dunnett 1955, table 1a: one-sided, 95 %, by others and degrees of freedom; Student's t
        // for one other.
        let table = [
            (1, 1.0, 6.31),
            (1, 10.0, 1.81),
            (2, 10.0, 2.15),
            (5, 10.0, 2.56),
            (9, 10.0, 2.81),
            (2, 1e6, 1.92),
            (9, 1e6, 2.42),
        ];
        for (others, freedom, expected) in table {
            let found = critical(others, freedom);
            assert!((found - expected).abs() < 0.012, "{others} others, {freedom}: {found}");
        }
    }

    fn times(rows: &[[f64; 3]]) -> MappingTimes {
        let mut times = MappingTimes::new((0..rows.len() as u64).collect(), 3);
        for (index, row) in rows.iter().enumerate() {
            for (run, ns) in row.iter().enumerate() {
                times.set(MappingTrial { index: index as u64, run: run as u32 }, *ns);
            }
        }
        times
    }

    #[test]
    fn mappings_within_margin_may_be_best() {
        let rows = [
            [100.0, 110.0, 121.0],
            [101.0, 112.0, 120.0],
            [130.0, 143.0, 157.0],
            [160.0, 175.0, 194.0],
        ];
        let found = may_be_best(&times(&rows)).unwrap();
        assert_eq!(found.flags, [true, true, false, false]);
        assert!(
            (1.0..1.1).contains(&found.margin),
            "runs drift by a tenth each, which the blocks explain: {}",
            found.margin
        );
    }

    #[test]
    fn noise_leaves_more_candidates() {
        let rows = [
            [100.0, 150.0, 90.0],
            [140.0, 95.0, 130.0],
            [170.0, 100.0, 180.0],
            [900.0, 1200.0, 950.0],
        ];
        assert_eq!(may_be_best(&times(&rows)).unwrap().flags, [true, true, true, false]);
    }

    #[test]
    fn only_best_remains_without_noise() {
        let found = may_be_best(&times(&[[100.0; 3], [100.001; 3]])).unwrap();
        assert_eq!(found.flags, [true, false]);
    }

    #[test]
    fn single_run_or_mapping_gives_no_result() {
        assert_eq!(may_be_best(&MappingTimes::new(vec![0], 3)), None);
        let mut single = MappingTimes::new(vec![0, 1], 1);
        (0..2).for_each(|index| assert!(single.set(MappingTrial { index, run: 0 }, 5.0)));
        assert_eq!(may_be_best(&single), None);
    }
}
