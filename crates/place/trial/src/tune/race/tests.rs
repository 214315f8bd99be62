//! Simulated races on a drifting computer.

use super::*;
use seatmap_data::statistics::normal;
use std::convert::Infallible;

/// As on shared virtual machines: slow waves and a random walk, 1/20 of all runs disturbed by 10 %
/// or more, the rest scattered by 2 %.
struct Computer {
    random: fastrand::Rng,
    runs: f64,
    walk: f64,
    noise: f64,
}

impl Computer {
    fn new(seed: u64, noise: f64) -> Self {
        Computer { random: fastrand::Rng::with_seed(seed), runs: 0.0, walk: 0.0, noise }
    }

    fn cost(&mut self, log: f64) -> RunCost {
        self.runs += 1.0;
        self.walk += 0.002 * normal(&mut self.random);
        let wave = 0.03 * (self.runs / 40.0).sin();
        let disturbed = if self.random.f64() < 0.05 { 0.1 + 0.2 * self.random.f64() } else { 0.0 };
        RunCost {
            log: log + self.walk + wave + disturbed + self.noise * normal(&mut self.random),
            seconds: 1.0,
        }
    }
}

fn rules(candidates: usize, budget: Budget, seed: u64) -> RaceRules {
    RaceRules { candidates, budget, confidence: 0.95, seed }
}

fn run(costs: &[f64], runs: usize, seed: u64, noise: f64) -> RaceOutcome {
    let mut computer = Computer::new(seed, noise);
    let rules = rules(costs.len(), Budget::Runs(runs), seed);
    let mut made = 0;
    let outcome = race(&rules, &mut |turn| {
        made += 1;
        Ok::<_, Infallible>(computer.cost(costs[turn.candidate]))
    });
    assert!(made <= runs.max(fewest_runs(costs.len(), 0.95)), "{made} runs of {runs}");
    outcome.unwrap_or_else(|never| match never {})
}

fn spread(candidates: usize, random: &mut fastrand::Rng) -> Vec<f64> {
    (0..candidates).map(|_| 0.3 * random.f64()).collect()
}

#[test]
fn winner_is_within_one_percent_of_best() {
    for candidates in [16, 32, 64, 120] {
        let near = |seed: u64| {
            let costs = spread(candidates, &mut fastrand::Rng::with_seed(1000 + seed));
            let best = costs.iter().copied().fold(f64::INFINITY, f64::min);
            // Ten runs each, besides the warm-up and the confirmation.
            let fours = 8
                * ((CONFIRMED_SHARE * 16.0 * candidates as f64 / 8.0) as usize)
                    .clamp(FEWEST_FOURS, MOST_FOURS);
            costs[run(&costs, 11 * candidates + fours, seed, 0.02).winner] - best < 0.01
        };
        let found = (0..200).filter(|seed| near(*seed)).count();
        assert!(found >= 194, "{candidates} candidates: {found} of 200");
    }
}

#[test]
fn identical_placements_rarely_show_gain() {
    let is_faster = |seed: &u64| {
        let outcome = run(&[0.0; 8], 120, *seed, 0.02);
        outcome
            .against_default()
            .and_then(|found| found.shift)
            .is_some_and(|shift| shift.high < 0.0)
    };
    let wrong = (0..1000).filter(is_faster).count();
    assert!(wrong <= 50, "{wrong} of 1000");
}

#[test]
fn worse_placement_is_rarely_written() {
    // All others are 2 % worse.
    let is_written = |seed: &u64| {
        let outcome = run(&[0.0, 0.02, 0.02, 0.02, 0.02, 0.02], 100, *seed, 0.02);
        outcome.winner != DEFAULT && outcome.is_safe(0.02)
    };
    let written = (0..1000).filter(is_written).count();
    assert!(written <= 10, "{written} of 1000");
}

#[test]
fn a_clear_gain_is_shown_and_written() {
    let shown = |seed: &u64| {
        let outcome = run(&[0.1, 0.0, 0.12, 0.3], 240, *seed, 0.02);
        let shift = outcome.against_default().and_then(|found| found.shift);
        outcome.winner == 1 && shift.is_some_and(|shift| shift.high < 0.0) && outcome.is_safe(0.02)
    };
    assert!((0..200).filter(shown).count() > 190);
}

#[test]
fn race_rejects_worse_and_estimates_costs() {
    let costs = [0.1, 0.0, 0.2, 0.3, 0.05];
    let outcome = run(&costs, 400, 3, 0.005);
    assert_eq!(outcome.winner, 1);
    assert!(outcome.rejected.contains(&3) && !outcome.rejected.contains(&1), "{outcome:?}");
    for (above, cost) in outcome.above_winner.iter().zip(costs) {
        assert!((above - cost).abs() < 0.02, "{outcome:?}");
    }
}

#[test]
fn replayed_readings_repeat_race() {
    let rules = rules(6, Budget::Seconds(90.0), 9);
    let mut recorded: Vec<(RaceTurn, RunCost)> = Vec::new();
    let mut computer = Computer::new(4, 0.02);
    let first = race(&rules, &mut |turn| {
        let cost = computer.cost(0.05 * turn.candidate as f64);
        recorded.push((turn, cost));
        Ok::<_, Infallible>(cost)
    });
    let mut replayed = recorded.iter();
    let second = race(&rules, &mut |turn| {
        let (then, cost) = replayed.next().unwrap();
        assert_eq!(*then, turn);
        Ok::<_, Infallible>(*cost)
    });
    assert_eq!(first, second);
    assert!(replayed.next().is_none() && recorded.len() <= 90, "{} runs", recorded.len());
}

#[test]
fn race_stays_within_run_budget() {
    for candidates in 2..=9 {
        let fewest = fewest_runs(candidates, 0.95);
        for more in [0, 1, 7, 40] {
            let costs: Vec<f64> = (0..candidates).map(|at| 0.01 * at as f64).collect();
            let outcome = run(&costs, fewest + more, more as u64, 0.02);
            assert!(
                outcome.confirmed.iter().all(|found| found.differences.len() >= FEWEST_FOURS),
                "{outcome:?}"
            );
        }
    }
    assert_eq!(fewest_runs(2, 0.95), 30, "two warm-ups, two blocks, and six groups of four");
}

#[test]
fn a_failed_run_ends_the_race() {
    let rules = rules(2, Budget::Runs(100), 1);
    let mut left = 30;
    let outcome = race(&rules, &mut |_| {
        left -= 1;
        if left > 0 { Ok(RunCost { log: 0.0, seconds: 1.0 }) } else { Err("cut off") }
    });
    assert_eq!(outcome, Err("cut off"));
}
