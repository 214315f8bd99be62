//! Searches for the best number of threads in few runs.
//!
//! The time by number of threads usually falls, and rises again beyond the best number. So the
//! first level of the search has numbers that double; each further one has the best so far and the
//! middles of the gaps beside it. The search ends when the best number's neighbours have run, or
//! those on both sides are equally good, because then nothing between is much better.
//!
//! A level runs in blocks, each number once in random order, so that drift affects all alike.
//! Numbers near the best run again; one run of a much slower one is enough. The search claims
//! nothing: the best number races against the default.

use crate::tune::race::Budget;
use seatmap_data::statistics::signed_rank;
use seatmap_data::statistics::trial::Schedule;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Numbers within this of the best, in logarithms, may still be the best: runs on a busy computer
/// differ by as much.
const CLOSE: f64 = 0.15;

/// Numbers of a level within this of the best, in logarithms, run again, twice: one run may be
/// twice as slow by chance.
const REPEATED: [f64; 2] = [std::f64::consts::LN_2, CLOSE];

/// Numbers within this of the best are equally good: below the 3 % that a user would notice.
const EQUAL: f64 = 0.02;

/// A run that the search asks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountTurn {
    /// The block, from 0.
    pub block: usize,
    /// The number of threads.
    pub count: u32,
}

/// A search for the best of some numbers.
#[derive(Debug)]
pub struct CountSearch {
    /// Ascending.
    counts: Vec<u32>,
    /// The limit on runs, if any.
    budget: Option<Budget>,
    schedule: Schedule,
    /// By metric, by the place of the number, and by block.
    costs: BTreeMap<usize, BTreeMap<usize, Vec<f64>>>,
    level: Vec<usize>,
    /// How often numbers of the level were chosen to run again.
    repetitions: usize,
    turns: VecDeque<CountTurn>,
    blocks: usize,
    runs: usize,
    seconds: f64,
}

/// Places of numbers that double, and both ends.
fn doubling(counts: &[u32]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    for (at, count) in counts.iter().enumerate() {
        let is_next = places.last().is_none_or(|last| *count >= 2 * counts[*last]);
        if is_next || at + 1 == counts.len() {
            places.push(at);
        }
    }
    places
}

/// The runs of the first level if none of its numbers is much better.
pub fn first_runs(counts: &[u32]) -> usize {
    2 * doubling(counts).len()
}

impl CountSearch {
    /// A search among numbers, ascending.
    ///
    /// # Panics
    /// There are no numbers.
    pub fn new(counts: &[u32], budget: Option<Budget>, seed: u64) -> Self {
        assert!(!counts.is_empty(), "a search needs numbers");
        CountSearch {
            counts: counts.to_vec(),
            budget,
            schedule: Schedule::new(seed),
            costs: BTreeMap::new(),
            level: Vec::new(),
            repetitions: 0,
            turns: VecDeque::new(),
            blocks: 0,
            runs: 0,
            seconds: 0.0,
        }
    }

    /// The next run; `None` at the end.
    pub fn next_turn(&mut self) -> Option<CountTurn> {
        if self.turns.is_empty() {
            let next = self.next_places();
            // One block always runs, because without it nothing is known.
            if self.runs == 0 || self.has_room(next.len()) {
                self.add_block(&next);
            }
        }
        self.turns.pop_front()
    }

    /// Takes the log costs of a run by each metric, and how long it took.
    pub fn take(&mut self, turn: CountTurn, log_costs: Vec<f64>, seconds: f64) {
        let Ok(at) = self.counts.binary_search(&turn.count) else { return };
        self.costs.entry(at).or_default().insert(turn.block, log_costs);
        self.runs += 1;
        self.seconds += seconds;
    }

    /// The best number by a metric.
    pub fn best(&self, metric: usize) -> u32 {
        self.counts[self.best_place(metric)]
    }

    fn metrics(&self) -> usize {
        self.costs.values().flat_map(BTreeMap::values).map(Vec::len).next().unwrap_or(0)
    }

