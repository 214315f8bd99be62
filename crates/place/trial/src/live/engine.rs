//! The decisions about the seats of a living program, without a clock and without a system call.
//!
//! Each candidate is tried in alternating periods: without seats, with, with, without, and so on,
//! so that a program that becomes faster or slower by itself does so in both. Neighbours give the
//! logarithm of a ratio, and all ratios an interval by signed ranks
//! ([`seatmap_data::statistics::signed_rank`]). Seats are kept if the whole interval says that they
//! are better; several candidates share the error that one is allowed (Bonferroni). Seats that are
//! kept stay until they are shown to be worse, or until the pattern changes; after a failure the
//! pattern must have changed too, and the program is left alone for a time that doubles. So chance
//! cannot make the seats flap.

use crate::live::event::{CandidateVerdict, Decision, ProgramEvent, RateGain, Why, on_file};
use seatmap_data::invariant;
use seatmap_data::statistics::{median, signed_rank};
use serde::{Deserialize, Serialize};

/// The order of a group of periods: whether each is with seats.
const GROUP: [bool; 4] = [false, true, true, false];

/// A candidate is left early if, after so many pairs, the (upper) median of its ratios is below
/// this share. A trial costs a program mostly the time with bad seats, and to leave them claims
/// nothing.
const EARLY: [(usize, f64); 2] = [(2, 0.7), (4, 0.9)];

/// The longest time between two attempts, and between two checks of seats that are kept.
const LONGEST_S: f64 = 1024.0;

/// The name of this part in a report of a mistake.
const ENGINE: &str = "engine of live seats";

/// The numbers that the decisions depend on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionRules {
    /// The confidence of a claim, over all candidates of an attempt.
    pub confidence: f64,
    /// The pairs of periods that each candidate gets.
    pub pairs: usize,
    /// The least gain that is worth seats: 0.01 is one percent.
    pub least_gain: f64,
    /// The distance of patterns from which the program does something else.
    pub changed: f64,
    /// How long the program is left alone between two looks, in seconds.
    pub rest_s: f64,
    /// The time after a first failure before another attempt, in seconds.
    pub patience_s: f64,
    /// The time after which seats that are kept are tried again, at first, in seconds.
    pub recheck_s: f64,
}

impl Default for DecisionRules {
    fn default() -> Self {
        DecisionRules {
            confidence: 0.95,
            pairs: 10,
            least_gain: 0.01,
            changed: 0.3,
            rest_s: 2.0,
            patience_s: 8.0,
            recheck_s: 64.0,
        }
    }
}

/// A candidate on trial.
#[derive(Clone, Debug, PartialEq)]
struct Trial {
    candidate: usize,
    /// Whether the seats are kept already, and are only tried again.
    is_recheck: bool,
    readings: Vec<Option<f64>>,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Observing,
    Trying(Trial),
    /// With seats or without, for so long since the last attempt.
    Resting {
        kept: Option<usize>,
        rested_s: f64,
    },
    Over,
}

/// The state machine. It is told what happened and answers what to do; the last decision of an
/// answer is the next thing to do, and those before it say what was found.
#[derive(Clone, Debug)]
pub struct LiveEngine {
    rules: DecisionRules,
    state: State,
    candidates: usize,
    /// The best candidate of this attempt that is shown to be better, with its ratio.
    best: Option<(usize, f64)>,
    patience_s: f64,
    recheck_s: f64,
}

impl LiveEngine {
    /// A new engine; the first thing to do is [`Decision::Observe`].
    #[must_use]
    pub fn new(rules: DecisionRules) -> Self {
        let DecisionRules { patience_s, recheck_s, .. } = rules;
        LiveEngine {
            rules,
            state: State::Observing,
            candidates: 0,
            best: None,
            patience_s,
            recheck_s,
        }
    }

