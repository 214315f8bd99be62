//! The `seatmap-bench/1` format: commands, computer, runs and their comparison.

use crate::tune::blocks::{self, BlockRun};
use crate::tune::disturbance::{self, DISTURBED_PERCENT, Disturbance, DisturbedRuns};
use crate::tune::fingerprint::Fingerprint;
use crate::tune::metric::{Better, Metric};
use crate::tune::trial::TAKEN;
use crate::tune::verdict::{self, CommandComparison, LimitOutcome, NoiseFloor};
use seatmap_data::document::{Checked, DocumentError, Failure, inconsistent};
use seatmap_data::statistics::dependence::widening;
use seatmap_data::statistics::words::{counted, joined};
use seatmap_data::statistics::{median, signed_rank};
use seatmap_os::holder::Holder;
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-bench/1";

/// Limit on runs in a document, to save memory.
pub const MAX_RUNS: usize = 1 << 20;

/// A command that was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchCommand {
    /// Its name: as given, or the command line.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The median of its readings; absent if no run finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
}

/// The seats of the commands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatsUsed {
    /// The CPUs, as a list.
    pub cpus: String,
    /// The words that named them, if it was not by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Remarks on the choice of seats, each a sentence.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The largest load of other programs on one of these cores before the start, in percent;
    /// absent in a cell, where none run, and in older documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_percent: Option<f64>,
}

/// A larger difference of loads before the start, in percent of a core, may explain a difference
/// between results. Wide, because the look is short.
const OTHER_LOAD_PERCENT: f64 = 50.0;

const OTHERS_BESIDE_PERCENT: f64 = 20.0;

impl SeatsUsed {
    /// The CPUs that the same words meant then, in words, if they were others.
    pub(crate) fn word_difference(&self, then: &SeatsUsed) -> Option<String> {
        let words = self.words.as_ref().filter(|words| then.words.as_ref() == Some(*words))?;
        let differ = self.cpus != then.cpus;
        differ.then(|| format!("CPUs of '{words}': {}, not {}", self.cpus, then.cpus))
    }

    /// Adds a remark on void runs; once for each list of missing CPUs.
    pub fn tell_void(&mut self, cpus: &str, holder: &Holder) {
        let note = format!("some runs lost CPUs and were repeated: {cpus} ({})", holder.or(TAKEN));
        // A changing cpuset would otherwise fill the report.
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn differing_loads(now: f64, then: f64, most: f64) -> Option<String> {
    let is_other = (now - then).abs() > most;
    is_other.then(|| format!("load of others on its CPUs: {now:.0} %, not {then:.0} %"))
}

/// The first command compared with the first one of an earlier result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineComparison {
    /// The earlier command's name.
    pub name: String,
    /// When its first block began.
    pub begun: String,
    /// The differences between the computers and settings, each with both values. With any, the
    /// results are not comparable.
    pub differences: Vec<String>,
    /// The comparison; absent if the results are not comparable or one has too few runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<CommandComparison>,
}

/// Commands compared in blocks of runs: the result of `seatmap bench`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchResults {
    /// Name and version of the format.
    pub format: String,
    /// Seatmap's version.
    pub tool_version: String,
    /// The start of the first block, in UTC (RFC 3339).
    pub begun: String,
    /// Whether all requested blocks were run.
    pub complete: bool,
    /// The computer and its settings, which must agree for results to be comparable.
    pub fingerprint: Fingerprint,
    /// The metric, as given on the command line: `time`, `cpu`, `regex:PATTERN`, `command:LINE`,
    /// `perf:EVENT`.
    pub metric: String,
    /// The unit of the readings; empty if unknown.
    #[serde(default)]
    pub unit: String,
    /// Whether lower or higher readings are better; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The confidence of all intervals, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMaximum" = 1)))]
    pub confidence: f64,
    /// The seed of the run order.
    pub seed: u64,
    /// The seats of the commands.
    pub seats: SeatsUsed,
    /// The commands. The first runs twice in each block and is compared with each of the others.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub commands: Vec<BenchCommand>,
    /// Exhausted CPU quotas, as a sentence; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<String>,
    /// The disturbed runs; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<DisturbedRuns>,
    /// The smallest detectable difference; absent for fewer than two blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itself: Option<NoiseFloor>,
    /// The first command compared with each of the others.
    #[serde(default)]
    pub comparisons: Vec<CommandComparison>,
    /// The first command compared with that of the baseline, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineComparison>,
    /// All runs except warm-ups, in order.
    pub runs: Vec<BlockRun>,
}

