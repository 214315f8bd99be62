//! Tries seats in alternating periods, with the default as its own control.
//!
//! In each round every arm has one period, in random order: the default twice, and each candidate.
//! A candidate is compared with the mean of both defaults of its round, so that a trend affects all
//! arms alike. The two defaults show the difference without a change. The best candidate is tried
//! again after a pause, without counting messages, and the interval covers both.

use crate::AdviseError;
use crate::work::WorkMeter;
use seatmap_data::invariant;
use seatmap_data::statistics::{Xoshiro, signed_rank};
use seatmap_observe::ObservationEnd;
use seatmap_os::busy::BusyCount;
use seatmap_os::cpus::Cpus;
use seatmap_os::guardian::Guardian;
use seatmap_os::{CpuSet, Tid, task};
use seatmap_trial::live::SeatCandidate;
use seatmap_trial::live::event::CandidateVerdict as Judgement;
use seatmap_trial::live::masks::{LeftChanged, Masks};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(300);

/// Unread start of a period, while caches fill and threads move.
const SETTLING: f64 = 0.2;

/// The interval between searches for new threads.
const SLICE: Duration = Duration::from_millis(50);

/// The default runs twice in a round, as itself and as its control.
const DEFAULTS: usize = 2;

/// The confidence of the claims of all candidates together. Wrong advice costs more than none.
const CONFIDENCE: f64 = 0.99;

/// A smaller gain, in percent, is not worth the effort.
const LEAST_GAIN_PERCENT: f64 = 2.0;

/// The largest difference between periods in the CPU shares of other programs or a hypervisor; a
/// round with more is void.
const MOST_OTHERS_DIFFER: f64 = 0.15;

/// The pause before the best candidate is tried again.
const BEFORE_REPEAT: Duration = Duration::from_secs(1);

/// The rounds of the repetition, each with a period of the default and one of the candidate.
const REPEATED_ROUNDS: usize = 8;

/// The confidence of the repetition, a single claim.
const REPEATED_CONFIDENCE: f64 = 0.95;

/// Half the width of a ratio's interval, in standard deviations of its logarithm: 99 % of a normal
/// distribution.
const DEVIATIONS: f64 = 2.6;

/// The kernel samples user time, so its count varies as a Poisson distribution of these ticks.
const TICK_S: f64 = 0.01;

/// A trial ends after this many rounds without readable work.
const ROUNDS_WITHOUT_WORK: usize = 2;

/// No round starts after this multiple of the trial's time, because periods take longer on a busy
/// computer.
const MOST_OF_TIME: f64 = 1.3;

const LEAST_COUNTED: f64 = 0.5;

/// A trial of seats on a program.
pub struct SeatTrial<'a> {
    /// The seats.
    pub candidates: &'a [SeatCandidate],
    /// The threads for the seats, in the same order.
    pub tids: &'a [Tid],
    /// The program's own processes; clients keep their masks.
    pub pids: &'a [Tid],
    /// The CPUs that the program may use.
    pub cpus: &'a CpuSet,
    /// The most time.
    pub time: Duration,
    /// The seed of the order.
    pub seed: u64,
    /// Returns whether to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Receives the progress, from 0 to 1.
    pub tell: &'a dyn Fn(f64),
}

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
    /// The rate of work compared with the default; null if too few rounds count. Covers the
    /// repetition.
    pub difference: Option<RateDifference>,
    /// The best candidate, tried again after a pause; null for others, or if the program ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// The end of a complete trial.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialEnd {
    /// The seats were compared.
    Judged(TrialResult),
    /// The program's work could not be read from the start; the metric's reason, if any.
    NoWork(Option<String>),
}

impl TrialResult {
    /// Whether the rounds differ too much for any claim.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.control.is_none() || (self.counted as f64) < LEAST_COUNTED * self.rounds as f64
    }

    /// Whether most seated threads exited, so that others do the work.
    #[must_use]
    pub fn lost_its_threads(&self) -> bool {
        2 * self.gone > self.seated
    }

    /// Whether the default differed from itself, which prevents any claim.
    #[must_use]
    pub fn drifts(&self) -> bool {
        self.control.is_some_and(|control| control.judgement() != Judgement::NotShown)
    }

    /// The best candidate among those shown to be better.
    #[must_use]
    pub fn best(&self) -> Option<&TriedSeats> {
        let floor = self.control.map_or(f64::INFINITY, |control| control.percent.abs());
        let better = self.candidates.iter().filter(|tried| {
            tried.difference.is_some_and(|gain| {
                gain.judgement() == Judgement::Better
                    && gain.percent >= LEAST_GAIN_PERCENT.max(floor)
            })
        });
        better.max_by(|a, b| a.percent().total_cmp(&b.percent()))
    }

    fn best_index(&self) -> Option<usize> {
        let best = self.best()?;
        self.candidates.iter().position(|tried| std::ptr::eq(tried, best))
    }
}

