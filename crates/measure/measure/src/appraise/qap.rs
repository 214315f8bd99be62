//! Two matrices of QAPLIB (Burkard, Karisch & Rendl 1997) instead of a machine and a pattern.

use seatmap_data::machine::Square;
use seatmap_data::pattern::qaplib::Instance;
use seatmap_place::search::{Qap, SearchTime};
use seatmap_place::solve::solve;
use serde::Serialize;
use std::time::Instant;

const FORMAT: &str = "seatmap-qap/1";

/// A request for the permutation with the smallest sum of products.
pub struct QapRequest {
    /// Name of the instance, if its file has one.
    pub name: Option<String>,
    /// The two matrices.
    pub instance: Instance,
    /// How long to search.
    pub time: SearchTime,
    /// Parallel searches.
    pub threads: usize,
    /// Seed of random choices.
    pub seed: u64,
    /// Requesting tool with its version.
    pub tool: String,
}

/// A solved instance as a document, `seatmap-qap/1`.
#[derive(Serialize)]
pub struct QapSolution {
    /// Cost of the permutation.
    pub cost: f64,
    /// Name and version of the format.
    pub format: &'static str,
    /// Name of the instance.
    pub instance: Option<String>,
    /// A lower bound on the cost of every permutation.
    pub lower_bound: f64,
    /// Method of the search.
    pub method: String,
    /// Size of the matrices.
    pub n: usize,
    /// Whether the permutation is proven optimal.
    pub optimal: bool,
    /// Place of each item, from 0.
    pub permutation: Vec<u32>,
    /// How long the search took.
    pub seconds: f64,
    /// Seed of random choices.
    pub seed: u64,
    /// Requesting tool with its version.
    pub tool: String,
}

impl QapRequest {
    /// Searches until the time is over or the result is proven optimal.
    pub fn solve(self) -> QapSolution {
        let n = self.instance.n;
        let qap = Qap::new(square(n, &self.instance.a), square(n, &self.instance.b));
        let began = Instant::now();
        let solved = solve(&qap, &self.time.limit(), self.threads, self.seed);
        QapSolution {
            cost: solved.solution.cost,
            format: FORMAT,
            instance: self.name,
            lower_bound: solved.lower_bound,
            method: solved.method,
            n,
            optimal: solved.optimal,
            permutation: solved.solution.slot_of,
            seconds: began.elapsed().as_secs_f64(),
            seed: self.seed,
            tool: self.tool,
        }
    }
}

fn square(n: usize, cells: &[f64]) -> Square<f64> {
    Square::from_fn(n, |i, j| cells[i * n + j])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_instance_is_proven() {
        let instance = Instance::read("3  0 1 2 1 0 3 2 3 0  0 5 1 5 0 2 1 2 0").unwrap();
        let request = QapRequest {
            name: Some("tiny".to_owned()),
            instance,
            time: SearchTime::Kicks(100),
            threads: 1,
            seed: 1,
            tool: "test".to_owned(),
        };
        let solution = request.solve();
        // The heaviest flow on the shortest way: 2 x (3 x 1 + 2 x 2 + 1 x 5).
        assert_eq!((solution.cost, solution.optimal, solution.n), (24.0, true, 3));
    }
}