impl BenchResults {
    /// Computes medians, floor and comparisons from undisturbed blocks.
    pub fn judge(&mut self) {
        self.quiet_blocks();
        self.itself = verdict::floor(&self.blocks(), self.seed);
        self.compare();
        for at in 0..self.commands.len() {
            self.commands[at].median = median(self.values(at));
        }
    }

    fn compare(&mut self) {
        self.comparisons = verdict::comparisons(
            &self.blocks(),
            self.confidence,
            self.better,
            self.itself.as_ref(),
        );
    }

    /// Marks disturbed blocks and returns the number of the others.
    pub(crate) fn quiet_blocks(&mut self) -> usize {
        let fewest = signed_rank::fewest(self.confidence);
        self.disturbed = disturbance::judge(&mut self.runs, self.commands.len(), fewest);
        let all = self.runs.last().map_or(0, |run| run.block + 1);
        all - self.disturbed.as_ref().map_or(0, |disturbed| disturbed.blocks.min(all))
    }

    /// The median share that other programs took from the judged runs, if known.
    pub fn beside(&self) -> Option<Disturbance> {
        let judged: Vec<&BlockRun> = self.runs.iter().filter(|run| !run.left_out).collect();
        disturbance::middle(&judged)
    }

    /// Whether the result holds only next to the present load of other programs.
    pub fn has_neighbours(&self) -> bool {
        let taken = self.beside().and_then(|beside| beside.foreign_percent);
        taken.is_some_and(|percent| percent > DISTURBED_PERCENT)
            || self.disturbed.as_ref().is_some_and(|disturbed| !disturbed.left_out)
    }

    /// The readings of each complete block, without excluded runs.
    pub fn blocks(&self) -> Vec<Vec<f64>> {
        blocks::complete(&self.runs, self.commands.len())
    }

    /// The readings of a command in order of time, without excluded runs.
    pub fn values(&self, command: usize) -> Vec<f64> {
        let own = self.runs.iter().filter(|run| run.command == command && !run.left_out);
        own.map(|run| run.value).collect()
    }

    /// Compares the first command with that of an earlier result.
    pub fn compare_with(&mut self, then: &BenchResults) {
        let mut differences = self.fingerprint.differences(&then.fingerprint);
        differences.extend(self.seats.word_difference(&then.seats));
        differences.extend(self.load_difference(then));
        let better = self.better.zip(then.better).filter(|(now, before)| now != before);
        differences.extend(better.map(|(now, before)| {
            format!("better readings: {}, not {}", now.word(), before.word())
        }));
        let mut comparison = None;
        // Another kernel or governor can explain any difference.
        if differences.is_empty() {
            comparison = self.since(then);
            if let Some((own, before)) = self.itself.as_mut().zip(then.itself.as_ref()) {
                own.raise(before);
                self.compare();
            }
        }
        let name = then.commands[0].name.clone();
        let begun = then.begun.clone();
        self.baseline = Some(BaselineComparison { name, begun, differences, comparison });
    }

    /// Both loads in words, if they differ too much: during the runs or, if unknown, before them.
    fn load_difference(&self, then: &BenchResults) -> Option<String> {
        let beside =
            [self, then].map(|results| results.beside().and_then(|beside| beside.foreign_percent));
        match beside {
            [Some(now), Some(then)] => differing_loads(now, then, OTHERS_BESIDE_PERCENT),
            _ => {
                let [now, then] = [self, then].map(|results| results.seats.others_percent);
                differing_loads(now?, then?, OTHER_LOAD_PERCENT)
            }
        }
    }

