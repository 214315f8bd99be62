//! A race of candidates under noise and drift: blocks, elimination, and confirmation by fresh runs.
//!
//! 1. In each block, each remaining candidate runs once, in random order, so that drift affects all
//!    alike.
//! 2. From the fifth block on, the race rejects each candidate that Friedman's test finds worse
//!    than the best: F-race (Birattari et al. 2002). At fixed shares of the budget it also drops
//!    the worst third, as sequential halving drops half (Karnin, Koren and Somekh 2013). Dropping
//!    half would lose the best too often to disturbed runs.
//! 3. The winner is chosen partly by luck. So it runs again, against the default and the runner-up,
//!    in fresh groups A B B A, which cancel a linear drift.
//!
//! The readings alone decide the next run, so an interrupted race continues from its recorded runs.

use seatmap_data::statistics::friedman::worse_than_best;
use seatmap_data::statistics::median;
use seatmap_data::statistics::signed_rank::{self, Shift};
use seatmap_data::statistics::trial::Schedule;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

const BLOCKS_BEFORE_TEST: usize = 5;

/// The share of the candidates that a cut keeps.
const KEPT: f64 = 2.0 / 3.0;

const CONFIRMED_SHARE: f64 = 0.3;

/// The fewest groups of four per comparison, unless the confidence needs more, and the most:
/// beyond, intervals shrink slowly.
const FEWEST_FOURS: usize = 6;
const MOST_FOURS: usize = 24;

const RUNS_OF_FOUR: usize = 4;

/// The candidate to beat: the kernel's own placement.
pub const DEFAULT: usize = 0;

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RacePhase {
    /// A first run, which does not count.
    WarmUp,
    /// A block of the race.
    Race,
    /// A group of four of the confirmation.
    Confirm,
}

/// A run that the race asks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RaceTurn {
    /// The phase.
    pub phase: RacePhase,
    /// The block or group of four, from 0.
    pub block: usize,
    /// The candidate.
    pub candidate: usize,
}

/// The cost of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunCost {
    /// The logarithm of the reading, or of its inverse if higher readings are better.
    pub log: f64,
    /// How long the run took, in seconds.
    pub seconds: f64,
}

/// The limit on the runs of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// A number of runs, warm-ups included.
    Runs(usize),
    /// A time for all runs, in seconds.
    Seconds(f64),
}

/// The rules of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceRules {
    /// The number of candidates; the first is [`DEFAULT`].
    pub candidates: usize,
    /// The budget.
    pub budget: Budget,
    /// The confidence of each test and interval, 0 to 1.
    pub confidence: f64,
    /// The seed of the random orders.
    pub seed: u64,
}

/// A warm-up and two blocks of all candidates, and the confirmation.
pub fn fewest_runs(candidates: usize, confidence: f64) -> usize {
    3 * candidates + RUNS_OF_FOUR * comparisons(candidates) * fewest_fours(confidence)
}

/// With the default and the runner-up; of two candidates these are one.
fn comparisons(candidates: usize) -> usize {
    if candidates == 2 { 1 } else { 2 }
}

fn fewest_fours(confidence: f64) -> usize {
    FEWEST_FOURS.max(signed_rank::fewest(confidence))
}

/// A comparison by fresh runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmed {
    /// The other candidate.
    pub with: usize,
    /// The winner's log cost minus the other's, by group of four.
    pub differences: Vec<f64>,
    /// Their shift; `None` if there are too few groups.
    pub shift: Option<Shift>,
}

/// The result of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceOutcome {
    /// The candidate with the least cost in the race.
    pub winner: usize,
    /// Each candidate's log cost above the winner's, over the blocks of both.
    pub above_winner: Vec<f64>,
    /// The candidates found worse than the best, in order of rejection.
    pub rejected: Vec<usize>,
    /// Complete blocks.
    pub blocks: usize,
    /// The winner compared with the default (unless that won) and with the runner-up.
    pub confirmed: Vec<Confirmed>,
}

impl RaceOutcome {
    /// The comparison with the default; `None` if the default won.
    pub fn against_default(&self) -> Option<&Confirmed> {
        self.confirmed.iter().find(|found| found.with == DEFAULT)
    }

