//! Turns batches into the matrices of a profile.

use crate::matrix::MatrixOutcome;
use crate::plan::SurveyPlan;
use crate::samples::Samples;
use crate::{regimes, schedule};
use seatmap_data::machine::{
    CoreDistance, Deciles, Matrix, PairRegimes, PairStatus, Protocol, Regime, Square,
};
use seatmap_data::statistics::{Summary, quantile_sorted, sorted, summarise};
use seatmap_os::pool;
use std::convert::Infallible;

/// 0.01 ns is below every clock's resolution.
const MOST_DECIMALS: i32 = 2;

struct PairResult {
    summary: Summary,
    status: PairStatus,
    regimes: Vec<Regime>,
    deciles: Deciles,
}

/// The core distances from a finished run, rounded to the resolution.
pub fn core_distance(
    outcome: &MatrixOutcome,
    plan: &SurveyPlan,
    clock_step_ns: f64,
    parallel: bool,
) -> CoreDistance {
    let samples = &outcome.samples;
    let resolution_ns = plan.resolution_ns(clock_step_ns);
    let pairs = schedule::all_pairs(samples.pus().len());
    let Ok(results) = pool::try_map::<_, _, _, Infallible>(
        &pairs,
        || (),
        |_, (i, j)| Ok(((*i, *j), pair_result(samples, *i, *j, plan.seed))),
    );
    let matrix = |value: fn(&Summary) -> f64| {
        let mut matrix = Matrix::filled(samples.pus().len(), 0.0);
        for ((i, j), result) in &results {
            let cell = result.as_ref().map_or(f64::NAN, |result| value(&result.summary));
            matrix.set_both(*i, *j, rounded(cell, resolution_ns));
        }
        matrix
    };
    let mut status = Square::filled(samples.pus().len(), None);
    for ((i, j), result) in &results {
        status.set_both(*i, *j, result.as_ref().map(|result| result.status));
    }
    CoreDistance {
        pus: samples.pus().to_vec(),
        median_ns: matrix(|summary| summary.median),
        p10_ns: Some(matrix(|summary| summary.p10)),
        mad_ns: Some(matrix(|summary| summary.mad)),
        ci95_low_ns: Some(matrix(|summary| summary.ci95_low)),
        ci95_high_ns: Some(matrix(|summary| summary.ci95_high)),
        deciles_ns: Some(
            results
                .iter()
                .map(|(_, result)| {
                    let deciles = result.as_ref()?.deciles;
                    Some(deciles.map(|decile| rounded(decile, resolution_ns)))
                })
                .collect(),
        ),
        status,
        regimes: results
            .iter()
            .filter_map(|(pair, result)| pair_regimes(samples, *pair, result.as_ref()?))
            .collect(),
        protocol: Some(protocol(outcome, plan, resolution_ns, parallel)),
    }
}

fn pair_result(samples: &Samples, i: usize, j: usize, seed: u64) -> Option<PairResult> {
    let passes = &samples.pair(i, j).passes;
    let summary = summarise(passes, seed)?;
    let verdict = regimes::judge_with_interval(passes, (summary.ci95_low, summary.ci95_high));
    Some(PairResult {
        summary,
        status: verdict.status,
        regimes: verdict.regimes,
        deciles: deciles(passes)?,
    })
}

fn pair_regimes(
    samples: &Samples,
    (i, j): (usize, usize),
    result: &PairResult,
) -> Option<PairRegimes> {
    let pus = [samples.pus()[i], samples.pus()[j]];
    (result.status == PairStatus::MultiRegime)
        .then(|| PairRegimes { pus, regimes: result.regimes.clone() })
}

fn deciles(passes: &[Vec<f64>]) -> Option<Deciles> {
    let ascending = sorted(passes.concat());
    let mut deciles = [0.0; 11];
    for (tenth, decile) in deciles.iter_mut().enumerate() {
        *decile = quantile_sorted(&ascending, tenth as f64 / 10.0)?;
    }
    Some(deciles)
}