    fn since(&self, then: &BenchResults) -> Option<CommandComparison> {
        // In logarithms, a shift is a ratio, as within blocks.
        let logs = [then, self]
            .map(|results| results.values(0).iter().map(|value| value.ln()).collect::<Vec<f64>>());
        let [before, now] = &logs;
        let shift = signed_rank::between(before, now, self.confidence)?;
        // Without common blocks, each result's drift widens the interval.
        let wider = logs.iter().map(|logs| widening(logs, self.confidence)).fold(1.0, f64::max);
        let floors = [&self.itself, &then.itself].into_iter().flatten();
        let floor = floors.max_by(|a, b| a.floor_percent.total_cmp(&b.floor_percent));
        Some(CommandComparison::of_shift(0, &shift.widened(wider), self.better, floor))
    }

    fn compared(&self) -> impl Iterator<Item = (&CommandComparison, &str)> {
        let earlier = self.baseline.as_ref();
        let earlier =
            earlier.and_then(|then| Some((then.comparison.as_ref()?, then.name.as_str())));
        let others = self.comparisons.iter();
        others.map(|found| (found, self.commands[found.with].name.as_str())).chain(earlier)
    }

    /// Checks that the first command is not shown to be worse than another by more than this limit.
    /// Incomparable results, too few runs or an unknown direction show nothing.
    ///
    /// # Errors
    /// [`Failure`], which names the commands.
    pub fn check_limit(&self, most_percent: f64) -> Result<(), Failure> {
        // A printed figure may be a time or a rate.
        let Some(better) = self.better else { return Ok(()) };
        let own = &self.commands[0].name;
        let worse = self
            .compared()
            .filter(|(found, _)| found.beside_limit(better, most_percent) == LimitOutcome::Above)
            .filter_map(|(found, name)| {
                let [least, _] = found.worse_percent(better)?;
                Some(format!(
                    "'{own}' is at least {least:.1} % worse than '{name}' (limit: {most_percent} %)"
                ))
            });
        let worse = joined(worse, "; ");
        if worse.is_empty() { Ok(()) } else { Err(Failure::work(worse)) }
    }

    /// Checks that each comparison shows whether the first command is worse by more than this
    /// limit.
    ///
    /// # Errors
    /// [`Failure`], with what this session could have shown.
    pub fn check_shown(&self, most_percent: f64) -> Result<(), Failure> {
        let mut unshown: Vec<String> = Vec::new();
        for (found, name) in self.compared() {
            let outcome = self.better.map(|better| found.beside_limit(better, most_percent));
            if outcome.is_none_or(|outcome| outcome == LimitOutcome::CannotTell) {
                let why = self.better.map_or_else(
                    || "whether lower or higher readings are better is unknown".to_owned(),
                    |better| {
                        let itself = self.itself.as_ref();
                        verdict::shows(found.shows_above_percent(better, most_percent, itself))
                    },
                );
                unshown.push(self.unshown(name, most_percent, &why));
            }
        }
        if let Some(then) = self.baseline.as_ref().filter(|then| then.comparison.is_none()) {
            unshown.push(self.unshown(&then.name, most_percent, "the two are not comparable"));
        }
        if unshown.is_empty() {
            return Ok(());
        }
        Err(Failure::work(format!("cannot tell {}", unshown.join("; "))))
    }

    fn unshown(&self, other: &str, most_percent: f64, why: &str) -> String {
        let own = &self.commands[0].name;
        format!("whether '{own}' is more than {most_percent} % worse than '{other}': {why}")
    }

    /// Reads and checks a result.
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let results: BenchResults = seatmap_data::document::read(text, FORMAT)?;
        results.check()?;
        Ok(results)
    }

    /// Reads a baseline result, which must have this metric.
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn baseline(text: &str, metric: &Metric) -> Result<Self, DocumentError> {
        let earlier = BenchResults::from_json(text)?;
        let then = &earlier.metric;
        let now = metric.to_string();
        // Seconds and requests have no ratio.
        if *then == now {
            return Ok(earlier);
        }
        inconsistent(format!(
            "its metric is '{then}', but this one is '{now}'; use the same --metric for both"
        ))
    }

    /// The result as JSON with a final newline.
    pub fn to_json(&self) -> String {
        seatmap_data::document::written(self)
    }

    fn check(&self) -> Checked {
        let commands = self.commands.len();
        let runs = self.runs.len();
        if commands == 0 {
            return inconsistent("commands: the list is empty");
        }
        check_session(runs, self.confidence)?;
        for (at, run) in self.runs.iter().enumerate() {
            let BlockRun { block, command, value, .. } = run;
            if *command >= commands {
                return inconsistent(format!(
                    "runs[{at}].command: {command} is out of range; the number of commands is \
                     {commands}"
                ));
            }
            if !(*value > 0.0 && value.is_finite()) {
                return inconsistent(format!("runs[{at}].value: {value} is not above 0"));
            }
            if *block > runs {
                return inconsistent(format!(
                    "runs[{at}].block: {block} is out of range for {}",
                    counted(runs, "run")
                ));
            }
        }
        Ok(())
    }
}

