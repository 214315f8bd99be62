//! The figures of a ranking, as in its document.

use super::{MappingTimes, TaskMapping};
use seatmap_data::statistics::correlation::spearman;
use seatmap_data::statistics::{quantile_sorted, sorted};
use serde::{Deserialize, Serialize};

/// The result of a well-known mapping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// The mapping's name in Seatmap.
    pub name: String,
    /// The mapping in the paper's notation.
    pub mapping: String,
    /// Its rank, from 1.
    pub rank: usize,
    /// Its mean over that of the best; null if that is zero.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub to_best: f64,
}

/// One run of all mappings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MappingRun {
    /// The number of the run, from 1.
    pub run: u32,
    /// Its fastest mapping.
    pub best: String,
    /// The time of the fastest mapping.
    pub best_ns: f64,
    /// Its slowest mapping.
    pub worst: String,
    /// The time of the slowest mapping.
    pub worst_ns: f64,
    /// The slowest time over the fastest; null if that is zero.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub best_to_worst: f64,
    /// The rank in this run of the mapping with the best mean.
    pub rank_of_best: usize,
}

impl MappingRun {
    pub(super) fn of(
        times: &MappingTimes,
        run: usize,
        best: usize,
        mapping: impl Fn(usize) -> String,
    ) -> Self {
        let ns = times.of_run(run);
        let mut order: Vec<usize> = (0..ns.len()).collect();
        order.sort_by(|a, b| ns[*a].total_cmp(&ns[*b]));
        let fastest = order[0];
        let slowest = order[order.len() - 1];
        MappingRun {
            run: run as u32 + 1,
            best: mapping(fastest),
            best_ns: ns[fastest],
            worst: mapping(slowest),
            worst_ns: ns[slowest],
            best_to_worst: ratio(ns[slowest], ns[fastest]),
            // Equal times share the better rank.
            rank_of_best: ns.iter().filter(|other| **other < ns[best]).count() + 1,
        }
    }
}

/// Quantiles of the mappings' means (type 7 of Hyndman & Fan 1996), in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantiles {
    /// The mean that 1 % of the mappings undercut.
    pub p01: f64,
    /// The mean that 10 % of the mappings undercut.
    pub p10: f64,
    /// The mean that 25 % of the mappings undercut.
    pub p25: f64,
    /// The mean that 50 % of the mappings undercut.
    pub p50: f64,
    /// The mean that 75 % of the mappings undercut.
    pub p75: f64,
    /// The mean that 90 % of the mappings undercut.
    pub p90: f64,
    /// The mean that 99 % of the mappings undercut.
    pub p99: f64,
}

impl Quantiles {
    pub(super) fn of(means: &[f64]) -> Self {
        let ascending = sorted(means);
        let [p01, p10, p25, p50, p75, p90, p99] = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
            .map(|share| quantile_sorted(&ascending, share).map_or(f64::NAN, decimals));
        Quantiles { p01, p10, p25, p50, p75, p90, p99 }
    }
}

/// How well runs agree on the ranks (Spearman): 1 if they agree, 0 if they are unrelated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Correlation {
    /// The mean over all pairs of runs.
    pub mean: f64,
    /// The lowest of any pair of runs.
    pub lowest: f64,
    /// For each run, the correlations with all later runs; the last run's empty row is omitted.
    pub with_later_runs: Vec<Vec<f64>>,
}

impl Correlation {
    pub(super) fn of(times: &MappingTimes) -> Option<Self> {
        let runs: Vec<Vec<f64>> = (0..times.runs()).map(|run| times.of_run(run)).collect();
        let last = runs.len().checked_sub(1)?;
        let with_later_runs = runs
            .iter()
            .enumerate()
            .take(last)
            .map(|(at, run)| {
                runs[at + 1..].iter().map(|later| spearman(run, later).map(decimals)).collect()
            })
            .collect::<Option<Vec<Vec<f64>>>>()?;
        let all = with_later_runs.concat();
        let lowest = all.iter().copied().reduce(f64::min)?;
        Some(Correlation {
            mean: decimals(all.iter().sum::<f64>() / all.len() as f64),
            lowest,
            with_later_runs,
        })
    }
}

/// The mappings that may be the best: multiple comparisons with the best (Hsu 1984) of the
/// logarithms, blocked by run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BestSet {
    /// The probability that the best mapping is among them.
    pub confidence: f64,
    /// The number of these mappings.
    pub mappings: usize,
    /// How much slower than the best a mapping may be measured and still be among them.
    pub margin_percent: f64,
}

/// A mapping and its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedMapping {
    /// Its rank by the mean, from 1.
    pub rank: usize,
    /// The mapping in the paper's notation.
    pub mapping: String,
    /// Its index in lexicographic order, from 0.
    pub index: u64,
    /// The mean over the runs.
    pub mean_ns: f64,
    /// The time of each run.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(range(min = 0))))]
    pub runs_ns: Vec<f64>,
    /// The rank in each run, from 1. Equal times share the better rank.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub run_ranks: Vec<usize>,
    /// Whether it may be the best; null for a single run.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub may_be_best: Option<bool>,
}

pub(super) fn ratio(of: f64, to: f64) -> f64 {
    ((of / to) * 1e4).round() / 1e4
}

/// Rounds to four decimals: more would only show noise of the last bit.
pub(super) fn decimals(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}

pub(super) fn notation(tasks: usize, index: u64) -> String {
    TaskMapping::nth(tasks, index).map_or_else(String::new, |mapping| mapping.to_string())
}
