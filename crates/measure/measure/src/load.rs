//! Core distance under load.

use crate::assemble::rounded;
use crate::error::MeasureError;
use crate::floor::{refuse_impossible, refuse_too_few_lines};
use crate::matrix::LINE_SPACING;
use crate::plan::SurveyPlan;
use crate::probe::{PairAt, Probe, Visit};
use crate::schedule::random_pairing;
use seatmap_data::machine::LoadedPoint;
use seatmap_data::statistics::quantile;
use std::ops::ControlFlow;

/// Every K up to here, otherwise evenly spaced.
const MOST_POINTS: usize = 24;

/// Random pairings per point.
const DRAWS: u32 = 20;

/// Only batches during which all pairs run count, and the slowest pair takes several times as long
/// as the fastest.
const LONGER: u32 = 4;

/// Siblings finish ten times as fast as others, even on a noiseless machine.
const LEAST_BATCHES: u32 = 8;

/// The loaded curve of Liu et al. 2015 (figure 7): the distances of K = 1 .. N/2 simultaneous pairs
/// in random pairings. `observe` receives every point and the number of remaining ones; it ends the
/// curve by breaking.
///
/// # Errors
///
/// [`MeasureError`].
pub fn curve<P: Probe>(
    probe: &mut P,
    pus: &[u32],
    plan: &SurveyPlan,
    observe: &mut dyn FnMut(&LoadedPoint, usize) -> ControlFlow<()>,
) -> Result<Vec<LoadedPoint>, MeasureError<P::Error>> {
    if pus.len() < 2 {
        return Err(MeasureError::TooFew(pus.len()));
    }
    refuse_too_few_lines(probe, lines_needed(pus.len()))?;
    curve_at(probe, pus, &points(pus.len() / 2), plan, observe)
}

/// The loaded curve at these numbers of pairs.
///
/// # Errors
/// [`MeasureError`].
pub fn curve_at<P: Probe>(
    probe: &mut P,
    pus: &[u32],
    points: &[usize],
    plan: &SurveyPlan,
    observe: &mut dyn FnMut(&LoadedPoint, usize) -> ControlFlow<()>,
) -> Result<Vec<LoadedPoint>, MeasureError<P::Error>> {
    let mut curve = Vec::new();
    for (at, pairs) in points.iter().enumerate() {
        let point = point(probe, pus, *pairs, plan)?;
        curve.push(point);
        if observe(&point, points.len() - at - 1).is_break() {
            break;
        }
    }
    Ok(curve)
}

/// Counts candidate lines for the curve of this many PUs.
pub fn lines_needed(pus: usize) -> u32 {
    LINE_SPACING * (pus / 2) as u32
}

/// Takes all if few, otherwise evenly spaced ones, including both ends.
fn points(most: usize) -> Vec<usize> {
    if most <= MOST_POINTS {
        return (1..=most).collect();
    }
    (0..MOST_POINTS).map(|at| 1 + at * (most - 1) / (MOST_POINTS - 1)).collect()
}

fn point<P: Probe>(
    probe: &mut P,
    pus: &[u32],
    pairs: usize,
    plan: &SurveyPlan,
) -> Result<LoadedPoint, MeasureError<P::Error>> {
    let mut seen = Vec::new();
    let mut rng = draws_of(plan.seed, pairs);
    let resolution_ns = plan.resolution_ns(probe.clock_step_ns());
    for _ in 0..DRAWS {
        let visit = draw(pus, pairs, plan, &mut rng);
        let brought = probe.visit(&visit).map_err(MeasureError::Machine)?;
        for (pair, batches) in visit.pairs.iter().zip(brought) {
            refuse_impossible([pair.a, pair.b], &batches, resolution_ns)?;
            seen.extend(batches.round_trip_ns);
        }
    }
    if seen.is_empty() {
        return Err(MeasureError::Disturbed { a: pus[0], b: pus[1], visits: DRAWS });
    }
    let [p10_ns, median_ns, p90_ns] = [0.1, 0.5, 0.9]
        .map(|share| rounded(quantile(&seen, share).unwrap_or(f64::NAN), resolution_ns));
    Ok(LoadedPoint {
        pairs: pairs as u32,
        median_ns,
        p10_ns,
        p90_ns,
        draws: DRAWS,
        samples: seen.len() as u64,
    })
}

/// Each point has its own seed, so it can be repeated alone.
fn draws_of(seed: u64, pairs: usize) -> fastrand::Rng {
    let mut of_curve = fastrand::Rng::with_seed(seed);
    fastrand::Rng::with_seed(of_curve.u64(..).wrapping_add(pairs as u64))
}

fn draw(pus: &[u32], pairs: usize, plan: &SurveyPlan, rng: &mut fastrand::Rng) -> Visit {
    let pairing = random_pairing(pus.len(), pairs, rng);
    Visit {
        pairs: pairing
            .into_iter()
            .enumerate()
            .map(|(rank, (i, j))| PairAt { a: pus[i], b: pus[j], line: LINE_SPACING * rank as u32 })
            .collect(),
        batches: plan.batches.max(LEAST_BATCHES) * LONGER,
        round_trips: plan.round_trips,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_curve_has_few_points_and_both_ends() {
        assert_eq!(points(3), [1, 2, 3]);
        let points = points(256);
        assert_eq!((points.len(), points[0], points[MOST_POINTS - 1]), (MOST_POINTS, 1, 256));
        assert!(points.windows(2).all(|two| two[0] < two[1]));
    }

    #[test]
    fn point_draws_depend_only_on_seed_and_pairs() {
        let pus: Vec<u32> = (0..40).collect();
        let plan = SurveyPlan::new(crate::plan::Effort::Quick, 1.0);
        let first = |seed, pairs| draw(&pus, pairs, &plan, &mut draws_of(seed, pairs)).pairs;
        assert_eq!(first(7, 9), first(7, 9));
        assert_ne!(first(7, 9), first(8, 9));
        assert_ne!(first(7, 9), first(7, 10)[..9]);
    }
}
