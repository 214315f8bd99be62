//! Detects distances rounded to multiples of a coarse clock's step.
//!
//! A tool that times too few round trips with a clock of 10 ns ticks prints multiples of its tick,
//! smoothed by averages.
//!
//! The test is Kendall's cosine quantogram ("Hunting quanta", Phil. Trans. R. Soc. Lond. A 276,
//! 1974): for a step s, the mean of cos(2 pi x / s) over all figures x is 1 if all are multiples of
//! s, and near 0 if they are unrelated to s. A few narrow clusters fit some step by chance, so
//! there must also be several multiples, some of them adjacent.

use crate::machine::Matrix;
use crate::statistics::{Ordered, sorted};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// The smallest quantogram of an accepted step. A published matrix of a 10 ns clock reaches 0.99;
/// the best step of eleven published matrices with fine clocks, adjacency required, 0.46.
const BELIEVED: f64 = 0.95;

/// A step below this share of the median does no harm.
const HARMLESS_SHARE: f64 = 0.02;

/// How many multiples of the step must each have [`LEVEL_SHARE`] of the figures, and how many of
/// these must have a neighbour.
const MIN_LEVELS: usize = 4;
const MIN_ADJACENT: usize = 2;
const LEVEL_SHARE: f64 = 0.02;

/// With fewer pairs, clusters and multiples cannot be distinguished.
const MIN_PAIRS: usize = 40;

/// Figures in the test, spread evenly over the sorted ones to include all levels; a constant number
/// keeps the cost constant.
const SAMPLE: usize = 1000;

/// The factor between tried steps: fine enough for the 50 multiples that a harmful step has below
/// the median.
const NEXT_STEP: f64 = 1.002;

/// The clock's step, in the unit of the distances, if it is coarse enough to harm.
pub fn step(distances: &Matrix) -> Option<f64> {
    let figures = sorted(distances.pairs().map(|(_, _, ns)| ns).filter(|ns| **ns > 0.0));
    if figures.len() < MIN_PAIRS {
        return None;
    }
    let sample = evenly(&figures, SAMPLE);
    let least = sample[0];
    let median = sample[sample.len() / 2];
    // The least figure is at least one step; 1.2 leaves room for noise.
    let steps = std::iter::successors(Some(HARMLESS_SHARE * median), |step| Some(step * NEXT_STEP));
    let fits =
        steps.take_while(|step| *step <= 1.2 * least).map(|step| (quantogram(&sample, step), step));
    let believed = fits.filter(|(fit, step)| *fit >= BELIEVED && is_ladder(&sample, *step));
    let (_, best) = believed.max_by_key(|it| Ordered(it.0))?;
    Some(fitted(&sample, best))
}

fn evenly(sorted: &[f64], count: usize) -> Vec<f64> {
    let count = count.min(sorted.len());
    (0..count).map(|k| sorted[k * sorted.len() / count]).collect()
}

fn quantogram(figures: &[f64], step: f64) -> f64 {
    figures.iter().map(|ns| (TAU * ns / step).cos()).sum::<f64>() / figures.len() as f64
}

fn is_ladder(figures: &[f64], step: f64) -> bool {
    let mut count: BTreeMap<i64, usize> = BTreeMap::new();
    for ns in figures {
        *count.entry((ns / step).round() as i64).or_default() += 1;
    }
    count.retain(|_, figures_there| *figures_there as f64 >= LEVEL_SHARE * figures.len() as f64);
    let adjacent = count
        .keys()
        // A figure at the largest level has no neighbour above, and the sum would overflow.
        .filter(|level| level.checked_add(1).is_some_and(|above| count.contains_key(&above)))
        .count();
    count.len() >= MIN_LEVELS && adjacent >= MIN_ADJACENT
}

fn fitted(figures: &[f64], step: f64) -> f64 {
    let (products, squares) = figures.iter().fold((0.0, 0.0), |(products, squares), ns| {
        let multiple = (ns / step).round();
        (products + ns * multiple, squares + multiple * multiple)
    });
    products / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen_through(step_ns: f64) -> Matrix {
        let mut random = 1_u64;
        let mut next = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as f64 / (1_u64 << 31) as f64
        };
        let mut matrix = Matrix::filled(48, 0.0);
        for (i, j) in (0..48).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let class =
                if i / 2 == j / 2 { 20.0 } else { [60.0, 180.0][usize::from(i / 16 != j / 16)] };
            let ns = class * (0.95 + 0.1 * next());
            let seen = if step_ns > 0.0 {
                (ns / step_ns).round() * step_ns + 0.4 * (next() - 0.5)
            } else {
                ns
            };
            matrix.set_both(i, j, seen);
        }
        matrix
    }

    #[test]
    fn coarse_clock_step_is_found() {
        for coarse_ns in [6.0, 10.0] {
            let found = step(&seen_through(coarse_ns)).unwrap();
            assert!((found / coarse_ns - 1.0).abs() < 0.01, "{found} for {coarse_ns}");
        }
    }

    #[test]
    fn fine_clock_has_no_step() {
        assert_eq!(step(&seen_through(0.0)), None);
        assert_eq!(step(&seen_through(0.5)), None);
    }

    #[test]
    fn degenerate_matrices_have_no_step() {
        let mut wide = Matrix::filled(10, 1e-12);
        wide.set_both(0, 1, 2e9);
        let filled = [(2, 5.0), (20, f64::NAN), (20, 1e-300), (20, 1e300)];
        let mut degenerate = filled.map(|(n, ns)| Matrix::filled(n, ns)).into_iter().chain([wide]);
        assert!(degenerate.all(|matrix| step(&matrix).is_none()));
    }
}
