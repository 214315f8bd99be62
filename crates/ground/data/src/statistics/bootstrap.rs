//! The bootstrap interval of a median, over passes and then over the batches inside them.
//!
//! Batches of one visit are not independent: the frequency, other programs and the vCPU's position
//! last longer than a batch, so resampling only batches gives too narrow an interval. Here whole
//! passes are drawn first and batches inside each of them second (Davison and Hinkley 1997, section
//! 3.8).
//!
//! It must be fast, because a machine of 512 PUs has 130 816 pairs: the samples are ranked once, a
//! resample is a count over ranks, and a walk over the counts finds its median.

use super::quantile_sorted;
use fastrand::Rng;

/// Resamples: the 2.5 % and 97.5 % quantiles then depend on five of them each, enough for two
/// digits.
const RESAMPLES: usize = 200;

/// The 95 % percentile interval of the median (Efron 1979). `ascending` holds the finite samples of
/// all passes, sorted.
pub fn interval(passes: &[Vec<f64>], ascending: &[f64], seed: u64) -> Option<(f64, f64)> {
    let ranks: Vec<Vec<u32>> =
        passes.iter().map(|pass| ranks(pass, ascending)).filter(|pass| !pass.is_empty()).collect();
    let mut rng = Rng::with_seed(seed);
    let mut counts = vec![0u32; ascending.len()];
    let mut medians = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        counts.fill(0);
        let drawn = draw(&ranks, &mut counts, &mut rng);
        medians.push(median_of(&counts, ascending, drawn)?);
    }
    medians.sort_unstable_by(f64::total_cmp);
    Some((quantile_sorted(&medians, 0.025)?, quantile_sorted(&medians, 0.975)?))
}

fn ranks(pass: &[f64], ascending: &[f64]) -> Vec<u32> {
    let finite = pass.iter().filter(|value| value.is_finite());
    finite.map(|value| ascending.partition_point(|other| other < value) as u32).collect()
}

fn draw(ranks: &[Vec<u32>], counts: &mut [u32], rng: &mut Rng) -> u32 {
    let mut drawn = 0;
    for _ in ranks {
        let pass = &ranks[rng.usize(..ranks.len())];
        drawn += pass.len() as u32;
        let mut left = pass.len();
        while left > 0 {
            // Two draws per random word; the bias of the multiplication is below 2^-20 for any
            // number of batches.
            let word = rng.u64(..);
            for half in [word as u32, (word >> 32) as u32].into_iter().take(left) {
                counts[pass[((u64::from(half) * pass.len() as u64) >> 32) as usize] as usize] += 1;
                left -= 1;
            }
        }
    }
    drawn
}

fn median_of(counts: &[u32], ascending: &[f64], drawn: u32) -> Option<f64> {
    // The middle two of an even number, or twice the middle one.
    let lower = (drawn.checked_sub(1)?) / 2;
    let upper = drawn / 2;
    let mut seen = 0;
    let mut low = None;
    for (count, value) in counts.iter().zip(ascending) {
        seen += count;
        if low.is_none() && seen > lower {
            low = Some(*value);
        }
        if seen > upper {
            return low.map(|low| 0.5 * (low + value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{median, sorted};

    fn width(passes: &[Vec<f64>]) -> f64 {
        let (low, high) = interval(passes, &sorted(passes.concat()), 5).unwrap();
        high - low
    }

    #[test]
    fn counted_median_equals_plain_median() {
        let ascending = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(median_of(&[1, 0, 2, 1], &ascending, 4), median([1.0, 4.0, 4.0, 8.0]));
        assert_eq!(median_of(&[2, 1, 0, 1], &ascending, 4), median([1.0, 1.0, 2.0, 8.0]));
        assert_eq!(median_of(&[0, 0, 1, 0], &ascending, 1), Some(4.0));
        assert_eq!(median_of(&[0; 4], &ascending, 0), None);
    }

    #[test]
    fn disagreeing_passes_widen_the_interval() {
        let around =
            |centre: f64| (0..16).map(|at| centre + f64::from(at) / 8.0).collect::<Vec<_>>();
        let together = [around(80.0), around(80.0), around(80.0)];
        let apart = [around(78.0), around(80.0), around(84.0)];
        assert!(width(&apart) > 3.0 * width(&together), "{} {}", width(&apart), width(&together));
        assert!(width(&apart) > 3.0, "narrower than the passes are apart: {}", width(&apart));
    }

    #[test]
    fn interval_width_matches_theory() {
        // The median of n normal samples has a standard error of 1.2533 sigma / sqrt(n).
        let mut rng = Rng::with_seed(11);
        let normal = |rng: &mut Rng| (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
        let widths: Vec<f64> =
            (0..60).map(|_| width(&[(0..64).map(|_| normal(&mut rng)).collect()])).collect();
        let expected = 2.0 * 1.96 * 1.2533 / 8.0;
        let ratio = median(&widths).unwrap() / expected;
        assert!((0.8..1.2).contains(&ratio), "{ratio}");
    }
}