/// Checks the number of runs and the confidence of a session.
pub(crate) fn check_session(runs: usize, confidence: f64) -> Checked {
    if runs > MAX_RUNS {
        return inconsistent(format!("runs: {runs}, but at most {MAX_RUNS} are read"));
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return inconsistent(format!("confidence: {confidence} is not between 0 and 1"));
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A result of two commands, the second 5 % slower.
    pub(crate) fn made(count: usize) -> BenchResults {
        let run = |block, command, again| {
            let noise = 1.0 + 0.002 * ((block * 5 + command * 3 + usize::from(again)) % 7) as f64;
            let value = noise * if command == 1 { 1.05 } else { 1.0 };
            BlockRun { again, ..BlockRun::new(block, command, value) }
        };
        let named = |name: &str| BenchCommand {
            name: name.to_owned(),
            command: vec![name.to_owned()],
            median: None,
        };
        let mut results = BenchResults {
            format: FORMAT.to_owned(),
            tool_version: "0.1.0".to_owned(),
            begun: "2026-11-23T04:00:00Z".to_owned(),
            complete: true,
            fingerprint: Fingerprint { machine: "box".to_owned(), ..Fingerprint::default() },
            metric: "time".to_owned(),
            unit: "s".to_owned(),
            better: Some(Better::Lower),
            confidence: 0.95,
            seed: 1,
            seats: SeatsUsed { cpus: "0-1".to_owned(), ..SeatsUsed::default() },
            commands: vec![named("old"), named("new")],
            ..BenchResults::default()
        };
        for block in 0..count {
            for (command, again) in [(0, true), (1, false), (0, false)] {
                results.runs.push(run(block, command, again));
            }
        }
        results.judge();
        results
    }

    /// Quadratic time for 20,000 blocks would be hours.
    #[test]
    fn twenty_thousand_blocks_are_judged_quickly() {
        let results = made(20_000);
        assert_eq!(results.blocks().len(), 20_000);
        assert_eq!(results.comparisons[0].verdict, verdict::ComparisonVerdict::Better);
        assert!(results.itself.is_some());
    }

    fn schema() -> serde_json::Value {
        let text = include_str!("../../../../../docs/formats/seatmap-bench-1.schema.json");
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn bench_results_match_schema_and_write_every_key() {
        let mut full = made(12);
        let fingerprint = r#"{ "cpu_model": "x", "microcode": "1", "hypervisor": "none",
            "kernel": "6.1", "governor": "performance", "turbo": true, "smt": "on",
            "thp": "never", "mitigations": "00000000", "quota": "none", "priority": "nice 1",
            "machine": "box", "seats": "2 CPUs on 2 cores", "quiet": "nobody" }"#;
        full.fingerprint = serde_json::from_str(fingerprint).unwrap();
        full.seats.others_percent = Some(3.0);
        full.throttled = Some("a quota was used up in 2 periods".to_owned());
        let disturbance = Disturbance {
            foreign_percent: Some(41.0),
            steal_percent: Some(1.0),
            unsure_percent: 2.0,
            throttled_percent: 3.0,
            void_tries: 1,
        };
        full.runs[0].disturbance = Some(disturbance);
        full.runs[0].left_out = true;
        full.disturbed = Some(DisturbedRuns {
            runs: 1,
            blocks: 1,
            left_out: true,
            during: disturbance,
            otherwise: Some(disturbance),
        });
        full.seats.words = Some("l3:0".to_owned());
        full.compare_with(&full.clone());
        let nothing: Vec<String> = Vec::new();
        let document = serde_json::to_value(&full).unwrap();
        assert_eq!(seatmap_data::document::schema::refused(&schema(), &document), nothing);
        assert_eq!(seatmap_data::document::schema::never_written(&schema(), &[document]), nothing);
    }

    #[test]
    fn unknown_direction_shows_nothing() {
        let results = BenchResults { better: None, ..made(12) };
        let said = results.check_shown(3.0).unwrap_err().to_string();
        assert_eq!(
            said,
            "cannot tell whether 'old' is more than 3 % worse than 'new': whether lower or higher \
             readings are better is unknown"
        );
    }

    #[test]
    fn bench_results_are_judged_and_round_trip() {
        let results = made(12);
        assert_eq!(results.comparisons[0].verdict, crate::tune::ComparisonVerdict::Better);
        assert!(results.itself.as_ref().unwrap().floor_percent < 1.0);
        assert_eq!(BenchResults::from_json(&results.to_json()).unwrap(), results);
    }

    #[test]
    fn baseline_is_compared_only_on_same_computer() {
        let baseline = |now: BenchResults, then: &BenchResults| {
            let mut now = now;
            now.compare_with(then);
            now.baseline.unwrap()
        };
        let verdict = |now| baseline(now, &made(12)).comparison.map(|found| found.verdict);
        assert_eq!(verdict(made(12)), Some(crate::tune::ComparisonVerdict::NotShown));
        let mut slower = made(12);
        slower.runs.iter_mut().for_each(|run| run.value *= 1.2);
        assert_eq!(verdict(slower), Some(crate::tune::ComparisonVerdict::Worse));
        assert_eq!(verdict(made(1)), None);
        let mut other = made(12);
        other.fingerprint.kernel = Some("6.1".to_owned());
        let found = baseline(made(12), &other);
        assert_eq!(
            (found.differences, found.comparison),
            (vec!["kernel: unknown, not 6.1".to_owned()], None)
        );
        let busy = |percent| {
            let mut results = made(12);
            results.seats.others_percent = Some(percent);
            results
        };
        let found = baseline(busy(3.0), &busy(100.0));
        let words = ["load of others on its CPUs: 3 %, not 100 %"];
        assert_eq!(
            (found.differences, found.comparison),
            (words.map(str::to_owned).to_vec(), None)
        );
        assert!(baseline(busy(3.0), &busy(40.0)).comparison.is_some());
        let on = |words: &str, cpus: &str| {
            let mut results = made(12);
            results.seats.words = Some(words.to_owned());
            results.seats.cpus = cpus.to_owned();
            results
        };
        let found = baseline(on("cache:biggest", "8-15"), &on("cache:biggest", "0-7"));
        assert_eq!(found.differences, ["CPUs of 'cache:biggest': 8-15, not 0-7"]);
        let both = baseline(on("l3:1", "8-15"), &on("l3:0", "0-7"));
        assert!(both.comparison.is_some(), "other words may mean other CPUs");
        let better = |better| {
            let mut results = made(12);
            results.better = Some(better);
            results
        };
        let found = baseline(better(Better::Lower), &better(Better::Higher));
        assert_eq!(found.differences, ["better readings: lower, not higher"]);
    }

    #[test]
    fn damaged_bench_results_are_rejected() {
        let refused = |change: &dyn Fn(&mut BenchResults)| {
            let mut results = made(2);
            change(&mut results);
            BenchResults::from_json(&results.to_json()).unwrap_err().to_string()
        };
        assert!(refused(&|results| results.commands.clear()).contains("commands"));
        assert!(refused(&|results| results.runs[0].command = 7).contains("runs[0].command"));
        assert!(refused(&|results| results.runs[0].value = 0.0).contains("above 0"));
        assert!(refused(&|results| results.runs[1].block = 1 << 40).contains("runs[1].block"));
        assert!(refused(&|results| results.confidence = 1.0).contains("confidence"));
        assert!(
            refused(&|results| results.format = "seatmap-bench/9".to_owned())
                .contains("seatmap-bench/9")
        );
    }
}
