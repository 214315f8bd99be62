//! The positions at which a series changes its level or its spread.
//!
//! The method is E-divisive (Matteson and James 2014, "A nonparametric approach for multiple change
//! point analysis of multivariate data", JASA 109), which MongoDB uses for its benchmarks (Daly et
//! al. 2020, "The use of change point detection to identify software performance regressions in a
//! continuous integration system", ICPE). It splits the series at the largest energy distance of
//! both parts, and keeps a split if few random orders of the same values have one as large. It
//! assumes no distribution, but values must be independent apart from the changes: a slow drift
//! counts as a change.

use crate::statistics::{Ordered, Xoshiro};

/// The largest share of random orders with a split as good as a kept one. A series without a change
/// gets a false change in 1 % of cases.
pub const LEVEL: f64 = 0.01;

/// Random orders for each split, which give the share to a thousandth.
const ORDERS: usize = 999;

/// The fewest values on each side of a change. One or two odd values are not a change.
pub const FEWEST: usize = 3;

/// A change of a series.
#[derive(Clone, Copy, Debug)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub at: usize,
    /// One minus the share of random orders with a split as good as this, 0 to 1.
    pub certainty: f64,
}

#[derive(Clone, Copy, Debug)]
struct Split {
    at: usize,
    distance: f64,
}

/// The changes of a series in order of time; none if a value is infinite or NaN. The same seed
/// gives the same changes.
///
/// ```
/// use seatmap_data::statistics::change_points::change_points;
/// let level = |at| if at < 20 { 0.0 } else { 50.0 };
/// let series: Vec<f64> = (0..30).map(|at| f64::from(at % 3) + level(at)).collect();
/// assert_eq!(change_points(&series, 1)[0].at, 20);
/// ```
pub fn change_points(series: &[f64], seed: u64) -> Vec<ChangePoint> {
    if series.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let mut random = Xoshiro::new(seed);
    let mut found: Vec<ChangePoint> = Vec::new();
    loop {
        let parts = parts(series.len(), &found);
        let Some(split) = best(series, &parts) else { break };
        let Some(share) = share_as_good(series, &parts, split.distance, &mut random) else { break };
        found.push(ChangePoint { at: split.at, certainty: 1.0 - share });
        found.sort_by_key(|change| change.at);
    }
    found
}

fn parts(length: usize, changes: &[ChangePoint]) -> Vec<[usize; 2]> {
    let starts = std::iter::once(0).chain(changes.iter().map(|change| change.at));
    let ends = changes.iter().map(|change| change.at).chain([length]);
    starts.zip(ends).map(|(start, end)| [start, end]).collect()
}

fn best(series: &[f64], parts: &[[usize; 2]]) -> Option<Split> {
    parts
        .iter()
        .filter_map(|[start, end]| {
            let split = split(&series[*start..*end])?;
            Some(Split { at: start + split.at, ..split })
        })
        .max_by_key(|it| Ordered(it.distance))
}

fn distances(value: f64, others: &[f64]) -> f64 {
    others.iter().map(|other| (value - other).abs()).sum()
}

fn split(part: &[f64]) -> Option<Split> {
    // All values begin on the right side and move to the left one after the other.
    let mut within_left = 0.0;
    let mut within_right: f64 =
        (0..part.len()).map(|at| distances(part[at], &part[at + 1..])).sum();
    let mut between = 0.0;
    let mut best: Option<Split> = None;
    for at in 0..part.len() {
        let to_left = distances(part[at], &part[..at]);
        let to_right = distances(part[at], &part[at + 1..]);
        within_left += to_left;
        within_right -= to_right;
        between += to_right - to_left;
        let left = at + 1;
        let right = part.len() - left;
        if left.min(right) < FEWEST {
            continue;
        }
        let [m, n] = [left as f64, right as f64];
        let mean_between = 2.0 * between / (m * n);
        let mean_left = 2.0 * within_left / (m * (m - 1.0));
        let mean_right = 2.0 * within_right / (n * (n - 1.0));
        let distance = m * n / (m + n) * (mean_between - mean_left - mean_right);
        if best.is_none_or(|best| distance > best.distance) {
            best = Some(Split { at: left, distance });
        }
    }
    best
}

/// The share of random orders within the parts that have a split at least as good; `None` if it is
/// above [`LEVEL`].
fn share_as_good(
    series: &[f64],
    parts: &[[usize; 2]],
    distance: f64,
    random: &mut Xoshiro,
) -> Option<f64> {
    // The observed order counts as one of them.
    let most = (LEVEL * (ORDERS + 1) as f64) as usize;
    let mut as_good = 1;
    let mut shuffled = series.to_vec();
    for _ in 0..ORDERS {
        for [start, end] in parts {
            random.shuffle(&mut shuffled[*start..*end]);
        }
        // Sums of the same values in another order differ by rounding.
        let is_as_good =
            best(&shuffled, parts).is_some_and(|split| split.distance >= distance * (1.0 - 1e-9));
        as_good += usize::from(is_as_good);
        // Without a change most orders are as good, so a few orders are enough.
        if as_good > most {
            return None;
        }
    }
    Some(as_good as f64 / (ORDERS + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    fn made(chance: &mut fastrand::Rng, length: usize, steps: &[(usize, f64)]) -> Vec<f64> {
        (0..length)
            .map(|at| {
                let level: f64 =
                    steps.iter().filter(|step| at >= step.0).map(|step| 0.01 * step.1).sum();
                let spike = if chance.u8(0..20) == 0 { 0.1 } else { 0.0 };
                level + spike + 0.01 * normal(chance)
            })
            .collect()
    }

    #[test]
    fn unchanged_series_rarely_have_change_points() {
        let mut chance = fastrand::Rng::with_seed(2);
        for length in [7, 20, 60] {
            let alarms = (0..200)
                .filter(|seed| !change_points(&made(&mut chance, length, &[]), *seed).is_empty())
                .count();
            assert!(alarms <= 10, "{alarms} of 200 at {length} values");
        }
        assert!(change_points(&[], 1).is_empty() && change_points(&[1.0; 50], 1).is_empty());
        assert!(change_points(&[f64::NAN; 50], 1).is_empty());
    }

    #[test]
    fn change_is_found_within_six_runs() {
        let mut chance = fastrand::Rng::with_seed(3);
        let mut found = 0;
        let mut at_place = 0;
        for seed in 0..100 {
            let series = made(&mut chance, 36, &[(30, 5.0)]);
            let near = change_points(&series, seed);
            let near = near.iter().find(|change| change.at.abs_diff(30) <= 2);
            found += usize::from(near.is_some());
            at_place += usize::from(near.is_some_and(|change| change.at == 30));
        }
        assert!(found >= 90 && at_place >= 75, "{found} found, {at_place} at their place");
    }

    #[test]
    fn several_changes_are_found_in_order() {
        let mut chance = fastrand::Rng::with_seed(4);
        let series = made(&mut chance, 90, &[(30, 8.0), (60, -5.0)]);
        let found = change_points(&series, 1);
        let places: Vec<usize> = found.iter().map(|change| change.at).collect();
        assert_eq!(places, [30, 60]);
        assert!(found.iter().all(|change| change.certainty >= 1.0 - LEVEL), "{found:?}");
    }
}