impl TriedSeats {
    fn percent(&self) -> f64 {
        self.difference.map_or(f64::NEG_INFINITY, |difference| difference.percent)
    }

    /// Whether a first gain was not shown again.
    #[must_use]
    pub fn is_unrepeated(&self) -> bool {
        self.repeat.is_some_and(|repeat| repeat.judgement() != Judgement::Better)
    }
}

impl RateDifference {
    /// The logarithms are of ratios, one for each round.
    fn of(logs: &[f64], confidence: f64) -> Option<Self> {
        let shift = signed_rank::shift(logs, confidence)?;
        Some(RateDifference {
            percent: percent(shift.centre),
            low_percent: percent(shift.low),
            high_percent: percent(shift.high),
        })
    }

    /// The ratio of two sampled times.
    fn of_times(seconds: f64, default_s: f64) -> Self {
        let ticks = (seconds / TICK_S).max(1.0);
        let default_ticks = (default_s / TICK_S).max(1.0);
        let centre = (ticks / default_ticks).ln();
        let half = DEVIATIONS * (1.0 / ticks + 1.0 / default_ticks).sqrt();
        RateDifference {
            percent: percent(centre),
            low_percent: percent(centre - half),
            high_percent: percent(centre + half),
        }
    }

    /// Only a gain by both measures is one.
    fn least(self, other: Self) -> Self {
        RateDifference {
            percent: self.percent.min(other.percent),
            low_percent: self.low_percent.min(other.low_percent),
            high_percent: self.high_percent.min(other.high_percent),
        }
    }

    /// The smaller gain, with an interval that covers both.
    fn covering(self, other: Self) -> Self {
        RateDifference {
            percent: self.percent.min(other.percent),
            low_percent: self.low_percent.min(other.low_percent),
            high_percent: self.high_percent.max(other.high_percent),
        }
    }

    /// The verdict of the interval.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        match () {
            () if self.low_percent > 0.0 => Judgement::Better,
            () if self.high_percent < 0.0 => Judgement::Worse,
            () => Judgement::NotShown,
        }
    }
}

fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Period {
    rate: f64,
    user_s: Option<f64>,
    others: Others,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Others {
    neighbours: f64,
    /// The share that a hypervisor gave to other guests.
    host: f64,
}

impl SeatTrial<'_> {
    /// Tries the seats. On return all masks are restored, also on threads and processes started
    /// meanwhile, except those in [`LeftChanged`].
    ///
    /// # Errors
    /// [`AdviseError`]: the program could not be observed, the guardian has exited, or the user
    /// stopped the trial.
    pub fn run(
        &self,
        mut work: WorkMeter,
        guardian: Guardian,
    ) -> (Result<TrialEnd, AdviseError>, LeftChanged) {
        let mut masks = Masks::guarded_by(guardian);
        let played = self.play(&mut work, &mut masks);
        (played, masks.end())
    }

    fn play(&self, work: &mut WorkMeter, masks: &mut Masks) -> Result<TrialEnd, AdviseError> {
        let mut random = Xoshiro::new(self.seed);
        let mut result = TrialResult { work: work.unit(), ..TrialResult::default() };
        // New threads must be known before they get masks.
        self.adopt(work, masks);
        // The program of an exited thread cannot be found later.
        let seated: BTreeSet<Tid> =
            self.candidates.iter().flat_map(|one| self.seated(one)).collect();
        result.seated = seated.len();
        let arms: Vec<usize> = (0..DEFAULTS + self.candidates.len()).collect();
        let round_s = PERIOD.as_secs_f64() * arms.len() as f64;
        let limit = self.time.mul_f64(MOST_OF_TIME);
        let rounds = (self.time.as_secs_f64() / round_s) as usize;
        let mut course = Course { rounds, limit, random: &mut random, result: &mut result };
        let played = self.rounds(&arms, &mut course, work, masks)?;
        // A trial that ended early shows no work either.
        if !has_work(&played) && !result.has_ended {
            return Ok(TrialEnd::NoWork(work.problem()));
        }
        self.judge(&played, &mut result);
        if let Some(best) = result.best_index().filter(|_| !result.has_ended) {
            masks.free();
            work.stop_observing()?;
            self.pass(BEFORE_REPEAT, work, masks)?;
            let arms = [0, DEFAULTS + best];
            let limit = work.session().elapsed() + self.time.mul_f64(MOST_OF_TIME - 1.0);
            let mut course =
                Course { rounds: REPEATED_ROUNDS, limit, random: &mut random, result: &mut result };
            let played = self.rounds(&arms, &mut course, work, masks)?;
            judge_again(&played, &mut result.candidates[best]);
        }
        result.seconds = work.session().elapsed().as_secs_f64();
        result.gone = seated.iter().filter(|tid| task::times(**tid).is_none()).count();
        Ok(TrialEnd::Judged(result))
    }

    /// Plays rounds with these arms until the program ends, or no round shows any work.
    fn rounds(
        &self,
        arms: &[usize],
        course: &mut Course<'_>,
        work: &mut WorkMeter,
        masks: &mut Masks,
    ) -> Result<Vec<Vec<Option<Period>>>, AdviseError> {
        let mut complete: Vec<Vec<Option<Period>>> = Vec::new();
        while complete.len() < course.rounds && work.session().elapsed() < course.limit {
            let mut order: Vec<usize> = (0..arms.len()).collect();
            course.random.shuffle(&mut order);
            let mut periods = vec![None; arms.len()];
            for at in order {
                (self.tell)(complete.len() as f64 / course.rounds as f64);
                let refused = self.seat(masks, arms[at])?;
                course.result.refused = course.result.refused.max(refused);
                match self.period(work, masks)? {
                    Ok(period) => periods[at] = period,
                    Err(ObservationEnd::Stopped) => return Err(AdviseError::Interrupted),
                    Err(_) => {
                        course.result.has_ended = true;
                        return Ok(complete);
                    }
                }
            }
            complete.push(periods);
            if complete.len() == ROUNDS_WITHOUT_WORK && !has_work(&complete) {
                break;
            }
        }
        Ok(complete)
    }

    fn seat(&self, masks: &mut Masks, arm: usize) -> Result<usize, AdviseError> {
        let Some(candidate) = arm.checked_sub(DEFAULTS).map(|at| &self.candidates[at]) else {
            masks.free();
            // An exited thread does not count as refused.
            return Ok(0);
        };
        let sets = candidate.sets();
        invariant!(
            sets.len() == self.tids.len(),
            "trial",
            "{} seats for {} threads",
            sets.len(),
            self.tids.len()
        );
        let seats = self.tids.iter().zip(sets).filter(|(tid, _)| self.is_own(**tid));
        let seats: Vec<(Tid, CpuSet)> = seats.filter_map(|(tid, set)| Some((*tid, set?))).collect();
        Ok(masks.seat(&seats)?.refused)
    }

    fn seated(&self, candidate: &SeatCandidate) -> impl Iterator<Item = Tid> {
        let seats = self.tids.iter().zip(&candidate.seats);
        seats.filter(|(tid, seat)| seat.is_some() && self.is_own(**tid)).map(|(tid, _)| *tid)
    }

    fn is_own(&self, tid: Tid) -> bool {
        self.pids.iter().any(|pid| *pid == tid || task::is_thread_of(tid, *pid))
    }

    fn period(
        &self,
        work: &mut WorkMeter,
        masks: &mut Masks,
    ) -> Result<Result<Option<Period>, ObservationEnd>, AdviseError> {
        if let Some(end) = self.pass(PERIOD.mul_f64(SETTLING), work, masks)? {
            return Ok(Err(end));
        }
        let cpus = Cpus::read();
        let before = BusyCount::now();
        work.begin_period(&mut || (self.stop)());
        if let Some(end) = self.pass(PERIOD.mul_f64(1.0 - SETTLING), work, masks)? {
            return Ok(Err(end));
        }
        let done = work.end_period(&mut || (self.stop)());
        let others = self.others(&before, done.cpus);
        // If the set of CPUs changed, the period says nothing about the seats.
        let is_same = cpus.is_ok_and(|before| Cpus::read().is_ok_and(|now| now == before));
        let rate = done.rate.filter(|_| is_same);
        Ok(Ok(rate.map(|rate| Period { rate, user_s: done.user_s, others })))
    }

    fn pass(
        &self,
        time: Duration,
        work: &mut WorkMeter,
        masks: &mut Masks,
    ) -> Result<Option<ObservationEnd>, AdviseError> {
        let until = work.session().elapsed() + time;
        while work.session().elapsed() < until {
            let slice = until.min(work.session().elapsed() + SLICE);
            let end = work.session().watch(Some(slice), self.stop)?;
            self.adopt(work, masks);
            if end != ObservationEnd::Time {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Adds new threads, and restores the masks of heirs.
    fn adopt(&self, work: &mut WorkMeter, masks: &mut Masks) {
        let threads = work.session().threads();
        let own: Vec<(Tid, Tid)> =
            threads.into_iter().filter(|(pid, _)| self.pids.contains(pid)).collect();
        masks.adopt(&own);
    }

    /// The shares of other programs since then, if this one used `own` CPUs; 0 if the kernel does
    /// not count them.
    fn others(&self, before: &BusyCount, own: f64) -> Others {
        let Some(time) = BusyCount::now().since(before, self.cpus) else {
            return Others::default();
        };
        let own_share = own / self.cpus.len().max(1) as f64;
        Others {
            neighbours: (time.busy_s / time.all_s - own_share).clamp(0.0, 1.0),
            host: (time.stolen_s / time.all_s).clamp(0.0, 1.0),
        }
    }

    fn judge(&self, rounds: &[Vec<Option<Period>>], result: &mut TrialResult) {
        let whole = whole(rounds);
        result.rounds = rounds.len();
        result.counted = whole.len();
        result.control = rate_difference(&whole, &[0], 1, CONFIDENCE);
        // Several candidates share the error allowed for one (Bonferroni).
        let confidence = 1.0 - (1.0 - CONFIDENCE) / self.candidates.len().max(1) as f64;
        result.candidates = self
            .candidates
            .iter()
            .enumerate()
            .map(|(at, candidate)| TriedSeats {
                candidate: candidate.clone(),
                tids: self.tids.to_vec(),
                difference: difference(&whole, &[0, 1], DEFAULTS + at, confidence),
                repeat: None,
            })
            .collect();
    }
}

/// The extent of some rounds, and where they report to.
struct Course<'a> {
    rounds: usize,
    limit: Duration,
    random: &'a mut Xoshiro,
    result: &'a mut TrialResult,
}

/// Adds the repetition, with the default in the first arm and the candidate in the second.
fn judge_again(rounds: &[Vec<Option<Period>>], tried: &mut TriedSeats) {
    let whole = whole(rounds);
    tried.repeat = difference(&whole, &[0], 1, REPEATED_CONFIDENCE);
    let both = tried.difference.zip(tried.repeat);
    tried.difference = both.map(|(first, again)| first.covering(again)).or(tried.difference);
}

/// The complete rounds without disturbance.
fn whole(rounds: &[Vec<Option<Period>>]) -> Vec<Vec<Period>> {
    rounds
        .iter()
        .filter_map(|periods| periods.iter().copied().collect())
        .filter(|periods: &Vec<Period>| is_quiet(periods))
        .collect()
}

/// The rate of an arm compared with the mean of the defaults.
fn rate_difference(
    rounds: &[Vec<Period>],
    defaults: &[usize],
    arm: usize,
    confidence: f64,
) -> Option<RateDifference> {
    let logs: Vec<f64> = rounds
        .iter()
        .map(|all| {
            let logs = defaults.iter().map(|default| log_rate(all, *default));
            log_rate(all, arm) - logs.sum::<f64>() / defaults.len() as f64
        })
        .collect();
    RateDifference::of(&logs, confidence)
}

/// The user time of an arm compared with the mean of the defaults, if it is a measure.
fn time_difference(
    rounds: &[Vec<Period>],
    defaults: &[usize],
    arm: usize,
) -> Option<RateDifference> {
    let seconds = user_s(rounds, arm)?;
    let default_s: Option<f64> = defaults.iter().map(|default| user_s(rounds, *default)).sum();
    Some(RateDifference::of_times(seconds, default_s? / defaults.len() as f64))
}

fn user_s(rounds: &[Vec<Period>], arm: usize) -> Option<f64> {
    rounds.iter().map(|all| all[arm].user_s).sum()
}

/// An arm compared with the mean of the defaults, by all measures of the work.
fn difference(
    rounds: &[Vec<Period>],
    defaults: &[usize],
    arm: usize,
    confidence: f64,
) -> Option<RateDifference> {
    let by_rate = rate_difference(rounds, defaults, arm, confidence)?;
    let by_time = time_difference(rounds, defaults, arm);
    Some(by_time.map_or(by_rate, |by_time| by_rate.least(by_time)))
}

fn has_work(rounds: &[Vec<Option<Period>>]) -> bool {
    rounds.iter().flatten().any(Option::is_some)
}

fn log_rate(periods: &[Period], arm: usize) -> f64 {
    periods[arm].rate.ln()
}

fn is_quiet(periods: &[Period]) -> bool {
    range(periods, |others| others.neighbours) <= MOST_OTHERS_DIFFER
        && range(periods, |others| others.host) <= MOST_OTHERS_DIFFER
}

fn range(periods: &[Period], share: fn(&Others) -> f64) -> f64 {
    let most = periods.iter().map(|period| share(&period.others)).fold(0.0, f64::max);
    let least = periods.iter().map(|period| share(&period.others)).fold(1.0, f64::min);
    most - least
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One candidate with `ratio` times the work, noise of 3 % and a drift of 1 % a round. In
    /// `crowded` rounds other programs run in one period.
    fn judged(ratio: f64, rounds: usize, crowded: usize, seed: u64) -> TrialResult {
        let mut random = Xoshiro::new(seed);
        let mut noise = || 0.97 + 0.06 * random.below(1000) as f64 / 1000.0;
        let played: Vec<Vec<Option<Period>>> = (0..rounds)
            .map(|round| {
                let drift = 1.01_f64.powi(round as i32);
                let is_crowded = round < crowded;
                [1.0, 1.0, ratio]
                    .iter()
                    .enumerate()
                    .map(|(arm, work)| {
                        let disturbed = is_crowded && arm == 0;
                        let rate = work * drift * noise() * if disturbed { 0.5 } else { 1.0 };
                        let share = if disturbed { 0.5 } else { 0.01 };
                        // In every other round, a hypervisor takes the CPUs.
                        let others = if round.is_multiple_of(2) {
                            Others { neighbours: share, host: 0.0 }
                        } else {
                            Others { neighbours: 0.0, host: share }
                        };
                        Some(Period { rate, user_s: None, others })
                    })
                    .collect()
            })
            .collect();
        let candidate = SeatCandidate { name: "together".to_owned(), seats: Vec::new() };
        let trial = SeatTrial {
            candidates: &[candidate],
            tids: &[],
            pids: &[],
            cpus: &CpuSet::default(),
            time: Duration::ZERO,
            seed,
            stop: &|| false,
            tell: &|_| {},
        };
        let mut result = TrialResult::default();
        trial.judge(&played, &mut result);
        result
    }

    #[test]
    fn trial_rarely_favours_equal_seats_and_finds_better() {
        let alike = (0..500).filter(|seed| judged(1.0, 20, 0, *seed).best().is_some()).count();
        let better = (0..200).filter(|seed| judged(1.1, 20, 0, *seed).best().is_some()).count();
        println!("alike: {alike} of 500 told apart; 10 % better: {better} of 200 found");
        assert!(alike <= 5, "{alike} of 500");
        assert!(better >= 190, "{better} of 200");
        assert!((0..200).all(|seed| judged(0.9, 20, 0, seed).best().is_none()));
    }

    #[test]
    fn disturbed_rounds_do_not_count() {
        let some = judged(1.1, 20, 6, 1);
        assert_eq!((some.rounds, some.counted, some.is_void()), (20, 14, false));
        let most = judged(1.1, 20, 12, 1);
        assert!(most.is_void() && most.counted == 8, "{most:?}");
        assert!(judged(1.1, 5, 0, 1).is_void(), "too few for an interval");
    }
}
