//! The `seatmap-gate/1` format: the runs of base and head, and their comparison.
//!
//! At 95 % for each, 1 of 20 equal benchmarks would be called different. So the confidence is for
//! all claims of a session together, by the steps of Holm 1979 (Scandinavian Journal of Statistics
//! 6): each of `n` undecided comparisons is judged at 1/n of the allowed error, and the step
//! repeats without those that show their claim. Benchmarks may depend on each other.

use crate::gate::file::{PlannedBenchmark, ProgramVersion};
use crate::tune::disturbance::DisturbedRuns;
use crate::tune::document::{BenchCommand, SeatsUsed};
use crate::tune::trial::texts;
use crate::tune::verdict::{self, NoiseFloor};
use crate::tune::{
    BenchResults, Better, BlockRun, CommandComparison, ComparisonVerdict, Fingerprint, LimitOutcome,
};
use seatmap_data::document::Failure;
use seatmap_data::statistics::trial::each;
use seatmap_data::statistics::words::{agreeing, counted, joined};
use serde::Serialize;
use std::collections::BTreeSet;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-gate/1";

/// A benchmark's runs on both sides, and their comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchmarkResult {
    /// Its name.
    pub name: String,
    /// The metric or adapter.
    pub metric: String,
    /// The unit of the readings; empty if unknown.
    #[serde(default)]
    pub unit: String,
    /// Whether lower or higher readings are better; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// Head and base, with their medians.
    pub commands: [BenchCommand; 2],
    /// The smallest detectable difference; absent for fewer than two blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itself: Option<NoiseFloor>,
    /// Head compared with base, at `tested_confidence`; absent without a complete block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<CommandComparison>,
    /// The confidence of this comparison; all together have that of the report.
    pub tested_confidence: f64,
    /// The limit in percent, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above_percent: Option<f64>,
    /// The outcome of the limit, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<LimitOutcome>,
    /// The smallest slowdown that this session would show to be above the limit, in percent; absent
    /// without a limit or with too few blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shows_above_percent: Option<f64>,
    /// The disturbed runs; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<DisturbedRuns>,
    /// All runs except warm-ups, in order. Command 0 is head, 1 is base.
    pub runs: Vec<BlockRun>,
}

/// A benchmark of only one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unpaired {
    /// Its name.
    pub name: String,
    /// The side that has it.
    pub only: ProgramVersion,
}

/// Base and head compared over their benchmarks: the result of `seatmap bench --file`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateReport {
    /// Name and version of the format.
    pub format: String,
    /// Seatmap's version.
    pub tool_version: String,
    /// The time, place and settings.
    #[serde(flatten)]
    pub header: GateHeader,
    /// The benchmarks of both sides.
    pub benchmarks: Vec<BenchmarkResult>,
    /// Benchmarks reported by only one side.
    #[serde(default)]
    pub unpaired: Vec<Unpaired>,
}

/// The time, place and settings of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateHeader {
    /// The start of the first run, in UTC (RFC 3339).
    pub begun: String,
    /// Whether all requested blocks were run.
    pub complete: bool,
    /// The name of head, such as its commit; absent if unnamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The computer and its settings.
    pub fingerprint: Fingerprint,
    /// The confidence of all claims together, 0 to 1.
    pub confidence: f64,
    /// The seed of the run order.
    pub seed: u64,
    /// The seats of the commands.
    pub seats: SeatsUsed,
    /// Exhausted CPU quotas, as a sentence; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<String>,
}

/// The readings of one benchmark during its runs.
#[derive(Clone, Debug)]
pub struct BenchmarkReadings {
    pub(crate) name: String,
    pub(crate) fail_above_percent: Option<f64>,
    pub(crate) results: BenchResults,
}

/// The results of a benchmark before its first run.
pub(crate) fn begun(planned: &PlannedBenchmark, confidence: f64, seed: u64) -> BenchResults {
    let (metric, unit) = match planned.adapter {
        Some(adapter) => (adapter.to_string(), "s"),
        None => (planned.metric.to_string(), planned.metric.unit()),
    };
    let commands = ProgramVersion::BOTH.iter().zip(&planned.words).map(|(side, words)| {
        BenchCommand { name: side.word().to_owned(), command: texts(words), median: None }
    });
    BenchResults {
        metric,
        unit: unit.to_owned(),
        better: planned.better,
        confidence,
        seed,
        commands: commands.collect(),
        ..BenchResults::default()
    }
}