    fn add_block(&mut self, places: &[usize]) {
        for at in self.schedule.order(places.len()) {
            self.turns.push_back(CountTurn { block: self.blocks, count: self.counts[places[at]] });
        }
        self.blocks += 1;
    }

    fn has_room(&self, runs: usize) -> bool {
        match self.budget {
            None => true,
            Some(Budget::Runs(most)) => self.runs + runs <= most,
            Some(Budget::Seconds(most)) => {
                self.seconds * (1.0 + runs as f64 / self.runs as f64) <= most
            }
        }
    }

    /// Empty at the end.
    fn next_places(&mut self) -> Vec<usize> {
        if self.costs.is_empty() {
            self.level = doubling(&self.counts);
            return self.level.clone();
        }
        while let Some(most) = REPEATED.get(self.repetitions) {
            self.repetitions += 1;
            let near = self.within(*most);
            if near.len() > 1 {
                return near.into_iter().collect();
            }
        }
        let middles: BTreeSet<usize> =
            (0..self.metrics()).flat_map(|metric| self.middles(metric)).collect();
        if middles.is_empty() {
            return Vec::new();
        }
        self.repetitions = 0;
        self.level = self.within(CLOSE).union(&middles).copied().collect();
        self.level.clone()
    }

    /// Those within this of the best by a metric.
    fn within(&self, most: f64) -> BTreeSet<usize> {
        let mut near = BTreeSet::new();
        for metric in 0..self.metrics() {
            let best = self.best_place(metric);
            let level = self.level.iter().copied();
            near.extend(level.filter(|at| self.above(*at, best, metric) < most));
        }
        near
    }

    fn middles(&self, metric: usize) -> Vec<usize> {
        let best = self.best_place(metric);
        let below = self.costs.range(..best).next_back();
        let above = self.costs.range(best + 1..).next();
        let beside: Vec<usize> = below.into_iter().chain(above).map(|(at, _)| *at).collect();
        // Two equal numbers alone may be on both sides of a better one.
        if beside.len() > 1 && beside.iter().all(|at| self.above(*at, best, metric) < EQUAL) {
            return Vec::new();
        }
        beside.iter().filter_map(|at| self.middle(best, *at)).collect()
    }

    /// Nearest to the geometric mean of both.
    fn middle(&self, one: usize, other: usize) -> Option<usize> {
        let log = |at: usize| f64::from(self.counts[at]).ln();
        let mean = 0.5 * (log(one) + log(other));
        let between = one.min(other) + 1..one.max(other);
        between.min_by(|a, b| (log(*a) - mean).abs().total_cmp(&(log(*b) - mean).abs()))
    }

    /// The best number of the level, as far as it has run.
    fn best_place(&self, metric: usize) -> usize {
        let mut tried = self.level.iter().copied().filter(|at| self.costs.contains_key(at));
        let mut best = tried.next().unwrap_or(0);
        for at in tried {
            if self.above(at, best, metric) < 0.0 {
                best = at;
            }
        }
        best
    }

