//! Runs of neighbouring units, with the distances between any two.

use super::cost::SetFacts;
use super::units::Units;

/// All runs of a machine's units.
#[derive(Debug)]
pub struct UnitSpans {
    /// The number of units.
    pub count: usize,
    facts: Vec<SetFacts>,
    /// Prefix sums.
    sums_ns: Vec<Vec<f64>>,
    /// The least distance between two different units.
    pub least_ns: f64,
}

impl UnitSpans {
    /// The facts about all runs of these units.
    pub fn of(units: &Units) -> Self {
        let count = units.all.len();
        let mut sums_ns = vec![vec![0.0; count + 1]; count + 1];
        let mut least_ns = f64::INFINITY;
        for a in 0..count {
            for b in 0..count {
                let ns = units.distance_ns[a][b];
                sums_ns[a + 1][b + 1] = ns + sums_ns[a][b + 1] + sums_ns[a + 1][b] - sums_ns[a][b];
                if a != b {
                    least_ns = least_ns.min(ns);
                }
            }
        }
        let least_ns = if least_ns.is_finite() { least_ns } else { 0.0 };
        let mut spans = UnitSpans { count, facts: Vec::new(), sums_ns, least_ns };
        for start in 0..count {
            for end in start + 1..=count {
                let set: Vec<usize> = (start..end).collect();
                let inside_ns = spans.mean_ns([start, end], [start, end]);
                let facts = SetFacts::without_distance(units, &set);
                spans.facts.push(SetFacts { inside_ns, ..facts });
            }
        }
        spans
    }

    /// The index of a run in tables of all runs.
    pub fn place(&self, start: usize, end: usize) -> usize {
        start * self.count - start * start.saturating_sub(1) / 2 + end - start - 1
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.facts.len()
    }

    /// The facts of the units from `start` up to, but without, `end`.
    pub fn facts(&self, start: usize, end: usize) -> &SetFacts {
        &self.facts[self.place(start, end)]
    }

    /// The mean distance between the units of two runs.
    pub fn mean_ns(&self, [a, a_end]: [usize; 2], [b, b_end]: [usize; 2]) -> f64 {
        let sums = &self.sums_ns;
        let sum = sums[a_end][b_end] - sums[a][b_end] - sums[a_end][b] + sums[a][b];
        sum / ((a_end - a) * (b_end - b)).max(1) as f64
    }
}
