//! `seatmap-bench/1`: what was run, where, and what the runs say.

use crate::blocks::{self, Run};
use crate::fingerprint::Fingerprint;
use crate::metric::Better;
use crate::verdict::{self, Comparison, Floor};
use seatmap_document::DocumentError;
use seatmap_statistics::{median, signed_rank};
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-bench/1";

/// More runs than anybody waits for; a file that claims more would only fill the memory.
pub const MAX_RUNS: usize = 1 << 20;

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Its name: as given, or the command itself.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The median of its readings; absent where it never ran to an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
}

/// The seats of the commands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeatsUsed {
    /// The CPUs, as a list.
    pub cpus: String,
    /// Remarks from their choice, each as a sentence.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The result of `seatmap bench`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`FORMAT`].
    pub format: String,
    /// The version of Seatmap.
    pub tool_version: String,
    /// When the first block began, as RFC 3339 has it.
    pub begun: String,
    /// Whether all blocks that were asked for were run.
    pub complete: bool,
    /// The computer and its settings.
    pub fingerprint: Fingerprint,
    /// The metric, as it was typed.
    pub metric: String,
    /// The unit of the readings; empty where it is not known.
    #[serde(default)]
    pub unit: String,
    /// The better readings; absent where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The confidence of all intervals, 0 to 1.
    pub confidence: f64,
    /// The seed of the order of the runs.
    pub seed: u64,
    /// The seats.
    pub seats: SeatsUsed,
    /// The commands; the first is compared with each of the others.
    pub commands: Vec<Command>,
    /// The smallest difference that could be shown; absent for fewer than two blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itself: Option<Floor>,
    /// The first command against each of the others.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// Every run, in the order of time.
    pub runs: Vec<Run>,
}

impl Results {
    /// Adds a run; [`Results::judge`] computes the rest from all runs.
    pub fn add(&mut self, run: Run) {
        self.runs.push(run);
    }

    /// Computes medians, floor and comparisons from the runs.
    pub fn judge(&mut self) {
        let blocks = self.blocks();
        self.itself = verdict::floor(&blocks, self.seed);
        self.comparisons = verdict::comparisons(&blocks, self.confidence, self.better);
        for at in 0..self.commands.len() {
            self.commands[at].median = median(&self.values(at));
        }
    }

    /// The readings of each complete block.
    #[must_use]
    pub fn blocks(&self) -> Vec<Vec<f64>> {
        blocks::complete(&self.runs, self.commands.len())
    }

    /// The readings of a command, in the order of time.
    #[must_use]
    pub fn values(&self, command: usize) -> Vec<f64> {
        self.runs.iter().filter(|run| run.command == command).map(|run| run.value).collect()
    }

    /// The first command against the first one of an earlier result: a ratio with its interval. The two did not run
    /// in the same blocks, so that the drift between the two days is in it.
    #[must_use]
    pub fn since(&self, then: &Results) -> Option<Comparison> {
        let logs = |results: &Results| -> Vec<f64> { results.values(0).iter().map(|value| value.ln()).collect() };
        let shift = signed_rank::between(&logs(then), &logs(self), self.confidence)?;
        Some(Comparison::of_shift(0, &shift, self.better))
    }

    /// Reads a result and checks that its parts fit together.
    ///
    /// # Errors
    /// [`DocumentError`], with line and column for text that is not such JSON.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let results: Results = seatmap_document::read(text, FORMAT)?;
        results.check()?;
        Ok(results)
    }

    /// The result as JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        seatmap_document::written(self)
    }

    fn check(&self) -> Result<(), DocumentError> {
        let wrong = |what: String| Err(DocumentError::Inconsistent(what));
        if self.commands.is_empty() {
            return wrong("commands: there are none".to_owned());
        }
        if self.runs.len() > MAX_RUNS {
            return wrong(format!("runs: {}, and no more than {MAX_RUNS} are read", self.runs.len()));
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return wrong(format!("confidence: {} is not between 0 and 1", self.confidence));
        }
        for (at, run) in self.runs.iter().enumerate() {
            if run.command >= self.commands.len() {
                return wrong(format!("runs[{at}].command: {} of {} commands", run.command, self.commands.len()));
            }
            if !(run.value > 0.0 && run.value.is_finite()) {
                return wrong(format!("runs[{at}].value: {} is not above 0", run.value));
            }
            if run.block > self.runs.len() {
                return wrong(format!("runs[{at}].block: {} of {} runs", run.block, self.runs.len()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A result of two commands, the second 5 % slower, in this many blocks.
    pub(crate) fn made(count: usize) -> Results {
        let run = |block, command, again| {
            let noise = 1.0 + 0.002 * ((block * 5 + command * 3 + usize::from(again)) % 7) as f64;
            let value = noise * if command == 1 { 1.05 } else { 1.0 };
            Run { block, command, again, value, seconds: value }
        };
        let named = |name: &str| Command { name: name.to_owned(), command: vec![name.to_owned()], median: None };
        let mut results = Results {
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
            seats: SeatsUsed { cpus: "0-1".to_owned(), notes: Vec::new() },
            commands: vec![named("old"), named("new")],
            itself: None,
            comparisons: Vec::new(),
            runs: Vec::new(),
        };
        for block in 0..count {
            for (command, again) in [(0, true), (1, false), (0, false)] {
                results.add(run(block, command, again));
            }
        }
        results.judge();
        results
    }

    #[test]
    fn results_are_judged_and_read_back() {
        let results = made(12);
        assert_eq!(results.comparisons[0].verdict, crate::Verdict::Better);
        assert!(results.itself.as_ref().unwrap().floor_percent < 1.0);
        assert_eq!(Results::from_json(&results.to_json()).unwrap(), results);
    }

    #[test]
    fn the_same_on_another_day_shows_no_difference() {
        let since = made(12).since(&made(12)).unwrap();
        assert_eq!(since.verdict, crate::Verdict::NotShown);
        let mut slower = made(12);
        slower.runs.iter_mut().for_each(|run| run.value *= 1.2);
        assert_eq!(slower.since(&made(12)).unwrap().verdict, crate::Verdict::Worse);
        assert_eq!(made(1).since(&made(12)), None);
    }

    #[test]
    fn damaged_results_are_refused() {
        let refused = |change: &dyn Fn(&mut Results)| {
            let mut results = made(2);
            change(&mut results);
            Results::from_json(&results.to_json()).unwrap_err().to_string()
        };
        assert!(refused(&|results| results.commands.clear()).contains("commands"));
        assert!(refused(&|results| results.runs[0].command = 7).contains("runs[0].command"));
        assert!(refused(&|results| results.runs[0].value = 0.0).contains("above 0"));
        assert!(refused(&|results| results.runs[1].block = 1 << 40).contains("runs[1].block"));
        assert!(refused(&|results| results.confidence = 1.0).contains("confidence"));
        assert!(refused(&|results| results.format = "seatmap-bench/9".to_owned()).contains("seatmap-bench/9"));
    }
}
