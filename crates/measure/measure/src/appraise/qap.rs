//! Two matrices of QAPLIB (Burkard, Karisch & Rendl 1997) instead of a machine and a pattern.

use seatmap_data::machine::Square;
use seatmap_data::pattern::qaplib::Instance;
use seatmap_place::search::{Qap, SearchTime};
use seatmap_place::solve::solve;
use serde::Serialize;
use std::time::Instant;

/// The format of a solved instance.
const FORMAT: &str = "seatmap-qap/1";

/// A request: which permutation makes the sum of products least?
#[derive(Clone, Debug)]
pub struct QapRequest {
    /// The name of the instance; `None` where its file has none.
    pub name: Option<String>,
    /// The two matrices.
    pub instance: Instance,
    /// How long to search.
    pub time: SearchTime,
    /// Searches side by side.
    pub threads: usize,
    /// Where random choices start.
    pub seed: u64,
    /// The tool that asks, with its version.
    pub tool: String,
}

/// A solved instance, as it is written: `seatmap-qap/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QapSolution {
    /// The cost of the permutation.
    pub cost: f64,
    /// The name of the format.
    pub format: &'static str,
    /// The name of the instance.
    pub instance: Option<String>,
    /// Every permutation costs at least this.
    pub lower_bound: f64,
    /// The method that found it.
    pub method: String,
    /// The size of the matrices.
    pub n: usize,
    /// Whether it is proven that no permutation costs less.
    pub optimal: bool,
    /// The place of each item, from 0.
    pub permutation: Vec<u32>,
    /// How long the search took.
    pub seconds: f64,
    /// Where random choices started.
    pub seed: u64,
    /// The tool that asked, with its version.
    pub tool: String,
}

impl QapRequest {
    /// Searches until the time is over, or until the answer is proven.
    #[must_use]
    pub fn solve(self) -> QapSolution {
        let n = self.instance.n;
        let qap = Qap::new(square(n, &self.instance.a), square(n, &self.instance.b));
        // Putting the matrices together is not a part of the search.
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
    fn a_small_instance_is_proven() {
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
