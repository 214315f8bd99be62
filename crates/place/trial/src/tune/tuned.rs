//! The `seatmap-tune/1` format: the candidates of a race, every run, and the verdict.
//!
//! The race's figures favour its winner, so fresh runs judge it and the candidates compared with
//! it.

use crate::tune::disturbance::Disturbance;
use crate::tune::document::check_session;
use crate::tune::fingerprint::Fingerprint;
use crate::tune::metric::Better;
use crate::tune::race::{
    Budget, Confirmed, DEFAULT, RaceOutcome, RacePhase, RaceRules, RaceTurn, RunCost,
};
use crate::tune::tried_counts::{CountRun, TriedCounts};
use crate::tune::verdict::percent;
use seatmap_data::document::{self, Checked, DocumentError, inconsistent};
use seatmap_data::statistics::correlation::spearman;
use seatmap_data::statistics::signed_rank;
use seatmap_data::statistics::words::joined;
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-tune/1";

/// Limit on candidates in a document.
pub const MAX_CANDIDATES: usize = 4096;

/// The winner is saved only if its interval excludes a cost above the default's by this share.
pub const SAFE_SHARE: f64 = 0.02;

/// The seats of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CandidateSeats {
    /// No seats: the kernel places the threads, and may move them.
    #[default]
    Free,
    /// The kernel decides among these CPUs.
    Within(String),
    /// One CPU for each thread, in order of creation. With more threads than CPUs, the order
    /// repeats.
    Order(String),
    /// One CPU for each task, as in a plan.
    Placement(Vec<u32>),
    /// A node and CPUs for each rank of a job.
    Ranks(Vec<RankSeat>),
    /// No seats, but a changed kernel switch.
    Kernel(KernelSwitch),
}

/// A kernel switch, on or off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelSwitch {
    /// The name of the switch: `numa-balancing`, `sched-cache`.
    pub switch: String,
    /// Its position.
    pub on: bool,
}

/// The seat of a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankSeat {
    /// Its node, by host name.
    pub node: String,
    /// Its CPUs on that node.
    pub cpus: Vec<u32>,
}

/// A candidate: one way to start and seat the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entrant {
    /// Its name.
    pub name: String,
    /// Its seats.
    pub seats: CandidateSeats,
    /// Its cost estimated by the model; absent without an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<f64>,
    /// The words that name its CPUs (`kind:performance`); absent if none do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The number of threads in the setting that races; absent for the program's own number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Variables that are set for it, each `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Its memory policy, as for `seatmap run --memory`; absent for the kernel's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

impl Entrant {
    /// A candidate that differs from the default only in its seats.
    pub fn new(name: impl Into<String>, seats: CandidateSeats) -> Self {
        Entrant { name: name.into(), seats, ..Entrant::default() }
    }

    /// Whether another candidate has the same seats and settings, but for its number of threads.
    pub fn starts_like(&self, other: &Entrant) -> bool {
        self.seats == other.seats
            && self.variables == other.variables
            && self.memory == other.memory
    }
}

/// A run of the race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RaceRun {
    /// Its phase, block and candidate.
    #[serde(flatten)]
    pub turn: RaceTurn,
    /// The reading, in the metric's unit.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub value: f64,
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// The CPU time taken from it; absent in older documents and on a simulated machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
}

/// The winner's difference from another candidate in fresh runs, in percent of the other's reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfirmedDifference {
    /// The other candidate.
    pub with: usize,
    /// The difference; below 0 if the winner reads less.
    pub percent: f64,
    /// The ends of its interval; absent if there are too few runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_percent: Option<[f64; 2]>,
    /// Groups of four runs.
    pub groups: usize,
}

/// The verdict of a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuneVerdict {
    /// The winner.
    pub winner: usize,
    /// Each candidate's difference from the winner's reading in the race, in percent.
    pub above_winner_percent: Vec<f64>,
    /// The candidates shown to be worse than the best, in order of rejection.
    pub rejected: Vec<usize>,
    /// Complete blocks of the race.
    pub blocks: usize,
    /// The winner compared with the default (unless that won) and with the runner-up.
    pub confirmed: Vec<ConfirmedDifference>,
    /// Whether the winner is worth saving: not the default, no higher cost in fresh runs, and an
    /// interval that excludes 2 % more.
    pub safe: bool,
    /// Spearman's correlation of estimated costs with readings; absent for fewer than three
    /// estimates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_correlation: Option<f64>,
}