    /// The decisions that follow from an event. An event that does not answer the last decision
    /// ends it all.
    pub fn take(&mut self, event: &ProgramEvent) -> Vec<Decision> {
        let state = std::mem::replace(&mut self.state, State::Over);
        let decisions = match (state, event) {
            (State::Observing, ProgramEvent::Observed { candidates, .. }) => {
                self.observed(candidates.len())
            }
            (State::Trying(trial), ProgramEvent::Read { rate }) => self.read(trial, *rate),
            (State::Resting { kept, rested_s }, ProgramEvent::Watched { distance }) => {
                self.watched(kept, rested_s, *distance)
            }
            _ => vec![Decision::Finish],
        };
        self.check(&decisions);
        decisions
    }

    /// After each event, whatever it says, the last decision is the one that the state waits for,
    /// and candidates are those of this attempt.
    fn check(&self, decisions: &[Decision]) {
        let candidate = match &self.state {
            State::Trying(trial) => Some(trial.candidate),
            State::Resting { kept, .. } => *kept,
            State::Observing | State::Over => None,
        };
        invariant!(
            candidate.is_none_or(|candidate| candidate < self.candidates),
            ENGINE,
            "candidate {candidate:?} of {} is tried or kept",
            self.candidates
        );
        let is_answered = matches!(
            (&self.state, decisions.last()),
            (State::Observing, Some(Decision::Observe))
                | (State::Trying(_), Some(Decision::Measure { .. }))
                | (State::Resting { .. }, Some(Decision::Rest { .. }))
                | (State::Over, Some(Decision::Finish))
        );
        invariant!(is_answered, ENGINE, "it is {:?} after it decided {decisions:?}", self.state);
    }

    fn observed(&mut self, candidates: usize) -> Vec<Decision> {
        (self.candidates, self.best) = (candidates, None);
        match candidates {
            0 => self.put_back(Vec::new(), Why::NoCandidates),
            _ => self.try_next(0, Vec::new()),
        }
    }

    fn try_next(&mut self, candidate: usize, mut said: Vec<Decision>) -> Vec<Decision> {
        self.state = State::Trying(Trial { candidate, is_recheck: false, readings: Vec::new() });
        said.push(Decision::Measure { candidate: None });
        said
    }

    fn read(&mut self, mut trial: Trial, rate: Option<f64>) -> Vec<Decision> {
        trial.readings.push(rate);
        let Some((verdict, gain)) = self.judged(&trial) else {
            let is_seated = GROUP[trial.readings.len() % GROUP.len()];
            let candidate = is_seated.then_some(trial.candidate);
            self.state = State::Trying(trial);
            return vec![Decision::Measure { candidate }];
        };
        let said = vec![Decision::Tried { candidate: trial.candidate, verdict, gain }];
        if trial.is_recheck {
            self.rechecked(&trial, verdict, said)
        } else {
            self.tried(&trial, verdict, gain, said)
        }
    }

    /// The judgement of a trial, once it has one.
    fn judged(&self, trial: &Trial) -> Option<(CandidateVerdict, Option<RateGain>)> {
        let pairs = pairs(&trial.readings);
        let whole = trial.readings.len() / 2;
        if whole < self.rules.pairs {
            // Seats that are kept were shown to be better, and a few bad pairs do not refute that.
            return (!trial.is_recheck && is_dire(&pairs))
                .then_some((CandidateVerdict::LeftEarly, None));
        }
        let logs: Vec<f64> = pairs.iter().map(|(free, seated)| (seated / free).ln()).collect();
        // A recheck is one claim, whatever the number of candidates.
        let tried = if trial.is_recheck { 1 } else { self.candidates.max(1) };
        let confidence = 1.0 - (1.0 - self.rules.confidence) / tried as f64;
        let Some(shift) = signed_rank::shift(&logs, confidence) else {
            return Some((CandidateVerdict::Unread, None));
        };
        let (free, seated): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let gain = RateGain {
            ratio: on_file(shift.centre.exp()),
            low: on_file(shift.low.exp()),
            high: on_file(shift.high.exp()),
            free: on_file(median(&free).unwrap_or(0.0)),
            seated: on_file(median(&seated).unwrap_or(0.0)),
            pairs: pairs.len(),
        };
        let verdict = match () {
            () if gain.low > 1.0 && gain.ratio >= 1.0 + self.rules.least_gain => {
                CandidateVerdict::Better
            }
            () if gain.high < 1.0 => CandidateVerdict::Worse,
            () => CandidateVerdict::NotShown,
        };
        Some((verdict, Some(gain)))
    }

