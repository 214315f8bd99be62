//! Judges candidates with equal numbers of runs under the same conditions.
//!
//! The first part of the runs chooses the winner, partly by luck; only the others show by how much
//! it is better, as in a [`race`](crate::tune::race).

use crate::tune::race::{RaceOutcome, compared_with};
use seatmap_data::statistics::friedman::worse_than_best;
use seatmap_data::statistics::signed_rank::{self, shift};

/// The fewest runs for the choice, and for the confirmation.
const FEWEST_OF_HALF: usize = 6;

/// The fewest runs of each candidate, half to choose and half to confirm, that have an interval of
/// this confidence.
pub fn fewest_runs(confidence: f64) -> usize {
    2 * FEWEST_OF_HALF.max(signed_rank::fewest(confidence))
}

/// Judges candidates by the log costs of their runs, one row each and one block for each index. The
/// first `choosing` blocks choose the winner: the least mean among those that Friedman's test does
/// not find worse.
///
/// # Panics
/// There are fewer than two candidates, rows of different lengths, or no blocks for the
/// confirmation.
pub fn judge(costs: &[Vec<f64>], choosing: usize, confidence: f64) -> RaceOutcome {
    let runs = costs.first().map_or(0, Vec::len);
    assert!(
        costs.len() > 1 && choosing > 0 && choosing < runs,
        "two candidates, and runs of both parts"
    );
    assert!(costs.iter().all(|own| own.len() == runs), "each candidate runs equally often");
    let blocks: Vec<Vec<f64>> =
        (0..choosing).map(|run| costs.iter().map(|own| own[run]).collect()).collect();
    let rejected = worse_than_best(&blocks, confidence);
    let mean =
        |candidate: &usize| costs[*candidate][..choosing].iter().sum::<f64>() / choosing as f64;
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|a, b| {
        let means = mean(a).partial_cmp(&mean(b)).unwrap_or(std::cmp::Ordering::Equal);
        // A rejected candidate may still have a smaller mean, by one lucky run.
        rejected.contains(a).cmp(&rejected.contains(b)).then(means)
    });
    let winner = order[0];
    let mut confirmed = compared_with(winner, order[1]);
    for one in &mut confirmed {
        let fresh = costs[winner].iter().zip(&costs[one.with]).skip(choosing);
        one.differences = fresh.map(|(own, other)| own - other).collect();
        one.shift = shift(&one.differences, confidence);
    }
    RaceOutcome {
        winner,
        above_winner: (0..costs.len()).map(|candidate| mean(&candidate) - mean(&winner)).collect(),
        rejected,
        blocks: choosing,
        confirmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::race::DEFAULT;

    fn costs(truths: &[f64], runs: usize) -> Vec<Vec<f64>> {
        let mut rng = fastrand::Rng::with_seed(3);
        truths.iter().map(|truth| (0..runs).map(|_| truth + 0.01 * rng.f64()).collect()).collect()
    }

    #[test]
    fn lowest_cost_wins_and_fresh_runs_confirm_gain() {
        let outcome = judge(&costs(&[0.5, 0.1, 0.3, 0.9], 20), 10, 0.95);
        assert_eq!((outcome.winner, outcome.blocks), (1, 10));
        assert_eq!(
            outcome.confirmed.iter().map(|found| found.with).collect::<Vec<_>>(),
            [DEFAULT, 2]
        );
        let against = outcome.against_default().unwrap().shift.unwrap();
        assert!(against.low > -0.42 && against.high < -0.38, "{against:?}");
        assert!(outcome.is_safe(0.02) && outcome.rejected.contains(&3), "{outcome:?}");
        assert!((outcome.above_winner[3] - 0.8).abs() < 0.02);
    }

    #[test]
    fn lucky_selection_runs_do_not_confirm() {
        let mut costs = costs(&[0.0, 0.0], 20);
        costs[1][..10].fill(-1.0);
        let outcome = judge(&costs, 10, 0.95);
        let against = outcome.against_default().unwrap().shift.unwrap();
        assert!(outcome.winner == 1 && against.low <= 0.0 && against.high >= 0.0, "{against:?}");
    }

    #[test]
    fn fewest_runs_suffice_for_interval() {
        for confidence in [0.5, 0.95, 0.99, 0.999] {
            let runs = fewest_runs(confidence);
            let outcome = judge(&costs(&[0.5, 0.1], runs), runs / 2, confidence);
            assert!(outcome.against_default().unwrap().shift.is_some(), "{confidence}");
        }
        assert!(fewest_runs(0.95) == 12 && fewest_runs(0.999) > 20);
    }

    #[test]
    fn default_wins_ties() {
        let outcome = judge(&vec![vec![1.0; 12]; 3], 6, 0.95);
        assert_eq!((outcome.winner, outcome.rejected.len()), (DEFAULT, 0));
        assert!(outcome.against_default().is_none());
    }
}