/// Messages on a simulated machine, in place of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedMessages {
    /// The model.
    pub machine: String,
    /// The pattern of the messages.
    pub pattern: String,
    /// Bytes of the heaviest edge's message; absent if messages are cache lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_bytes: Option<u32>,
    /// How often all messages were sent.
    pub rounds: u32,
}

/// A race of ways to seat a program, finished or not: the result of `seatmap tune`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tuned {
    /// Name and version of the format.
    pub format: String,
    /// The version of Seatmap.
    pub tool_version: String,
    /// The start of the first run (RFC 3339); absent for a race on a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun: Option<String>,
    /// The program and its arguments; empty for a race on a model.
    pub command: Vec<String>,
    /// The computer and its settings.
    pub fingerprint: Fingerprint,
    /// The simulated messages of a race on a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<SimulatedMessages>,
    /// Kernel features that also move threads or memory, each a sentence.
    #[serde(default)]
    pub rivals: Vec<String>,
    /// Exhausted CPU quotas, as a sentence; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<String>,
    /// The metric, as given on the command line: `time`, `cpu`, `regex:PATTERN`, `command:LINE`,
    /// `perf:EVENT`.
    pub metric: String,
    /// The unit of the readings; empty if unknown.
    #[serde(default)]
    pub unit: String,
    /// Whether lower or higher readings are better.
    pub better: Better,
    /// The confidence of all tests and intervals, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMaximum" = 1)))]
    pub confidence: f64,
    /// The seed of the random orders.
    pub seed: u64,
    /// The limit on runs, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_runs: Option<usize>,
    /// The limit on time in seconds, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_seconds: Option<f64>,
    /// The counts that were tried before the race; absent if none were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<TriedCounts>,
    /// The candidates; the first is the default.
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = MAX_CANDIDATES)))]
    pub candidates: Vec<Entrant>,
    /// All runs, in order.
    pub runs: Vec<RaceRun>,
    /// The verdict; absent until the race is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<TuneVerdict>,
}

impl Tuned {
    pub(crate) fn before(candidates: Vec<Entrant>, fingerprint: Fingerprint) -> Self {
        Tuned {
            format: FORMAT.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            fingerprint,
            metric: "time".to_owned(),
            unit: "s".to_owned(),
            confidence: 0.95,
            seed: 1,
            candidates,
            ..Tuned::default()
        }
    }

    /// The race's rules; its budget is the rest after the search for a number of threads.
    pub fn rules(&self) -> RaceRules {
        let budget = match self.budget() {
            Budget::Runs(runs) => Budget::Runs(runs.saturating_sub(self.search().count())),
            Budget::Seconds(seconds) => {
                let spent: f64 = self.search().map(|run| run.seconds).sum();
                Budget::Seconds((seconds - spent).max(0.0))
            }
        };
        RaceRules {
            candidates: self.candidates.len(),
            budget,
            confidence: self.confidence,
            seed: self.seed,
        }
    }

    /// The budget of all runs.
    pub fn budget(&self) -> Budget {
        match (self.budget_runs, self.budget_seconds) {
            (Some(runs), _) => Budget::Runs(runs),
            (None, seconds) => Budget::Seconds(seconds.unwrap_or(0.0)),
        }
    }

    fn search(&self) -> impl Iterator<Item = &CountRun> {
        self.counts.iter().flat_map(|counts| &counts.runs)
    }

    /// The runs so far, with the search for a number of threads.
    pub fn runs_made(&self) -> usize {
        self.runs.len() + self.search().count()
    }

    /// The time of all runs so far, in seconds.
    pub fn seconds_taken(&self) -> f64 {
        let search = self.search().map(|run| run.seconds);
        search.chain(self.runs.iter().map(|run| run.seconds)).sum()
    }

    /// The CPU time that others took from each run so far, if known.
    pub(crate) fn disturbances(&self) -> impl Iterator<Item = &Disturbance> {
        let search = self.search().filter_map(|run| run.disturbance.as_ref());
        search.chain(self.runs.iter().filter_map(|run| run.disturbance.as_ref()))
    }

    /// The cost of a reading.
    pub fn cost(&self, value: f64, seconds: f64) -> RunCost {
        RunCost { log: self.better.log_cost(value), seconds }
    }

