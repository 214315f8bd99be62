//! Decides between one level and two.
//!
//! Expectation-maximisation (Dempster, Laird and Rubin 1977) fits two normal levels of equal width,
//! over a thin uniform background for outliers, to the samples' logarithms. The levels must be
//! clearly apart (Ashman, Bird and Zepf 1994) and beat every single level of `single` by a
//! likelihood ratio. If flips come in runs, like those of a moved vCPU but unlike independent noise
//! (Wald and Wolfowitz 1940), they need not beat the skewed single levels, because the tail of one
//! distribution has no memory.

use super::single;
use seatmap_data::statistics::{Ordered, median, sorted};

/// Nearer levels are one level with noise.
pub const SMALLEST_RATIO: f64 = 1.2;
/// In standard deviations; a normal split in half has 2.7.
const SEPARATION_SIGMAS: f64 = 3.5;
/// Fewer samples are outliers, not a level.
const FEWEST: usize = 4;
const SMALLEST_SHARE: f64 = 0.05;
/// The log-likelihood by which two levels must beat the best single one. By simulation: with 48
/// samples, one level is taken for two in fewer than 1 % of cases.
const EVIDENCE: f64 = 6.0;
/// See [`EVIDENCE`].
const EVIDENCE_IN_RUNS: f64 = 5.0;
/// In standard deviations, relative to independent samples.
const RUNS_SIGMAS: f64 = 3.0;
/// In steps of a quantised clock.
const CLOCK_STEPS: f64 = 3.0;
const REACH_SIGMAS: f64 = 3.0;
const ITERATIONS: usize = 30;

#[derive(Clone, Copy)]
struct Levels {
    centre: [f64; 2],
    weight: [f64; 2],
    sigma: f64,
    log_likelihood: f64,
}

/// The value between two levels; `None` if one level explains the samples (positive, in order of
/// time).
pub fn bound(samples: &[f64]) -> Option<f64> {
    let ascending = sorted(samples);
    let n = ascending.len();
    let fewest = FEWEST.max((SMALLEST_SHARE * n as f64).ceil() as usize);
    // Most pairs end here: with tails within the smallest ratio, no fit separates them.
    if n < 3 * FEWEST || ascending[n - fewest] < SMALLEST_RATIO * ascending[fewest - 1] {
        return None;
    }
    let logs: Vec<f64> = ascending.iter().map(|value| value.ln()).collect();
    let step = clock_step(&ascending);
    // Samples on clock steps scatter by about half a step.
    let floor = single::SIGMA_FLOOR.max(0.5 * step / ascending[n / 2]);
    // The likelihood has several peaks. The widest gap finds a rare level.
    let starts = [two_means(&logs, fewest), widest_gap(&logs, fewest)];
    let fits = starts.map(|at| fit(&logs, at, floor));
    let levels = fits.into_iter().max_by_key(|it| Ordered(it.log_likelihood))?;
    let bound = levels.boundary().exp();
    (levels.hold(&logs, fewest)
        && levels.are_apart(step)
        && is_evident(&levels, samples, &logs, bound, floor))
    .then_some(bound)
}

impl Levels {
    fn are_apart(&self, step: f64) -> bool {
        let [fast, slow] = self.centre;
        let far = slow - fast;
        far >= SMALLEST_RATIO.ln()
            && far >= SEPARATION_SIGMAS * self.sigma
            && slow.exp() - fast.exp() >= CLOCK_STEPS * step
    }

    fn hold(&self, logs: &[f64], fewest: usize) -> bool {
        let members = self.centre.map(|centre| {
            logs.iter().filter(|log| (*log - centre).abs() < REACH_SIGMAS * self.sigma).count()
        });
        let smaller = members[0].min(members[1]);
        smaller >= fewest && smaller > 2 * logs.len().saturating_sub(members[0] + members[1])
    }

    fn boundary(&self) -> f64 {
        let [fast, slow] = self.centre;
        let towards_slow =
            self.sigma.powi(2) * (self.weight[0] / self.weight[1]).ln() / (slow - fast);
        // Very unequal weights would move it beyond a centre.
        let margin = 0.1 * (slow - fast);
        (0.5 * (fast + slow) + towards_slow).clamp((fast + margin).min(slow), slow)
    }
}