impl BenchmarkReadings {
    /// The side with runs, if the other one has none.
    fn only(&self) -> Option<ProgramVersion> {
        let mut commands = self.results.runs.iter().map(|run| run.command);
        let side = commands.next()?;
        commands.all(|other| other == side).then(|| ProgramVersion::BOTH[side])
    }

    fn compared(&self, blocks: &[Vec<f64>], confidence: f64) -> Option<CommandComparison> {
        let BenchResults { better, itself, .. } = &self.results;
        verdict::comparisons(blocks, confidence, *better, itself.as_ref()).into_iter().next()
    }

    fn is_different(&self, blocks: &[Vec<f64>], confidence: f64) -> bool {
        let found = self.compared(blocks, confidence);
        found.is_some_and(|found| {
            !matches!(found.verdict, ComparisonVerdict::NotShown | ComparisonVerdict::TooFew)
        })
    }

    /// Judges the limit; `None` without a limit or direction.
    fn outcome(&self, blocks: &[Vec<f64>], confidence: f64) -> Option<LimitOutcome> {
        let (better, limit) = self.results.better.zip(self.fail_above_percent)?;
        let found = self.compared(blocks, confidence);
        Some(found.map_or(LimitOutcome::CannotTell, |found| found.beside_limit(better, limit)))
    }

    fn result(self, blocks: &[Vec<f64>], of_difference: f64, of_limit: f64) -> BenchmarkResult {
        let comparison = self.compared(blocks, of_difference);
        let outcome = self.outcome(blocks, of_limit);
        let beside = self.compared(blocks, of_limit);
        let BenchmarkReadings { name, fail_above_percent, results } = self;
        let judged = results.better.zip(fail_above_percent).zip(beside);
        let shows_above_percent = judged.and_then(|((better, limit), beside)| {
            beside.shows_above_percent(better, limit, results.itself.as_ref())
        });
        BenchmarkResult {
            name,
            metric: results.metric,
            unit: results.unit,
            better: results.better,
            commands: results.commands.try_into().unwrap_or_default(),
            itself: results.itself,
            comparison,
            tested_confidence: of_difference,
            fail_above_percent,
            outcome,
            shows_above_percent,
            disturbed: results.disturbed,
            runs: results.runs,
        }
    }
}

impl GateReport {
    /// Judges the readings of all benchmarks.
    pub fn judged(header: GateHeader, mut rows: Vec<BenchmarkReadings>) -> Self {
        let alone =
            |row: &BenchmarkReadings| Some(Unpaired { name: row.name.clone(), only: row.only()? });
        let unpaired = rows.iter().filter_map(alone).collect();
        rows.retain(|row| row.only().is_none());
        rows.iter_mut().for_each(|row| row.results.judge());
        let blocks: Vec<Vec<Vec<f64>>> = rows.iter().map(|row| row.results.blocks()).collect();
        // Separate families, so that benchmarks within their limits do not weaken the others'
        // claims.
        let of_differences = confidences(rows.len(), header.confidence, &|at, confidence| {
            rows[at].is_different(&blocks[at], confidence)
        });
        let of_limits = confidences(rows.len(), header.confidence, &|at, confidence| {
            rows[at].outcome(&blocks[at], confidence) == Some(LimitOutcome::Above)
        });
        let confidences = of_differences.into_iter().zip(of_limits);
        let benchmarks = rows.into_iter().zip(&blocks).zip(confidences).map(
            |((row, blocks), (of_difference, of_limit))| {
                row.result(blocks, of_difference, of_limit)
            },
        );
        GateReport {
            format: FORMAT.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            benchmarks: benchmarks.collect(),
            header,
            unpaired,
        }
    }

    /// The benchmarks with this outcome.
    pub fn with_outcome(&self, outcome: LimitOutcome) -> Vec<&BenchmarkResult> {
        self.benchmarks.iter().filter(|result| result.outcome == Some(outcome)).collect()
    }