    /// The first difference from an earlier race that prevents reusing its runs.
    pub fn differs_from(&self, then: &Tuned) -> Option<String> {
        let mut words = self.words().into_iter().zip(then.words());
        if let Some(((what, now), (_, then))) = words.find(|(now, then)| now != then) {
            return Some(format!("{what}: {now}, not {then}"));
        }
        let mut both = self.candidates.iter().zip(&then.candidates);
        if both.any(|(now, then)| now.seats != then.seats) {
            return Some("the seats of the candidates".to_owned());
        }
        self.fingerprint.differences(&then.fingerprint).into_iter().next()
    }

    fn words(&self) -> [(&'static str, String); 8] {
        let names = self.candidates.iter().map(|candidate| &candidate.name);
        [
            ("the count", self.counts.as_ref().map_or("none".to_owned(), TriedCounts::in_words)),
            ("the command", self.command.join(" ")),
            ("the metric", self.metric.clone()),
            ("the direction", format!("{:?}", self.better)),
            ("the confidence", self.confidence.to_string()),
            ("the seed", self.seed.to_string()),
            ("the budget", format!("{:?}", self.budget())),
            ("the candidates", joined(names, ", ")),
        ]
    }

    /// Records the outcome of the race.
    pub fn judge(&mut self, outcome: &RaceOutcome) {
        self.verdict = Some(TuneVerdict {
            winner: outcome.winner,
            above_winner_percent: outcome
                .above_winner
                .iter()
                .map(|log| self.percent_of_log(*log))
                .collect(),
            rejected: outcome.rejected.clone(),
            blocks: outcome.blocks,
            confirmed: outcome.confirmed.iter().map(|one| self.difference(one)).collect(),
            safe: outcome.is_safe(SAFE_SHARE),
            rank_correlation: self.rank_correlation(&outcome.above_winner),
        });
    }

    fn difference(&self, confirmed: &Confirmed) -> ConfirmedDifference {
        let centre = signed_rank::centre(&confirmed.differences).unwrap_or(0.0);
        ConfirmedDifference {
            with: confirmed.with,
            percent: self.percent_of_log(centre),
            interval_percent: confirmed.shift.map(|shift| {
                let [a, b] = [shift.low, shift.high].map(|log| self.percent_of_log(log));
                // If higher is better, the ends swap with the sign.
                if a < b { [a, b] } else { [b, a] }
            }),
            groups: confirmed.differences.len(),
        }
    }

    /// If higher is better, a cost is the reciprocal of the reading.
    fn percent_of_log(&self, log: f64) -> f64 {
        let sign = if self.better == Better::Lower { 1.0 } else { -1.0 };
        percent((sign * log).exp())
    }

    fn rank_correlation(&self, measured: &[f64]) -> Option<f64> {
        let known = self
            .candidates
            .iter()
            .zip(measured)
            .filter_map(|(entrant, log)| Some((entrant.predicted?, *log)));
        let (predicted, measured): (Vec<f64>, Vec<f64>) = known.unzip();
        // Two ranks always agree or disagree completely.
        spearman(&predicted, &measured).filter(|_| predicted.len() > 2)
    }

    /// Reads and checks a race.
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let tuned: Tuned = document::read(text, FORMAT)?;
        tuned.check()?;
        Ok(tuned)
    }

    /// The race as JSON with a final newline.
    pub fn to_json(&self) -> String {
        document::written(self)
    }

    fn check(&self) -> Checked {
        let candidates = self.candidates.len();
        if !(2..=MAX_CANDIDATES).contains(&candidates) {
            let most = MAX_CANDIDATES;
            return inconsistent(format!("candidates: {candidates}; a race has 2 to {most}"));
        }
        if self.candidates[DEFAULT].seats != CandidateSeats::Free {
            return inconsistent(
                "candidates[0].seats: the first candidate must be the default (free)",
            );
        }
        check_session(self.runs_made(), self.confidence)?;
        self.counts.as_ref().map_or(Ok(()), TriedCounts::check)?;
        if let Some(at) = self.runs.iter().position(|run| {
            run.turn.candidate >= candidates
                || !(run.value > 0.0 && run.value.is_finite() && run.seconds >= 0.0)
        }) {
            return inconsistent(format!(
                "runs[{at}]: unknown candidate, or a reading not above 0"
            ));
        }
        let Some(verdict) = &self.verdict else { return Ok(()) };
        let confirmed = verdict.confirmed.iter().map(|found| &found.with);
        let mut named = confirmed.chain(&verdict.rejected).chain([&verdict.winner]);
        if verdict.above_winner_percent.len() != candidates || named.any(|at| *at >= candidates) {
            return inconsistent("verdict: it does not match the candidates");
        }
        Ok(())
    }
}