fn is_evident(levels: &Levels, samples: &[f64], logs: &[f64], bound: f64, floor: f64) -> bool {
    let plain = single::with_background(logs, floor);
    let by = levels.log_likelihood - plain;
    (by > EVIDENCE && levels.log_likelihood - single::best(logs, floor) > EVIDENCE)
        || (by > EVIDENCE_IN_RUNS && come_in_runs(samples, bound))
}

/// Whether flips are significantly rare (Wald and Wolfowitz 1940).
fn come_in_runs(samples: &[f64], bound: f64) -> bool {
    let slow: Vec<bool> = samples.iter().map(|value| *value >= bound).collect();
    let runs = 1.0 + slow.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
    let n = slow.len() as f64;
    let mixed = 2.0
        * slow.iter().filter(|slow| **slow).count() as f64
        * slow.iter().filter(|slow| !**slow).count() as f64;
    let expected = mixed / n + 1.0;
    let variance = mixed * (mixed - n) / (n * n * (n - 1.0));
    expected - runs > RUNS_SIGMAS * variance.max(0.0).sqrt()
}

/// The split with the least squares inside its parts (Otsu 1979, Jenks 1967).
fn two_means(logs: &[f64], fewest: usize) -> usize {
    let total: f64 = logs.iter().sum();
    let n = logs.len();
    let mut below: f64 = logs[..fewest - 1].iter().sum();
    let mut best = (f64::NEG_INFINITY, fewest);
    for at in fewest..=n - fewest {
        below += logs[at - 1];
        let between = below.powi(2) / at as f64 + (total - below).powi(2) / (n - at) as f64;
        if between > best.0 {
            best = (between, at);
        }
    }
    best.1
}

fn widest_gap(logs: &[f64], fewest: usize) -> usize {
    (fewest..=logs.len() - fewest)
        .max_by_key(|at| Ordered(logs[*at] - logs[at - 1]))
        .unwrap_or(fewest)
}

fn fit(logs: &[f64], at: usize, floor: f64) -> Levels {
    let n = logs.len() as f64;
    let background = single::background(logs);
    let (low, high) = logs.split_at(at);
    let centre = [low, high].map(|part| median(part).unwrap_or_default());
    let sigma = ((squares(low, centre[0]) + squares(high, centre[1])) / n).sqrt().max(floor);
    let share = at as f64 / n;
    let weight = [share, 1.0 - share].map(|share| share * (1.0 - single::OUTLIERS));
    let mut levels = Levels { centre, weight, sigma, log_likelihood: 0.0 };
    for _ in 0..ITERATIONS {
        let before = levels.log_likelihood;
        levels = improved(levels, logs, background, floor);
        if (levels.log_likelihood - before).abs() < 1e-3 {
            break;
        }
    }
    levels
}

fn squares(part: &[f64], centre: f64) -> f64 {
    part.iter().map(|log| (log - centre).powi(2)).sum::<f64>()
}

fn improved(levels: Levels, logs: &[f64], background: f64, floor: f64) -> Levels {
    let n = logs.len() as f64;
    let outliers =
        (1.0 - levels.weight[0] - levels.weight[1]).max(single::FEWEST_OUTLIERS) * background;
    let mut weight = [0.0; 2];
    let mut sum = [0.0; 2];
    let mut squares = 0.0;
    let mut log_likelihood = 0.0;
    for log in logs {
        let density = [0, 1]
            .map(|at| levels.weight[at] * single::normal(log - levels.centre[at], levels.sigma));
        let all = density[0] + density[1] + outliers;
        log_likelihood += all.ln();
        for at in 0..2 {
            let share = density[at] / all;
            weight[at] += share;
            sum[at] += share * log;
            squares += share * (log - levels.centre[at]).powi(2);
        }
    }
    let centre =
        [0, 1].map(|at| if weight[at] > 0.0 { sum[at] / weight[at] } else { levels.centre[at] });
    let sigma = (squares / (weight[0] + weight[1])).sqrt().max(floor);
    // A weight of zero would have no logarithm in the boundary.
    Levels { centre, weight: weight.map(|weight| (weight / n).max(1e-9)), sigma, log_likelihood }
}

/// The median distance between different values; zero unless most coincide.
fn clock_step(ascending: &[f64]) -> f64 {
    let mut distinct = ascending.to_vec();
    distinct.dedup_by(|a, b| (*a - *b).abs() < 1e-6 * *b);
    if 2 * distinct.len() > ascending.len() {
        return 0.0;
    }
    median(distinct.windows(2).map(|pair| pair[1] - pair[0])).unwrap_or_default()
}
