//! The times of a study: mapping by mapping, run by run.

use seatmap_data::document::rounded_ns;
use serde::{Deserialize, Serialize};

/// A year: no run takes longer, and a file that claims so is damaged.
pub const LONGEST_NS: f64 = 3.2e16;

/// One mapping in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappingTrial {
    /// The mapping's index in lexicographic order.
    pub index: u64,
    /// The run, from 0.
    pub run: u32,
}

/// The known times of all mappings of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct MappingTimes {
    indices: Vec<u64>,
    runs: usize,
    /// NaN if unknown.
    ns: Vec<f64>,
    known: usize,
}

impl MappingTimes {
    /// A study of these mappings without times. The indices must ascend.
    pub fn new(indices: Vec<u64>, runs: u32) -> Self {
        let runs = runs as usize;
        MappingTimes { ns: vec![f64::NAN; indices.len() * runs], indices, runs, known: 0 }
    }

    /// Stores a time. Returns false if there is no such job, the time is already known, or it is
    /// impossible.
    pub fn set(&mut self, job: MappingTrial, ns: f64) -> bool {
        let Ok(row) = self.indices.binary_search(&job.index) else { return false };
        let run = job.run as usize;
        // A second time for one run would hide that two files overlap.
        if run >= self.runs
            || !(0.0..=LONGEST_NS).contains(&ns)
            || !self.ns[row * self.runs + run].is_nan()
        {
            return false;
        }
        // Rounded as in documents, so that times from a file equal measured ones.
        self.ns[row * self.runs + run] = rounded_ns(ns);
        self.known += 1;
        true
    }

    /// Exchanges each run's times at random among the mappings.
    pub fn shuffle(&mut self, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        for run in 0..self.runs {
            let mut times = self.of_run(run);
            rng.shuffle(&mut times);
            for (row, ns) in self.ns.chunks_exact_mut(self.runs).zip(times) {
                row[run] = ns;
            }
        }
    }

    /// The missing runs.
    pub fn missing(&self) -> Vec<MappingTrial> {
        (0..self.ns.len())
            .filter(|at| self.ns[*at].is_nan())
            .map(|at| MappingTrial {
                index: self.indices[at / self.runs],
                run: (at % self.runs) as u32,
            })
            .collect()
    }

    /// Known times.
    pub fn known(&self) -> usize {
        self.known
    }

    /// All times.
    pub fn total(&self) -> usize {
        self.ns.len()
    }

    /// Runs of each mapping.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// The mappings' indices in lexicographic order.
    pub fn indices(&self) -> &[u64] {
        &self.indices
    }

    /// Each mapping's times, in the order of [`MappingTimes::indices`].
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.ns.chunks_exact(self.runs.max(1))
    }

    /// The times of one run, in the same order.
    pub fn of_run(&self, run: usize) -> Vec<f64> {
        self.rows().map(|row| row[run]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_keeps_the_times_of_each_run() {
        let mut times = MappingTimes::new((0..20).collect(), 2);
        for index in 0..20 {
            for run in 0..2 {
                times.set(MappingTrial { index, run }, f64::from(run) * 100.0 + index as f64);
            }
        }
        let before = times.clone();
        times.shuffle(1);
        for run in 0..2 {
            let mut after = times.of_run(run);
            assert_ne!(after, before.of_run(run));
            after.sort_by(f64::total_cmp);
            assert_eq!(after, before.of_run(run));
        }
        assert_ne!(
            times.of_run(0),
            times.of_run(1).iter().map(|ns| ns - 100.0).collect::<Vec<_>>()
        );
    }

    #[test]
    fn each_time_is_set_once() {
        let mut times = MappingTimes::new(vec![2, 5], 2);
        assert_eq!((times.missing().len(), times.total()), (4, 4));
        assert!(times.set(MappingTrial { index: 5, run: 1 }, 10.000_4));
        for (index, run, ns) in
            [(5, 1, 10.0), (3, 0, 1.0), (2, 2, 1.0), (2, 0, -1.0), (2, 0, f64::NAN), (2, 0, 1e300)]
        {
            assert!(!times.set(MappingTrial { index, run }, ns), "{index} {run} {ns}");
        }
        assert_eq!(
            times.missing()[1..],
            [MappingTrial { index: 2, run: 1 }, MappingTrial { index: 5, run: 0 }]
        );
        assert_eq!(times.of_run(1)[1], 10.0);
    }
}