/// The result of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CandidateEnd {
    /// The winner, shown to be better than all candidates compared with it.
    Best,
    /// The winner, but not shown to be better.
    BestInRace,
    /// Shown to be worse than the winner.
    ShownWorse,
    /// Shown to be better than the winner: the race was wrong.
    ShownBetter,
    /// Fresh runs show no difference from the winner.
    NoDifference,
    /// There are too few fresh runs for an interval.
    TooFewRuns,
    /// Dropped before the end of the race, which claims nothing.
    LeftEarly,
    /// In the race until its end.
    NotRejected,
}

/// A candidate at the end of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateResult {
    /// The runs that judge it: the race's, or the groups of four after it.
    pub judged_by: RacePhase,
    /// Their readings.
    pub values: Vec<f64>,
    /// The difference from the winner's reading in the same blocks or groups, in percent of it.
    pub above_winner_percent: f64,
    /// Its result.
    pub end: CandidateEnd,
}

impl Tuned {
    /// The result of a candidate.
    pub fn result_of(&self, verdict: &TuneVerdict, candidate: usize) -> CandidateResult {
        let compared = verdict.confirmed.iter().find(|found| found.with == candidate);
        if let Some(found) = compared {
            return CandidateResult {
                judged_by: RacePhase::Confirm,
                values: self.values(candidate, RacePhase::Confirm),
                above_winner_percent: other_way_round(found.percent),
                end: self.end_of_compared(found),
            };
        }
        let is_winner = candidate == verdict.winner && !verdict.confirmed.is_empty();
        let judged_by = if is_winner { RacePhase::Confirm } else { RacePhase::Race };
        CandidateResult {
            judged_by,
            values: self.values(candidate, judged_by),
            above_winner_percent: verdict.above_winner_percent[candidate],
            end: self.end_by_race(verdict, candidate),
        }
    }

    /// Whether fresh runs show that the winner is better than the default.
    pub fn shows_gain(&self, verdict: &TuneVerdict) -> bool {
        let with_default = verdict.confirmed.iter().find(|found| found.with == DEFAULT);
        with_default.is_some_and(|found| self.end_of_compared(found) == CandidateEnd::ShownWorse)
    }

    fn end_of_compared(&self, found: &ConfirmedDifference) -> CandidateEnd {
        if found.interval_percent.is_none() {
            CandidateEnd::TooFewRuns
        } else if !found.shows_direction() {
            CandidateEnd::NoDifference
        } else if (found.percent < 0.0) == (self.better == Better::Lower) {
            CandidateEnd::ShownWorse
        } else {
            CandidateEnd::ShownBetter
        }
    }

    fn end_by_race(&self, verdict: &TuneVerdict, candidate: usize) -> CandidateEnd {
        if candidate == verdict.winner {
            let mut ends = verdict.confirmed.iter().map(|found| self.end_of_compared(found));
            return if ends.all(|end| end == CandidateEnd::ShownWorse) {
                CandidateEnd::Best
            } else {
                CandidateEnd::BestInRace
            };
        }
        // First, because rejected candidates also lack later blocks.
        if verdict.rejected.contains(&candidate) {
            CandidateEnd::ShownWorse
        } else if self.values(candidate, RacePhase::Race).len() < verdict.blocks {
            CandidateEnd::LeftEarly
        } else {
            CandidateEnd::NotRejected
        }
    }

    fn values(&self, candidate: usize, phase: RacePhase) -> Vec<f64> {
        let runs = self.runs.iter().filter(|run| {
            let turn = run.turn;
            turn.candidate == candidate && turn.phase == phase
        });
        runs.map(|run| run.value).collect()
    }
}