    /// Whether the winner is worth saving: not the default, no costlier in fresh runs, and with an
    /// interval that excludes a cost higher by this share.
    pub fn is_safe(&self, share: f64) -> bool {
        let shift = self.against_default().and_then(|found| found.shift.as_ref());
        // In logarithms, a share of 2 % is ln 1.02.
        shift.is_some_and(|shift| shift.centre <= 0.0 && shift.high < share.ln_1p())
    }
}

/// Runs a race: `run` makes each run and returns its cost.
///
/// # Errors
/// Those of `run`.
///
/// # Panics
/// There are fewer than two candidates.
pub fn race<E>(
    rules: &RaceRules,
    run: &mut dyn FnMut(RaceTurn) -> Result<RunCost, E>,
) -> Result<RaceOutcome, E> {
    assert!(rules.candidates > 1, "a race needs two candidates");
    let mut race = Race {
        rules,
        run,
        schedule: Schedule::new(rules.seed),
        alive: (0..rules.candidates).collect(),
        costs: vec![Vec::new(); rules.candidates],
        rejected: Vec::new(),
        blocks: 0,
        next_test: BLOCKS_BEFORE_TEST,
        runs: 0,
        seconds: 0.0,
    };
    race.warm_up()?;
    race.eliminate()?;
    race.confirm()
}

struct Race<'a, E> {
    rules: &'a RaceRules,
    run: &'a mut dyn FnMut(RaceTurn) -> Result<RunCost, E>,
    schedule: Schedule,
    alive: Vec<usize>,
    costs: Vec<Vec<f64>>,
    rejected: Vec<usize>,
    blocks: usize,
    next_test: usize,
    runs: usize,
    seconds: f64,
}

