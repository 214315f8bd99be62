//! The results of a trial.

use seatmap_data::statistics::signed_rank;
use seatmap_os::Tid;
use seatmap_trial::live::SeatCandidate;
use seatmap_trial::live::event::CandidateVerdict as Judgement;
use serde::{Deserialize, Serialize};

/// A smaller gain, in percent, is not worth the effort.
const LEAST_GAIN_PERCENT: f64 = 2.0;

/// The least gain, in percent, by switches and user time, which do not follow the work exactly:
/// four threads that take turns by a broadcast did 20 % less with 25 % more of both
/// (`bench/advise/shared`).
const LEAST_INDIRECT_GAIN_PERCENT: f64 = 30.0;

/// A trial with a smaller share of counted rounds tells nothing.
const LEAST_COUNTED: f64 = 0.5;

/// Switches that change by this much, in percent, say something about the work.
const UNCLEAR_PERCENT: f64 = 10.0;

/// User time that falls by less, in percent, does not show that less work was done.
const SAME_TIME_PERCENT: f64 = 5.0;

/// The result of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialResult {
    /// The unit of the work: `bytes`, or the metric.
    pub work: String,
    /// The duration, in seconds.
    pub seconds: f64,
    /// The complete rounds.
    pub rounds: usize,
    /// The rounds that count.
    pub counted: usize,
    /// The default compared with itself; null if too few rounds count.
    pub control: Option<RateDifference>,
    /// The candidates.
    pub candidates: Vec<TriedSeats>,
    /// Threads whose masks the kernel refused to change.
    pub refused: usize,
    /// Seated threads.
    #[serde(default)]
    pub seated: usize,
    /// Seated threads that exited during the trial.
    #[serde(default)]
    pub gone: usize,
    /// Whether the program exited.
    pub has_ended: bool,
}

/// Seats that were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedSeats {
    /// The seats.
    pub candidate: SeatCandidate,
    /// The threads, in the order of the seats.
    pub tids: Vec<Tid>,
    /// The work compared with the default; null if too few rounds count. Covers the repetition and
    /// all measures of the work.
    pub difference: Option<RateDifference>,
    /// The voluntary switches, if the work is measured by them and the user time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<RateDifference>,
    /// The user time, if the work is measured by it and the switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_time: Option<RateDifference>,
    /// The best candidate, tried again after a pause; null for others, or if the program ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RateDifference>,
}

/// A ratio of rates of work, with an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateDifference {
    /// The gain over the default, in percent; negative for a loss.
    pub percent: f64,
    /// The lower end of the interval.
    pub low_percent: f64,
    /// The upper end of the interval.
    pub high_percent: f64,
}

impl TrialResult {
    /// Whether the rounds differ too much for any claim.
    pub fn is_void(&self) -> bool {
        self.control.is_none() || (self.counted as f64) < LEAST_COUNTED * self.rounds as f64
    }

    /// Whether most seated threads exited, so that others do the work.
    pub fn lost_its_threads(&self) -> bool {
        2 * self.gone > self.seated
    }

    /// Whether the default differed from itself, which prevents any claim.
    pub fn drifts(&self) -> bool {
        self.control.is_some_and(|control| control.judgement() != Judgement::NotShown)
    }

    /// The best candidate among those shown to be better.
    pub fn best(&self) -> Option<&TriedSeats> {
        let best = self.best_by(|tried| tried.difference)?;
        Some(&self.candidates[best])
    }

    /// The best candidate that may be better; the repetition decides.
    pub(super) fn promising(&self) -> Option<usize> {
        self.best_by(|tried| tried.switches.or(tried.difference))
    }

    fn best_by(&self, shown: fn(&TriedSeats) -> Option<RateDifference>) -> Option<usize> {
        let floor = self.control.map_or(f64::INFINITY, |control| control.percent.abs());
        let percents = self.candidates.iter().map(TriedSeats::percent).enumerate();
        let better = percents.filter(|(at, percent)| {
            let tried = &self.candidates[*at];
            let judgement = shown(tried).map(|difference| difference.judgement());
            judgement == Some(Judgement::Better)
                && *percent >= floor.max(tried.least_gain_percent())
        });
        better.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at)
    }

    /// A candidate with other switches or user time, which need not follow its work.
    pub fn unclear(&self) -> Option<&TriedSeats> {
        self.candidates.iter().find(|tried| tried.is_unclear())
    }
}

impl TriedSeats {
    fn least_gain_percent(&self) -> f64 {
        match self.user_time {
            Some(_) => LEAST_INDIRECT_GAIN_PERCENT,
            None => LEAST_GAIN_PERCENT,
        }
    }

    fn percent(&self) -> f64 {
        self.difference.map_or(f64::NEG_INFINITY, |difference| difference.percent)
    }

    /// Whether the switches changed much, although the user time, which falls with the work, did
    /// not. Either may follow the work then.
    fn is_unclear(&self) -> bool {
        let Some((switches, user_time)) = self.switches.zip(self.user_time) else { return false };
        switches.judgement() != Judgement::NotShown
            && switches.percent.abs() >= UNCLEAR_PERCENT
            && user_time.percent >= -SAME_TIME_PERCENT
    }

    /// Whether a first gain was not shown again.
    pub fn is_unrepeated(&self) -> bool {
        self.repeat.is_some_and(|repeat| repeat.judgement() != Judgement::Better)
    }
}

impl RateDifference {
    /// The logarithms are of ratios, one for each round.
    pub(super) fn of(logs: &[f64], confidence: f64) -> Option<Self> {
        let shift = signed_rank::shift(logs, confidence)?;
        Some(RateDifference::of_logs([shift.centre, shift.low, shift.high]))
    }

    /// A ratio of rates and the ends of its interval, from their logarithms.
    pub(super) fn of_logs(logs: [f64; 3]) -> Self {
        let [percent, low_percent, high_percent] = logs.map(|log| 100.0 * log.exp_m1());
        RateDifference { percent, low_percent, high_percent }
    }

    /// Only a gain by both measures is one.
    pub(super) fn least(self, other: Self) -> Self {
        let high_percent = self.high_percent.min(other.high_percent);
        RateDifference { high_percent, ..self.covering(other) }
    }

    /// The smaller gain, with an interval that covers both.
    pub(super) fn covering(self, other: Self) -> Self {
        RateDifference {
            percent: self.percent.min(other.percent),
            low_percent: self.low_percent.min(other.low_percent),
            high_percent: self.high_percent.max(other.high_percent),
        }
    }

    /// The verdict of the interval.
    pub fn judgement(&self) -> Judgement {
        match () {
            () if self.low_percent > 0.0 => Judgement::Better,
            () if self.high_percent < 0.0 => Judgement::Worse,
            () => Judgement::NotShown,
        }
    }
}
