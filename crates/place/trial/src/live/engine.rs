//! Decides about the seats of a running program, without a clock or system calls.
//!
//! Each candidate is tried in alternating periods (without, with, with, without seats), so that a
//! trend affects both alike. Pairs of consecutive periods give log ratios, and signed ranks their
//! interval ([`seatmap_data::statistics::signed_rank`]). Seats are kept if the whole interval says
//! that they are better; several candidates share the error allowed for one (Bonferroni). Kept
//! seats stay until shown to be worse or the pattern changes. After a failure the next attempt
//! needs a changed pattern and a pause, which doubles each time, so that seats do not flap by
//! chance.

use crate::live::event::{CandidateVerdict, Decision, ProgramEvent, RateGain, Why, on_file};
use seatmap_data::invariant;
use seatmap_data::statistics::trial::each;
use seatmap_data::statistics::{median, signed_rank};
use serde::{Deserialize, Serialize};

/// Whether each period of a group has seats.
const GROUP: [bool; 4] = [false, true, true, false];

/// After this number of pairs, a candidate is dropped if the upper median of its ratios is below
/// this share: bad seats cost most of a trial.
const EARLY: [(usize, f64); 2] = [(2, 0.7), (4, 0.9)];

/// In `bench/advise/shared`, smaller gains of both switches and user time were not always a gain of
/// work.
const LEAST_GAIN_OF_SWITCHES: f64 = 0.3;

/// In seconds of CPU per second: one tick.
const LEAST_USER: f64 = 0.01;

/// The longest pause between attempts, or between checks of kept seats.
const LONGEST_S: f64 = 1024.0;

const ENGINE: &str = "engine of live seats";

/// The parameters of the decisions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionRules {
    /// The confidence of a claim, over all candidates of an attempt.
    pub confidence: f64,
    /// The pairs of periods for each candidate.
    pub pairs: usize,
    /// The least gain that justifies seats: 0.01 is 1 %.
    pub least_gain: f64,
    /// The distance from which a pattern counts as changed.
    pub changed: f64,
    /// The pause between two observations, in seconds.
    pub rest_s: f64,
    /// The time from a first failed attempt to the next one, in seconds.
    pub patience_s: f64,
    /// The time until kept seats are first tried again, in seconds.
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

#[derive(Clone, Debug, PartialEq)]
struct Trial {
    candidate: usize,
    is_recheck: bool,
    readings: Vec<Option<Reading>>,
}

/// The rates of a period.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    rate: f64,
    user: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Observing,
    Trying(Trial),
    /// The time since the last attempt.
    Resting {
        kept: Option<usize>,
        rested_s: f64,
    },
    Over,
}

/// Takes events and returns decisions: the last one is the next step, those before it are results.
#[derive(Clone, Debug)]
pub struct LiveEngine {
    rules: DecisionRules,
    state: State,
    candidates: usize,
    /// The best candidate shown to be better so far, and its ratio.
    best: Option<(usize, f64)>,
    patience_s: f64,
    recheck_s: f64,
    said: Vec<Decision>,
}

impl LiveEngine {
    /// A new engine; its first decision is [`Decision::Observe`].
    pub fn new(rules: DecisionRules) -> Self {
        let DecisionRules { patience_s, recheck_s, .. } = rules;
        LiveEngine {
            rules,
            state: State::Observing,
            candidates: 0,
            best: None,
            patience_s,
            recheck_s,
            said: Vec::new(),
        }
    }

    /// The decisions after an event. One that does not match the last decision ends the session.
    pub fn take(&mut self, event: &ProgramEvent) -> Vec<Decision> {
        let state = std::mem::replace(&mut self.state, State::Over);
        match (state, event) {
            (State::Observing, ProgramEvent::Observed { candidates, .. }) => {
                self.observed(candidates.len())
            }
            (State::Trying(trial), ProgramEvent::Read { rate, user }) => {
                self.read(trial, rate.map(|rate| Reading { rate, user: *user }))
            }
            (State::Resting { kept, rested_s }, ProgramEvent::Watched { distance }) => {
                self.watched(kept, rested_s, *distance)
            }
            _ => self.said.push(Decision::Finish),
        }
        let decisions = std::mem::take(&mut self.said);
        self.check(&decisions);
        decisions
    }

    /// The state must wait for the last decision, with a candidate of this attempt.
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

    fn observed(&mut self, candidates: usize) {
        (self.candidates, self.best) = (candidates, None);
        match candidates {
            0 => self.put_back(Why::NoCandidates),
            _ => self.begin(0, false),
        }
    }

    fn begin(&mut self, candidate: usize, is_recheck: bool) {
        self.state = State::Trying(Trial { candidate, is_recheck, readings: Vec::new() });
        self.said.push(Decision::Measure { candidate: None });
    }

    fn read(&mut self, mut trial: Trial, reading: Option<Reading>) {
        trial.readings.push(reading);
        let Some((verdict, gain)) = self.judged(&trial) else {
            let is_seated = GROUP[trial.readings.len() % GROUP.len()];
            let candidate = is_seated.then_some(trial.candidate);
            self.state = State::Trying(trial);
            return self.said.push(Decision::Measure { candidate });
        };
        self.said.push(Decision::Tried { candidate: trial.candidate, verdict, gain });
        if trial.is_recheck {
            self.rechecked(&trial, verdict)
        } else {
            self.tried(&trial, verdict, gain)
        }
    }