    /// Checks that no benchmark is shown to exceed its limit. With `is_strict`, each must also have
    /// both sides and be shown to keep its limit, if any.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn check(&self, is_strict: bool) -> Result<(), Failure> {
        let above = self.with_outcome(LimitOutcome::Above);
        if !above.is_empty() {
            let said = above.into_iter().filter_map(BenchmarkResult::above);
            return Err(Failure::work(joined(said, "; ")));
        }
        if self.benchmarks.is_empty() {
            let why = "nothing was compared: base and head have no benchmark in common";
            return Err(Failure::work(why));
        }
        let unpaired = self.unpaired.iter();
        let unpaired =
            unpaired.map(|alone| format!("only {} has '{}'", alone.only.word(), alone.name));
        let unshown = joined(self.unshown().into_iter().chain(unpaired), "; ");
        if is_strict && !unshown.is_empty() {
            return Err(Failure::work(format!("--strict: {unshown}")));
        }
        Ok(())
    }

    /// An unfinished sentence for each benchmark that cannot be judged.
    pub fn unshown(&self) -> Vec<String> {
        let unshown = self.with_outcome(LimitOutcome::CannotTell).into_iter();
        unshown.filter_map(BenchmarkResult::cannot_tell).collect()
    }

    /// The verdict on all benchmarks in one line, without a full stop.
    pub fn verdict(&self) -> String {
        let count = self.benchmarks.len();
        let all = counted(count, "benchmark");
        let above = self.with_outcome(LimitOutcome::Above);
        let unshown = self.with_outcome(LimitOutcome::CannotTell);
        let cut = if self.header.complete { "" } else { " (incomplete)" };
        if count == 0 {
            return format!("Nothing was compared{cut}");
        }
        if let Some(first) = above.first() {
            let more = match above.len() {
                1 => String::new(),
                several => format!("; {several} of {all} are above their limits"),
            };
            return format!("Failed: {}{more}{cut}", first.above().unwrap_or_default());
        }
        if !unshown.is_empty() {
            let least = unshown.iter().filter_map(|result| result.shows_above_percent);
            let shows = least.reduce(f64::max);
            let why = shows.map_or_else(
                || "too few blocks".to_owned(),
                |least| {
                    format!(
                        "the runs are too noisy. Only a slowdown above {least:.1} % would have \
                         been detected"
                    )
                },
            );
            return format!("Undecided for {} of {all}: {why}{cut}", unshown.len());
        }
        let limited = self.with_outcome(LimitOutcome::Within).len();
        let better = self.shown(ComparisonVerdict::Better);
        if limited == count {
            let are = agreeing(count, "is", "are");
            return format!("Passed: {all} {are} within the limit, {better} better than base{cut}");
        }
        let worse = self.shown(ComparisonVerdict::Worse);
        if worse + better + self.shown(ComparisonVerdict::Different) == 0 {
            return format!("No difference between base and head was detected in {all}{cut}");
        }
        format!("{worse} of {all} worse than base, {better} better{cut}")
    }

    fn shown(&self, verdict: ComparisonVerdict) -> usize {
        let compared = self.benchmarks.iter().filter_map(|result| result.comparison.as_ref());
        compared.filter(|found| found.verdict == verdict).count()
    }
}

impl BenchmarkResult {
    fn above(&self) -> Option<String> {
        let [least, _] = self.comparison.as_ref()?.worse_percent(self.better?)?;
        let limit = self.fail_above_percent?;
        Some(format!("'{}' is at least {least:.1} % worse (limit: {limit} %)", self.name))
    }

    fn cannot_tell(&self) -> Option<String> {
        let limit = self.fail_above_percent?;
        let shows = verdict::shows(self.shows_above_percent);
        Some(format!("cannot tell whether '{}' is more than {limit} % worse: {shows}", self.name))
    }
}

/// Each comparison's confidence (0 to 1), so that all claims together have the given one.
/// `is_shown` judges a claim at a confidence.
pub fn confidences(
    count: usize,
    confidence: f64,
    is_shown: &dyn Fn(usize, f64) -> bool,
) -> Vec<f64> {
    let mut open: BTreeSet<usize> = (0..count).collect();
    let mut judged_at = vec![each(confidence, count); count];
    while !open.is_empty() {
        let own = each(confidence, open.len());
        open.iter().for_each(|at| judged_at[*at] = own);
        let shown: BTreeSet<usize> = open.iter().copied().filter(|at| is_shown(*at, own)).collect();
        if shown.is_empty() {
            break;
        }
        open = &open - &shown;
    }
    judged_at
}

#[cfg(test)]
mod tests;