    /// The centre of a number's log costs minus another one's, over the blocks of both.
    fn above(&self, at: usize, other: usize, metric: usize) -> f64 {
        let (Some(own), Some(others)) = (self.costs.get(&at), self.costs.get(&other)) else {
            return f64::INFINITY;
        };
        let pairs = own.iter().filter_map(|(block, own)| Some((own, others.get(block)?)));
        let differences = pairs.map(|(own, other)| own[metric] - other[metric]);
        signed_rank::centre(differences).unwrap_or(f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::statistics::normal;

    /// Runs a search on costs by number, with noise. Returns the best number and the runs.
    fn found(
        counts: &[u32],
        budget: Option<Budget>,
        mut log_cost: impl FnMut(u32) -> f64,
    ) -> (u32, Vec<CountTurn>) {
        let mut search = CountSearch::new(counts, budget, 1);
        let mut turns = Vec::new();
        while let Some(turn) = search.next_turn() {
            turns.push(turn);
            search.take(turn, vec![log_cost(turn.count)], 1.0);
        }
        (search.best(0), turns)
    }

    fn upto(most: u32) -> Vec<u32> {
        (1..=most).collect()
    }

    /// Amdahl's law with a cost for each thread, least at `best`.
    fn amdahl(count: u32, best: f64) -> f64 {
        let count = f64::from(count);
        (1.0 / count + count / (best * best)).ln()
    }

    #[test]
    fn first_level_doubles_up_to_the_highest() {
        let numbers = |counts: &[u32]| -> Vec<u32> {
            doubling(counts).into_iter().map(|at| counts[at]).collect()
        };
        assert_eq!(numbers(&upto(12)), [1, 2, 4, 8, 12]);
        assert_eq!(numbers(&[3, 5, 6, 12]), [3, 6, 12]);
        assert_eq!(first_runs(&upto(16)), 10);
    }

    #[test]
    fn best_number_is_found_and_its_neighbours_have_run() {
        for best in [1, 2, 3, 5, 7, 11, 16, 23, 32] {
            let counts = upto(32);
            let (count, turns) = found(&counts, None, |count| amdahl(count, f64::from(best)));
            let loss = amdahl(count, f64::from(best)) - amdahl(best, f64::from(best));
            assert!(loss < EQUAL, "{count} of {best}");
            // A race of 33 candidates with its default budget makes 477.
            assert!(turns.len() <= 477 / 4, "{best}: {} runs", turns.len());
        }
        // A step: one thread too many costs threefold.
        let (count, turns) = found(&upto(32), None, |count| if count == 13 { 0.0 } else { 1.0 });
        assert!(turns.iter().all(|turn| turn.count != 13), "the search trusts a flat curve");
        assert_eq!(count, 1);
        let cliff = |count: u32| if count <= 13 { -f64::from(count).ln() } else { 0.0 };
        let (count, turns) = found(&upto(32), None, cliff);
        assert_eq!(count, 13);
        assert!([12, 14].iter().all(|beside| turns.iter().any(|turn| turn.count == *beside)));
    }

    #[test]
    fn noisy_search_stays_within_three_percent_in_most_cases() {
        let mut good = 0;
        let mut runs = 0;
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let best = f64::from(random.u32(1..=16));
            let (count, turns) =
                found(&upto(16), None, |count| amdahl(count, best) + 0.02 * normal(&mut random));
            let truth = |count| amdahl(count, best);
            let least = upto(16).into_iter().map(truth).fold(f64::INFINITY, f64::min);
            good += usize::from(truth(count) - least < 0.03);
            runs += turns.len();
        }
        assert!(good >= 190, "{good} of 200");
        // A race of 17 candidates with its default budget makes 269.
        assert!(runs <= 200 * 269 / 4, "{runs}");
    }

    #[test]
    fn each_metric_has_its_best_number() {
        let mut search = CountSearch::new(&upto(16), None, 1);
        while let Some(turn) = search.next_turn() {
            search.take(turn, vec![amdahl(turn.count, 3.0), amdahl(turn.count, 12.0)], 1.0);
        }
        assert_eq!(search.best(0), 3);
        assert!((11..=13).contains(&search.best(1)), "{}", search.best(1));
    }

    #[test]
    fn budget_ends_the_search_after_a_block() {
        let counts = upto(16);
        let runs = |budget| found(&counts, Some(budget), |count| amdahl(count, 6.0)).1.len();
        assert_eq!([runs(Budget::Runs(1)), runs(Budget::Seconds(1.0))], [5, 5]);
        assert!((10..=20).contains(&runs(Budget::Runs(20))));
    }

    #[test]
    fn same_costs_give_the_same_turns() {
        let turns = || found(&upto(24), None, |count| amdahl(count, 9.0)).1;
        assert_eq!(turns(), turns());
    }
}