    fn judged(&self, trial: &Trial) -> Option<(CandidateVerdict, Option<RateGain>)> {
        let pairs = pairs(&trial.readings);
        let whole = trial.readings.len() / 2;
        if whole < self.rules.pairs {
            // A few bad pairs do not refute seats shown to be better.
            return (!trial.is_recheck && is_dire(&pairs))
                .then_some((CandidateVerdict::LeftEarly, None));
        }
        let logs: Vec<f64> = pairs.iter().map(|pair| pair.ratio().ln()).collect();
        // A recheck is one claim.
        let tried = if trial.is_recheck { 1 } else { self.candidates };
        let Some(shift) = signed_rank::shift(&logs, each(self.rules.confidence, tried)) else {
            return Some((CandidateVerdict::Unread, None));
        };
        let median = |of: fn(&Pair) -> f64| on_file(median(pairs.iter().map(of)).unwrap_or(0.0));
        let gain = RateGain {
            ratio: on_file(shift.centre.exp()),
            low: on_file(shift.low.exp()),
            high: on_file(shift.high.exp()),
            free: median(|pair| pair.free.rate),
            seated: median(|pair| pair.seated.rate),
            pairs: pairs.len(),
        };
        let has_user_time = pairs.iter().any(|pair| pair.free.user.is_some());
        let least = if has_user_time { LEAST_GAIN_OF_SWITCHES } else { self.rules.least_gain };
        let verdict = match () {
            () if gain.low > 1.0 && gain.ratio >= 1.0 + least => CandidateVerdict::Better,
            () if gain.high < 1.0 => CandidateVerdict::Worse,
            () => CandidateVerdict::NotShown,
        };
        Some((verdict, Some(gain)))
    }

    fn tried(&mut self, trial: &Trial, verdict: CandidateVerdict, gain: Option<RateGain>) {
        let ratio = gain.map_or(0.0, |gain| gain.ratio);
        if verdict == CandidateVerdict::Better && self.best.is_none_or(|(_, best)| ratio > best) {
            self.best = Some((trial.candidate, ratio));
        }
        match (trial.candidate + 1, self.best) {
            (next, _) if next < self.candidates => self.begin(next, false),
            (_, Some((best, _))) => {
                self.patience_s = self.rules.patience_s;
                self.recheck_s = self.rules.recheck_s;
                self.rest(Some(best), Decision::Keep { candidate: best })
            }
            (_, None) => self.put_back(Why::NoneBetter),
        }
    }

    fn rechecked(&mut self, trial: &Trial, verdict: CandidateVerdict) {
        if verdict == CandidateVerdict::Worse {
            return self.put_back(Why::WorseNow);
        }
        self.recheck_s = (2.0 * self.recheck_s).min(LONGEST_S);
        let candidate = trial.candidate;
        self.rest(Some(candidate), Decision::Keep { candidate });
    }

    fn put_back(&mut self, why: Why) {
        self.rest(None, Decision::PutBack { why });
    }

    fn rest(&mut self, kept: Option<usize>, result: Decision) {
        self.state = State::Resting { kept, rested_s: 0.0 };
        self.said.extend([result, Decision::Rest { seconds: self.rules.rest_s }]);
    }

    fn watched(&mut self, kept: Option<usize>, rested_s: f64, distance: f64) {
        let rested_s = rested_s + self.rules.rest_s;
        let has_changed = distance > self.rules.changed;
        match kept {
            Some(_) if has_changed => {
                self.state = State::Observing;
                let why = Why::PatternChanged;
                self.said.extend([Decision::PutBack { why }, Decision::Observe]);
            }
            Some(candidate) if rested_s >= self.recheck_s => self.begin(candidate, true),
            None if has_changed && rested_s >= self.patience_s => {
                self.patience_s = (2.0 * self.patience_s).min(LONGEST_S);
                self.state = State::Observing;
                self.said.push(Decision::Observe);
            }
            kept => {
                self.state = State::Resting { kept, rested_s };
                self.said.push(Decision::Rest { seconds: self.rules.rest_s });
            }
        }
    }
}

/// Consecutive periods, in both of which the program worked.
struct Pair {
    free: Reading,
    seated: Reading,
}

impl Pair {
    /// The seats' rate, or user time if that grew less.
    fn ratio(&self) -> f64 {
        let rate = self.seated.rate / self.free.rate;
        let user = self.seated.user.zip(self.free.user);
        user.map_or(rate, |(seated, free)| rate.min(seated.max(LEAST_USER) / free.max(LEAST_USER)))
    }
}

fn is_dire(pairs: &[Pair]) -> bool {
    let mut ratios: Vec<f64> = pairs.iter().map(Pair::ratio).collect();
    ratios.sort_by(f64::total_cmp);
    // The better of two pairs, or the second best of three or four.
    let Some(&upper) = ratios.get(ratios.len() / 2) else { return false };
    EARLY.into_iter().any(|(least, share)| pairs.len() >= least && upper < share)
}

fn pairs(readings: &[Option<Reading>]) -> Vec<Pair> {
    readings
        .chunks(2)
        .enumerate()
        .filter_map(|(at, pair)| {
            let first = (*pair.first()?)?;
            let second = (*pair.get(1)?)?;
            // In every other pair the period with seats comes first.
            let (free, seated) =
                if GROUP[2 * at % GROUP.len()] { (second, first) } else { (first, second) };
            (free.rate > 0.0 && seated.rate > 0.0).then_some(Pair { free, seated })
        })
        .collect()
}

#[cfg(test)]
mod tests;