impl ConfirmedDifference {
    /// Whether its interval excludes 0.
    pub fn shows_direction(&self) -> bool {
        self.interval_percent.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}

/// From a difference of a in percent of b to one of b in percent of a.
fn other_way_round(percent: f64) -> f64 {
    100.0 * ((1.0 + percent / 100.0).recip() - 1.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tune::race::race;
    use crate::tune::tried_counts::tests::tried;
    use std::convert::Infallible;

    pub(crate) fn made(better: Better) -> Tuned {
        let entrant =
            |name: &str, seats, predicted| Entrant { predicted, ..Entrant::new(name, seats) };
        let candidates = vec![
            entrant("default", CandidateSeats::Free, None),
            entrant("best", CandidateSeats::Placement(vec![0, 1]), Some(10.0)),
            entrant("compact", CandidateSeats::Order("0,1".to_owned()), Some(12.0)),
            entrant("bad", CandidateSeats::Within("0".to_owned()), Some(30.0)),
        ];
        let fingerprint = Fingerprint {
            machine: "box".to_owned(),
            quiet: "nobody".to_owned(),
            ..Fingerprint::default()
        };
        let mut tuned = Tuned {
            begun: Some("2026-11-23T04:00:00Z".to_owned()),
            command: vec!["server".to_owned()],
            rivals: vec!["NUMA balancing is on".to_owned()],
            better,
            budget_runs: Some(120),
            ..Tuned::before(candidates, fingerprint)
        };
        let mut noise = 0.0;
        let truth = [0.1, 0.0, 0.05, 0.3];
        let mut runs = Vec::new();
        let outcome = race(&tuned.rules(), &mut |turn| {
            noise = (noise + 0.37) % 0.01;
            let cost = truth[turn.candidate] + noise;
            let value = if better == Better::Lower { f64::exp(cost) } else { f64::exp(-cost) };
            runs.push(RaceRun { turn, value, seconds: 1.0, disturbance: None });
            Ok::<_, Infallible>(tuned.cost(value, 1.0))
        });
        tuned.runs = runs;
        tuned.judge(&outcome.unwrap_or_else(|never| match never {}));
        tuned
    }

    #[test]
    fn verdict_follows_direction_of_metric() {
        let lower = made(Better::Lower).verdict.unwrap();
        assert_eq!((lower.winner, lower.safe, lower.rank_correlation), (1, true, Some(1.0)));
        assert!(
            lower.confirmed[0].with == DEFAULT
                && (-11.0..-8.0).contains(&lower.confirmed[0].percent),
            "{lower:?}"
        );
        assert!(lower.above_winner_percent[3] > 30.0);
        let higher = made(Better::Higher).verdict.unwrap();
        assert!(
            higher.winner == 1 && (9.0..12.0).contains(&higher.confirmed[0].percent),
            "{higher:?}"
        );
        let [low, high] = higher.confirmed[0].interval_percent.unwrap();
        assert!(low <= high && higher.above_winner_percent[3] < -20.0);
    }

    #[test]
    fn tuned_ignores_unknown_keys() {
        let tuned = made(Better::Lower);
        let mut document: serde_json::Value = serde_json::from_str(&tuned.to_json()).unwrap();
        // The key of `seats` is the kind of seats, and a new kind needs a new format.
        seatmap_data::document::schema::add_later_keys(&mut document, &["mitigations", "seats"]);
        assert_eq!(Tuned::from_json(&document.to_string()).unwrap(), tuned);
    }

    #[test]
    fn tuned_round_trips_and_rejects_damage() {
        let tuned = made(Better::Lower);
        assert_eq!(Tuned::from_json(&tuned.to_json()).unwrap(), tuned);
        let refused = |change: &dyn Fn(&mut Tuned)| {
            let mut tuned = tuned.clone();
            change(&mut tuned);
            Tuned::from_json(&tuned.to_json()).unwrap_err().to_string()
        };
        assert!(refused(&|tuned| tuned.candidates.truncate(1)).contains("candidates: 1"));
        assert!(refused(&|tuned| tuned.candidates.swap(0, 1)).contains("candidates[0]"));
        assert!(refused(&|tuned| tuned.runs[2].value = -1.0).contains("runs[2]"));
        assert!(refused(&|tuned| tuned.runs[2].turn.candidate = 9).contains("runs[2]"));
        assert!(refused(&|tuned| tuned.verdict.as_mut().unwrap().winner = 9).contains("verdict"));
    }

    #[test]
    fn resume_names_difference_to_earlier_race() {
        let tuned = made(Better::Lower);
        assert_eq!(tuned.differs_from(&tuned), None);
        let differs = |change: &dyn Fn(&mut Tuned)| {
            let mut other = tuned.clone();
            change(&mut other);
            other.differs_from(&tuned).unwrap()
        };
        assert_eq!(differs(&|other| other.seed = 2), "the seed: 2, not 1");
        assert!(
            differs(&|other| other.candidates[1].seats = CandidateSeats::Free).contains("seats")
        );
        assert!(
            differs(&|other| other.fingerprint.kernel = Some("7".to_owned())).contains("kernel: 7")
        );
    }

    #[test]
    fn tuned_schema_describes_every_key() {
        let text = include_str!("../../../../../docs/formats/seatmap-tune-1.schema.json");
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        let nothing: Vec<String> = Vec::new();
        let mut tuned = made(Better::Lower);
        tuned.candidates[1].seats =
            CandidateSeats::Kernel(KernelSwitch { switch: "numa-balancing".to_owned(), on: true });
        tuned.candidates[2].seats =
            CandidateSeats::Ranks(vec![RankSeat { node: "n3".to_owned(), cpus: vec![0, 1] }]);
        tuned.candidates[3] = Entrant {
            words: Some("kind:performance".to_owned()),
            count: Some(4),
            variables: vec!["OMP_WAIT_POLICY=passive".to_owned()],
            memory: Some("interleave".to_owned()),
            ..tuned.candidates[3].clone()
        };
        tuned.counts = Some(tried(|count| (count as usize, 1.0, 1.0)));
        tuned.simulated = Some(SimulatedMessages {
            machine: "cell-qs20".to_owned(),
            pattern: "ring:8".to_owned(),
            packet_bytes: Some(4096),
            rounds: 4,
        });
        let document = serde_json::to_value(tuned).unwrap();
        assert_eq!(seatmap_data::document::schema::refused(&schema, &document), nothing);
    }

    #[test]
    fn fresh_runs_judge_compared_candidates_and_race_others() {
        for better in [Better::Lower, Better::Higher] {
            let tuned = made(better);
            let verdict = tuned.verdict.as_ref().unwrap();
            let [default, best, compact, bad] = [0, 1, 2, 3].map(|at| tuned.result_of(verdict, at));
            assert_eq!(
                (best.judged_by, best.end, best.above_winner_percent),
                (RacePhase::Confirm, CandidateEnd::Best, 0.0)
            );
            for compared in [&default, &compact] {
                assert_eq!(
                    (compared.judged_by, compared.end),
                    (RacePhase::Confirm, CandidateEnd::ShownWorse)
                );
                assert!(!compared.values.is_empty());
            }
            assert_eq!((bad.judged_by, bad.end), (RacePhase::Race, CandidateEnd::ShownWorse));
            // 10.5 % more time, or a rate lower by 9.5 %.
            let above = if better == Better::Lower { 10.5 } else { -9.5 };
            assert!((default.above_winner_percent - above).abs() < 1.0, "{default:?}");
            assert!(tuned.shows_gain(verdict));
        }
    }

    #[test]
    fn unconfirmed_difference_claims_no_gain() {
        let mut tuned = made(Better::Lower);
        let mut verdict = tuned.verdict.take().unwrap();
        verdict.rejected.push(DEFAULT);
        verdict.confirmed[0].percent = -0.2;
        verdict.confirmed[0].interval_percent = Some([-0.9, 0.4]);
        let default = tuned.result_of(&verdict, DEFAULT);
        assert_eq!(default.end, CandidateEnd::NoDifference);
        assert!((default.above_winner_percent - 0.2).abs() < 0.01, "{default:?}");
        assert_eq!(tuned.result_of(&verdict, verdict.winner).end, CandidateEnd::BestInRace);
        assert!(verdict.safe && !tuned.shows_gain(&verdict));
        verdict.confirmed[0].percent = 3.0;
        verdict.confirmed[0].interval_percent = Some([2.0, 4.0]);
        assert_eq!(tuned.result_of(&verdict, DEFAULT).end, CandidateEnd::ShownBetter);
        verdict.confirmed[0].interval_percent = None;
        assert_eq!(tuned.result_of(&verdict, DEFAULT).end, CandidateEnd::TooFewRuns);
        assert!(!tuned.shows_gain(&verdict));
    }
}
