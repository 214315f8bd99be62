//! The shift of paired differences, with an interval that is exact for few pairs.
//!
//! A bootstrap interval of 5 to 15 differences misses the true shift more often than it claims,
//! because so few values do not show their own spread. That of Wilcoxon's signed-rank test
//! (Hollander, Wolfe and Chicken 2014, section 3.3) is exact for any symmetric distribution. Too
//! few differences have no interval.

use crate::statistics::dependence::widening;
use crate::statistics::pairs::ValuePairs;
use crate::statistics::random::Xoshiro;
use crate::statistics::{quantile, sorted};
use std::borrow::Borrow;

/// The most differences with an exact rank-sum distribution; above, the normal approximation is
/// used.
const MOST_EXACT: usize = 60;

/// Repetitions of [`floor`]: enough to know the 95th percentile to about 1 %.
const REPETITIONS: usize = 1000;

/// The most differences that a repetition of [`floor`] draws. The centre of more is already normal,
/// so it shrinks with the square root of their number.
const MOST_DRAWN: usize = 500;

/// The shift of a list of differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Hodges-Lehmann estimate: the median of the means of all pairs of differences, in the
    /// differences' unit.
    pub centre: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Differences.
    pub count: usize,
}

impl Shift {
    /// This shift with an interval wider by `factor`.
    pub fn widened(self, factor: f64) -> Self {
        let [low, high] =
            [self.low, self.high].map(|end| self.centre + factor * (end - self.centre));
        Shift { low, high, ..self }
    }
}

/// The fewest differences that have an interval at this confidence (0 to 1): 6 for 95 %, 8 for 99
/// %.
pub fn fewest(confidence: f64) -> usize {
    (1..64).find(|count| 0.5_f64.powi(*count) <= tail(confidence)).unwrap_or(64) as usize
}

/// The shift of these differences with its interval at `confidence` (0 to 1). Infinite values and
/// NaN are ignored. `None` for fewer than [`fewest`] differences.
pub fn shift(differences: &[f64], confidence: f64) -> Option<Shift> {
    let values = sorted(differences);
    let means = ValuePairs::means(&values);
    let beyond = beyond(values.len(), tail(confidence))?;
    interval(&means, beyond, values.len())
}

/// The shift of differences in order of time, with the interval of [`shift`], widened for their
/// dependence ([`widening`]).
pub fn shift_in_order(differences: &[f64], confidence: f64) -> Option<Shift> {
    let found = shift(differences, confidence)?;
    Some(found.widened(widening(differences, confidence)))
}

/// The Hodges-Lehmann estimate alone; `None` without differences.
pub fn centre(differences: impl IntoIterator<Item: Borrow<f64>>) -> Option<f64> {
    ValuePairs::means(&sorted(differences)).median()
}

/// How much larger the second list is than the first, for unpaired values: the Hodges-Lehmann
/// estimate with the interval of the rank sum test (Hollander, Wolfe and Chicken 2014, section
/// 4.3), by its normal approximation. `None` if a list has fewer than six values.
pub fn between(first: &[f64], second: &[f64], confidence: f64) -> Option<Shift> {
    let [first, second] = [sorted(first), sorted(second)];
    let [m, n] = [first.len() as f64, second.len() as f64];
    let count = first.len().min(second.len());
    if count < 6 {
        return None;
    }
    let all = ValuePairs::differences(&first, &second);
    // The deviation of the Wilcoxon-Mann-Whitney rank sum without a difference. Ties would make it
    // smaller, so the interval is wide enough.
    let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
    let beyond = (0.5 * m * n - 0.5 + normal_quantile(tail(confidence)) * deviation)
        .floor()
        .max(0.0) as usize;
    interval(&all, beyond, count)
}

/// A bound on the centre of this many further differences if nothing differs: the 95th percentile
/// of the centres of these differences with random signs, drawn anew. Callers state it as a bound
/// of 90 %, because few differences do not show everything. `None` for fewer than two.
pub fn floor(differences: &[f64], seed: u64) -> Option<f64> {
    let sizes = sorted(differences.iter().map(|difference| difference.abs()));
    let count = sizes.len();
    // Drawing from the values shows less spread than they have around the true centre (n over n -
    // 1).
    let spread = (count as f64 / count.checked_sub(1).filter(|free| *free > 0)? as f64).sqrt();
    let mut random = Xoshiro::new(seed);
    let drawn = count.min(MOST_DRAWN);
    let centres = (0..REPETITIONS)
        .filter_map(|_| {
            let signed = (0..drawn).map(|_| {
                let size = sizes[random.below(count)];
                if random.below(2) == 0 { size } else { -size }
            });
            centre(signed)
        })
        .map(f64::abs);
    let fewer = (drawn as f64 / count as f64).sqrt();
    Some(spread * fewer * quantile(centres, 0.95)?)
}

/// The median of these pairs, with the interval that leaves out so many at each end.
fn interval(pairs: &ValuePairs<'_>, beyond: usize, count: usize) -> Option<Shift> {
    let low = pairs.nth(beyond)?;
    let high = pairs.nth(pairs.count().checked_sub(1 + beyond)?)?;
    Some(Shift { centre: pairs.median()?, low, high, count })
}

fn tail(confidence: f64) -> f64 {
    0.5 * (1.0 - confidence)
}

/// The number of Walsh averages outside the interval at each end: the largest rank sum of at most
/// this probability. `None` if even a rank sum of 0 is likelier.
fn beyond(count: usize, tail: f64) -> Option<usize> {
    if count > MOST_EXACT {
        return Some(beyond_normal(count as f64, tail));
    }
    let mut reached = 0.0;
    let mut beyond = None;
    for (sum, probability) in rank_sums(count).into_iter().enumerate() {
        reached += probability;
        if reached > tail {
            break;
        }
        beyond = Some(sum);
    }
    beyond
}