    fn tried(
        &mut self,
        trial: &Trial,
        verdict: CandidateVerdict,
        gain: Option<RateGain>,
        said: Vec<Decision>,
    ) -> Vec<Decision> {
        let ratio = gain.map_or(0.0, |gain| gain.ratio);
        if verdict == CandidateVerdict::Better && self.best.is_none_or(|(_, best)| ratio > best) {
            self.best = Some((trial.candidate, ratio));
        }
        match (trial.candidate + 1, self.best) {
            (next, _) if next < self.candidates => self.try_next(next, said),
            (_, Some((best, _))) => {
                self.patience_s = self.rules.patience_s;
                self.recheck_s = self.rules.recheck_s;
                self.keep(best, said)
            }
            (_, None) => self.put_back(said, Why::NoneBetter),
        }
    }

    fn rechecked(
        &mut self,
        trial: &Trial,
        verdict: CandidateVerdict,
        said: Vec<Decision>,
    ) -> Vec<Decision> {
        if verdict == CandidateVerdict::Worse {
            return self.put_back(said, Why::WorseNow);
        }
        self.recheck_s = (2.0 * self.recheck_s).min(LONGEST_S);
        self.keep(trial.candidate, said)
    }

    fn keep(&mut self, candidate: usize, mut said: Vec<Decision>) -> Vec<Decision> {
        self.state = State::Resting { kept: Some(candidate), rested_s: 0.0 };
        said.extend([Decision::Keep { candidate }, Decision::Rest { seconds: self.rules.rest_s }]);
        said
    }

    fn put_back(&mut self, mut said: Vec<Decision>, why: Why) -> Vec<Decision> {
        self.state = State::Resting { kept: None, rested_s: 0.0 };
        said.extend([Decision::PutBack { why }, Decision::Rest { seconds: self.rules.rest_s }]);
        said
    }

    fn watched(&mut self, kept: Option<usize>, rested_s: f64, distance: f64) -> Vec<Decision> {
        let rested_s = rested_s + self.rules.rest_s;
        let has_changed = distance > self.rules.changed;
        match kept {
            Some(_) if has_changed => {
                self.state = State::Observing;
                vec![Decision::PutBack { why: Why::PatternChanged }, Decision::Observe]
            }
            Some(candidate) if rested_s >= self.recheck_s => {
                self.state =
                    State::Trying(Trial { candidate, is_recheck: true, readings: Vec::new() });
                vec![Decision::Measure { candidate: None }]
            }
            None if has_changed && rested_s >= self.patience_s => {
                self.patience_s = (2.0 * self.patience_s).min(LONGEST_S);
                self.state = State::Observing;
                vec![Decision::Observe]
            }
            kept => {
                self.state = State::Resting { kept, rested_s };
                vec![Decision::Rest { seconds: self.rules.rest_s }]
            }
        }
    }
}

/// Whether a candidate is so bad in its first pairs that the rest is not worth its cost.
fn is_dire(pairs: &[(f64, f64)]) -> bool {
    let mut ratios: Vec<f64> = pairs.iter().map(|(free, seated)| seated / free).collect();
    ratios.sort_by(f64::total_cmp);
    // Of two pairs the better one, of three or four the second best.
    let Some(&upper) = ratios.get(ratios.len() / 2) else { return false };
    EARLY.into_iter().any(|(least, share)| pairs.len() >= least && upper < share)
}

/// The rates without seats and with them of each pair of neighbours in which the program worked.
fn pairs(readings: &[Option<f64>]) -> Vec<(f64, f64)> {
    readings
        .chunks(2)
        .enumerate()
        .filter_map(|(at, pair)| {
            let first = (*pair.first()?)?;
            let second = (*pair.get(1)?)?;
            // In every other pair the period with seats comes first.
            let (free, seated) =
                if GROUP[2 * at % GROUP.len()] { (second, first) } else { (first, second) };
            (free > 0.0 && seated > 0.0).then_some((free, seated))
        })
        .collect()
}

#[cfg(test)]
mod tests;