fn protocol(
    outcome: &MatrixOutcome,
    plan: &SurveyPlan,
    resolution_ns: f64,
    parallel: bool,
) -> Protocol {
    let discards = outcome.samples.discards();
    Protocol {
        passes: outcome.passes,
        further_passes: outcome.further_passes,
        batches: plan.batches,
        round_trips: plan.round_trips,
        resolution_ns,
        discarded_gap: discards.gap,
        discarded_switched: discards.switched,
        discarded_moved: discards.moved,
        kept: outcome.samples.kept(),
        seconds: outcome.elapsed.as_secs_f64(),
        parallel,
    }
}

/// Rounds a value to the resolution.
pub fn rounded(value: f64, resolution_ns: f64) -> f64 {
    let decimals = (-resolution_ns.log10()).ceil().clamp(0.0, f64::from(MOST_DECIMALS)) as i32;
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Effort;
    use crate::probe::VisitBatches;
    use std::time::Duration;

    fn assembled(samples: Samples) -> CoreDistance {
        let outcome = MatrixOutcome {
            passes: samples.passes() as u32,
            samples,
            further_passes: 0,
            finished: true,
            elapsed: Duration::from_secs(1),
        };
        core_distance(&outcome, &SurveyPlan::new(Effort::Usual, 1.0), 1.0, false)
    }

    #[test]
    fn rounding_keeps_no_digits_below_the_resolution() {
        assert_eq!(rounded(63.4567, 0.2), 63.5);
        assert_eq!(rounded(63.4567, 0.02), 63.46);
        assert_eq!(rounded(63.4567, 0.0001), 63.46);
        assert_eq!(rounded(63.4567, 5.0), 63.0);
        assert!(rounded(f64::NAN, 0.2).is_nan());
    }

    #[test]
    fn widely_uncertain_median_is_never_stable() {
        // Nine passes around 400 ns and eight around 70, too scattered for a mixture to separate.
        let mut samples = Samples::new(vec![0, 1]);
        let mut rng = fastrand::Rng::with_seed(9);
        for pass in 0..17 {
            let centre = if pass % 2 == 0 { 400.0 } else { 70.0 };
            let round_trip_ns =
                (0..16).map(|_| centre * (0.9 * (rng.f64() + rng.f64() - 1.0)).exp()).collect();
            samples.add(0, 1, pass, VisitBatches { round_trip_ns, ..VisitBatches::default() });
        }
        let distance = assembled(samples);
        let [low, high] =
            [distance.ci95_low_ns, distance.ci95_high_ns].map(|matrix| matrix.unwrap()[(0, 1)]);
        assert!(high > 2.0 * low, "{low} {high}");
        assert_eq!(distance.status[(0, 1)], Some(PairStatus::MultiRegime));
    }

    #[test]
    fn unvisited_pair_is_unknown_and_others_are_not() {
        let mut samples = Samples::new(vec![0, 1, 2]);
        for pass in 0..3 {
            let round_trip_ns = (0..16).map(|at| 80.0 + f64::from(at % 3)).collect();
            samples.add(0, 2, pass, VisitBatches { round_trip_ns, ..VisitBatches::default() });
        }
        let distance = assembled(samples);
        assert_eq!(distance.median_ns[(2, 0)], 81.0);
        assert_eq!(distance.status[(0, 2)], Some(PairStatus::Stable));
        assert!(distance.median_ns[(0, 1)].is_nan());
        assert_eq!(distance.status[(0, 1)], None);
        let deciles = distance.deciles_ns.unwrap();
        assert_eq!(
            (deciles[0], deciles[1].map(|row| [row[0], row[5], row[10]])),
            (None, Some([80.0, 81.0, 82.0]))
        );
        assert_eq!(distance.protocol.unwrap().kept, 48);
    }
}