/// The probability of each sum, if each rank is in it with probability 1/2.
fn rank_sums(count: usize) -> Vec<f64> {
    let mut probability = vec![0.0; count * (count + 1) / 2 + 1];
    probability[0] = 1.0;
    for rank in 1..=count {
        // Downwards, so each rank is used once (as in a knapsack).
        for sum in (0..probability.len()).rev() {
            let with = sum.checked_sub(rank).map_or(0.0, |without| probability[without]);
            probability[sum] = 0.5 * (probability[sum] + with);
        }
    }
    probability
}

fn beyond_normal(count: f64, tail: f64) -> usize {
    let mean = count * (count + 1.0) / 4.0;
    let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
    (mean + normal_quantile(tail) * deviation).floor().max(0.0) as usize
}

/// The quantile of the standard normal distribution, by bisection: each interval needs only one.
pub fn normal_quantile(share: f64) -> f64 {
    let mut low = -40.0;
    let mut high = 40.0;
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if normal_share(middle) < share { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The share of a standard normal distribution below a value, by the series of Marsaglia 2004. It
/// converges everywhere, and is exact to 1e-14 within eight deviations.
pub fn normal_share(value: f64) -> f64 {
    // Beyond, a double cannot distinguish the share from 0 or 1.
    if value.abs() > 8.0 {
        return if value > 0.0 { 1.0 } else { 0.0 };
    }
    let mut term = value;
    let mut sum = value;
    let mut odd = 1.0;
    while term.abs() > 1e-17 {
        odd += 2.0;
        term *= value * value / odd;
        sum += term;
    }
    0.5 + sum * (-0.5 * value * value).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    #[test]
    fn rank_sums_match_tables() {
        // Hollander and Wolfe, table A.4: for 10 differences P(T <= 8) = 0.0244 and P(T <= 9) =
        // 0.0322.
        let below = |sum: usize| rank_sums(10)[..=sum].iter().sum::<f64>();
        assert!((below(8) - 0.0244).abs() < 5e-5 && (below(9) - 0.0322).abs() < 5e-5);
        assert_eq!(beyond(10, 0.025), Some(8));
        assert_eq!(beyond(5, 0.025), None);
        assert_eq!([0.9, 0.95, 0.99].map(fewest), [5, 6, 8]);
    }

    #[test]
    fn normal_approximation_continues_the_exact_values() {
        for tail in [0.005, 0.025, 0.05] {
            let exact = beyond(MOST_EXACT, tail).unwrap();
            assert!(exact.abs_diff(beyond_normal(MOST_EXACT as f64, tail)) <= 3);
        }
        assert!((normal_quantile(0.025) + 1.959_964).abs() < 1e-6);
    }

    #[test]
    fn shift_is_found_and_needs_six_differences() {
        let differences = [0.9, 1.1, 1.0, 1.2, 0.8, 1.05, 0.95];
        let found = shift(&differences, 0.95).unwrap();
        assert!(
            (found.centre - 1.0).abs() < 1e-9 && found.low > 0.8 && found.high < 1.2,
            "{found:?}"
        );
        assert_eq!(shift(&differences[..5], 0.95), None);
        assert_eq!(shift(&[], 0.95), None);
        assert_eq!(shift(&[f64::NAN; 9], 0.95), None);
    }

    fn spiked(rng: &mut fastrand::Rng) -> f64 {
        normal(rng) * if rng.u8(0..10) == 0 { 5.0 } else { 1.0 }
    }

    #[test]
    fn shift_intervals_have_their_stated_coverage() {
        let mut rng = fastrand::Rng::with_seed(1);
        for count in [6, 10, 15, 30, 70] {
            for draw in [normal, spiked] {
                let holds = (0..1000)
                    .filter(|_| {
                        let values: Vec<f64> = (0..count).map(|_| draw(&mut rng)).collect();
                        let found = shift(&values, 0.95).unwrap();
                        found.low <= 0.0 && 0.0 <= found.high
                    })
                    .count();
                // Three deviations of a count of 1000 at 95 % are 21.
                assert!((930..=995).contains(&holds), "{count} differences: {holds}");
            }
        }
    }

    #[test]
    fn unpaired_intervals_have_their_stated_coverage() {
        let mut rng = fastrand::Rng::with_seed(3);
        for (m, n) in [(6, 6), (8, 20), (30, 30)] {
            let mut list =
                |count: usize| (0..count).map(|_| spiked(&mut rng)).collect::<Vec<f64>>();
            let holds = (0..1000).filter(|_| {
                let found = between(&list(m), &list(n), 0.95).unwrap();
                found.low <= 0.0 && 0.0 <= found.high
            });
            let holds = holds.count();
            assert!((930..=985).contains(&holds), "{m} and {n}: {holds}");
        }
        assert_eq!(between(&[1.0; 5], &[1.0; 9], 0.95), None);
    }

    #[test]
    fn floor_exceeds_nine_in_ten_later_centres() {
        let mut rng = fastrand::Rng::with_seed(2);
        for count in [8, 12, 20] {
            for draw in [normal, spiked] {
                let mut values = || (0..count).map(|_| draw(&mut rng)).collect::<Vec<f64>>();
                let floors: Vec<f64> =
                    (0..30).map(|seed| floor(&values(), seed).unwrap()).collect();
                let centres: Vec<f64> = (0..60).map(|_| centre(values()).unwrap().abs()).collect();
                let held = floors
                    .iter()
                    .flat_map(|floor| centres.iter().map(move |centre| centre <= floor));
                let share = held.clone().filter(|held| *held).count() as f64 / held.count() as f64;
                assert!(share >= 0.88, "{count} differences: {share}");
            }
        }
    }
}