impl<E> Race<'_, E> {
    fn once(&mut self, phase: RacePhase, block: usize, candidate: usize) -> Result<f64, E> {
        let cost = (self.run)(RaceTurn { phase, block, candidate })?;
        self.runs += 1;
        self.seconds += cost.seconds;
        Ok(cost.log)
    }

    fn warm_up(&mut self) -> Result<(), E> {
        (0..self.rules.candidates)
            .try_for_each(|candidate| self.once(RacePhase::WarmUp, 0, candidate).map(drop))
    }

    /// The budget in runs, from their mean length so far.
    fn whole_budget(&self) -> f64 {
        match self.rules.budget {
            Budget::Runs(runs) => runs as f64,
            Budget::Seconds(seconds) => {
                seconds * self.runs as f64 / self.seconds.max(f64::MIN_POSITIVE)
            }
        }
    }

    fn confirmation(&self) -> f64 {
        let of_all = (RUNS_OF_FOUR * comparisons(self.rules.candidates)) as f64;
        of_all * self.fours(CONFIRMED_SHARE * self.whole_budget() / of_all) as f64
    }

    fn fours_left(&self, comparisons: usize) -> usize {
        let left = (self.whole_budget() - self.runs as f64).max(0.0);
        self.fours(left / (RUNS_OF_FOUR * comparisons) as f64)
    }

    fn fours(&self, paid: f64) -> usize {
        let fewest = fewest_fours(self.rules.confidence);
        (paid as usize).clamp(fewest, MOST_FOURS.max(fewest))
    }

    fn eliminate(&mut self) -> Result<(), E> {
        // Cuts until one is left, spread evenly over the race's budget, without warm-ups.
        let rounds = (self.rules.candidates as f64).log(KEPT.recip()).ceil().max(1.0);
        let begun = self.runs as f64;
        let mut round = 1.0;
        loop {
            let race = self.whole_budget() - begun - self.confirmation();
            let spent = self.runs as f64 - begun;
            // Two blocks always run, because fewer say nothing.
            let has_room = self.blocks < 2 || spent + self.alive.len() as f64 <= race;
            if self.alive.len() < 2 || !has_room {
                return Ok(());
            }
            self.block()?;
            self.reject();
            let spent = self.runs as f64 - begun;
            // A block of many candidates may pass several cuts at once.
            while self.alive.len() > 2 && spent >= race * round / rounds {
                self.cut();
                round += 1.0;
            }
        }
    }

    fn block(&mut self) -> Result<(), E> {
        for at in self.schedule.order(self.alive.len()) {
            let candidate = self.alive[at];
            let log = self.once(RacePhase::Race, self.blocks, candidate)?;
            self.costs[candidate].push(log);
        }
        self.blocks += 1;
        assert!(
            self.alive.iter().all(|candidate| self.costs[*candidate].len() == self.blocks),
            "a candidate in the race has not one cost for each of {} blocks",
            self.blocks
        );
        Ok(())
    }

    fn reject(&mut self) {
        if self.blocks < self.next_test {
            return;
        }
        // Frequent tests would take long, and each may err.
        self.next_test = self.blocks + 1 + self.blocks / 8;
        let blocks: Vec<Vec<f64>> = (0..self.blocks).map(|block| self.of_block(block)).collect();
        let worse = worse_than_best(&blocks, self.rules.confidence);
        self.rejected.extend(worse.iter().map(|at| self.alive[*at]));
        let mut at = 0;
        self.alive.retain(|_| {
            // `worse` holds indices into `alive`.
            at += 1;
            !worse.contains(&(at - 1))
        });
        assert!(!self.alive.is_empty(), "the best candidate is rejected by itself");
    }

    fn cut(&mut self) {
        let order = self.in_order();
        let kept = (KEPT * order.len() as f64).ceil() as usize;
        self.alive = order[..kept.clamp(2, order.len() - 1)].to_vec();
        self.alive.sort_unstable();
    }

    fn of_block(&self, block: usize) -> Vec<f64> {
        self.alive.iter().map(|candidate| self.costs[*candidate][block]).collect()
    }

    /// The candidates by the centre of their log costs, each minus its block's median.
    fn in_order(&self) -> Vec<usize> {
        let middles: Vec<f64> =
            (0..self.blocks).map(|block| median(self.of_block(block)).unwrap_or(0.0)).collect();
        let mut scored: Vec<(f64, usize)> = self
            .alive
            .iter()
            .map(|candidate| {
                let costs = self.costs[*candidate].iter().zip(&middles);
                let above = signed_rank::centre(costs.map(|(cost, middle)| cost - middle));
                (above.unwrap_or(f64::INFINITY), *candidate)
            })
            .collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        scored.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// The centre of a candidate's log costs minus another's, which raced at least as long.
    fn above(&self, candidate: usize, other: usize) -> f64 {
        let pairs = self.costs[candidate].iter().zip(&self.costs[other]);
        signed_rank::centre(pairs.map(|(own, other)| own - other)).unwrap_or(0.0)
    }

    fn confirm(mut self) -> Result<RaceOutcome, E> {
        let winner = self.in_order()[0];
        let above_winner: Vec<f64> =
            (0..self.rules.candidates).map(|candidate| self.above(candidate, winner)).collect();
        let others = (0..self.rules.candidates).filter(|candidate| *candidate != winner);
        let runner_up = others.min_by(|a, b| {
            let costs = above_winner[*a].partial_cmp(&above_winner[*b]);
            let longest = self.costs[*b].len().cmp(&self.costs[*a].len());
            longest.then(costs.unwrap_or(Ordering::Equal))
        });
        let mut confirmed = compared_with(winner, runner_up.unwrap_or(DEFAULT));
        for four in 0..self.fours_left(confirmed.len()) {
            for one in &mut confirmed {
                one.differences.push(self.four(four, winner, one.with)?);
            }
        }
        for one in &mut confirmed {
            // A neighbour may affect several groups in a row.
            one.shift = signed_rank::shift_in_order(&one.differences, self.rules.confidence);
        }
        Ok(RaceOutcome {
            winner,
            above_winner,
            rejected: self.rejected,
            blocks: self.blocks,
            confirmed,
        })
    }

    /// Runs A B B A or B A A B. Returns the difference of the means.
    fn four(&mut self, block: usize, winner: usize, other: usize) -> Result<f64, E> {
        let arms = [other, winner];
        let order = self.schedule.order(arms.len());
        let mut sums = [0.0; 2];
        for arm in [order[0], order[1], order[1], order[0]] {
            sums[arm] += self.once(RacePhase::Confirm, block, arms[arm])?;
        }
        Ok(0.5 * (sums[1] - sums[0]))
    }
}

/// The default, unless it won, and the runner-up, for the comparison by fresh runs.
pub(crate) fn compared_with(winner: usize, runner_up: usize) -> Vec<Confirmed> {
    let mut with = vec![DEFAULT, runner_up];
    with.dedup();
    with.retain(|candidate| *candidate != winner);
    with.into_iter().map(|with| Confirmed { with, differences: Vec::new(), shift: None }).collect()
}

#[cfg(test)]
mod tests;
