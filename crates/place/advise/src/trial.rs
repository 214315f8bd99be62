//! Seats in alternating periods, with the default as its own control.
//!
//! In each round every arm has one period, in random order: the default, the default again, and
//! each candidate. A candidate is compared with the mean of both defaults of its round, so that a
//! program which becomes faster or slower by itself does so in all arms. The two defaults tell what
//! this computer shows where nothing was changed.

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

/// The length of a period.
const PERIOD: Duration = Duration::from_millis(300);

/// The share of a period before its reading begins, while caches fill and threads move.
const SETTLING: f64 = 0.2;

/// New threads are looked for at least so often.
const SLICE: Duration = Duration::from_millis(50);

/// The periods of the default in a round: itself, and its control.
const DEFAULTS: usize = 2;

/// The confidence of the claims that all candidates make together. An advice that is wrong costs
/// more than one that is not given.
const CONFIDENCE: f64 = 0.99;

/// The least gain that is advised, in percent. Below it the trouble is greater.
const LEAST_GAIN_PERCENT: f64 = 2.0;

/// A round is void where other programs, or the computer's host, had more of the program's CPUs in
/// one of its periods than in another one, by more than this share of them.
const MOST_OTHERS_DIFFER: f64 = 0.15;

/// A trial ends after this many rounds without any work that can be read.
const ROUNDS_WITHOUT_WORK: usize = 2;

/// A trial begins no more rounds after so many times its time: on a crowded computer each period
/// takes longer than it is meant to, and a person waits.
const MOST_OF_TIME: f64 = 1.3;

/// The share of rounds that must count.
const LEAST_COUNTED: f64 = 0.5;

/// Seats to be tried on a program.
pub struct SeatTrial<'a> {
    /// The seats.
    pub candidates: &'a [SeatCandidate],
    /// The threads that they are for, in the same order.
    pub tids: &'a [Tid],
    /// The program's own processes: threads of its clients keep their masks.
    pub pids: &'a [Tid],
    /// The CPUs that the program may use.
    pub cpus: &'a CpuSet,
    /// How long it may take.
    pub time: Duration,
    /// Seed of the order.
    pub seed: u64,
    /// Says when to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Is told of the share that is done, from 0 to 1.
    pub tell: &'a dyn Fn(f64),
}

/// The outcome of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialResult {
    /// The unit of the work that was compared: `bytes`, or the metric's words.
    pub work: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The rounds in which every arm had a period.
    pub rounds: usize,
    /// Those of them that count.
    pub counted: usize,
    /// The control: the default against itself; null where too few rounds count.
    pub control: Option<RateDifference>,
    /// The candidates.
    pub candidates: Vec<TriedSeats>,
    /// Threads whose masks the kernel did not change.
    pub refused: usize,
    /// Threads that were given seats.
    #[serde(default)]
    pub seated: usize,
    /// Those of them that had ended when the trial did.
    #[serde(default)]
    pub gone: usize,
    /// Whether the program ended meanwhile.
    pub has_ended: bool,
}

/// Seats that were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedSeats {
    /// The seats.
    pub candidate: SeatCandidate,
    /// The threads of the seats, in the same order.
    pub tids: Vec<Tid>,
    /// The work with these seats against the default; null where too few rounds count.
    pub difference: Option<RateDifference>,
}

/// A ratio of work a second, with an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateDifference {
    /// More work than the default, in percent; below 0 it is less.
    pub percent: f64,
    /// The lower end of the interval.
    pub low_percent: f64,
    /// Its upper end.
    pub high_percent: f64,
}

/// The end of a trial that was not broken off.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialEnd {
    /// The seats were compared.
    Judged(TrialResult),
    /// The program's work could not be read from the first rounds on; the reason, where a metric
    /// told one.
    NoWork(Option<String>),
}

impl TrialResult {
    /// Whether too much differed in the rounds for any claim.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.control.is_none() || (self.counted as f64) < LEAST_COUNTED * self.rounds as f64
    }

    /// Whether most of the threads that were given seats ended meanwhile: others do its work now.
    #[must_use]
    pub fn lost_its_threads(&self) -> bool {
        2 * self.gone > self.seated
    }

    /// Whether the default differed from itself, so that nothing else can be claimed.
    #[must_use]
    pub fn drifts(&self) -> bool {
        self.control.is_some_and(|control| control.judgement() != Judgement::NotShown)
    }

    /// The candidate that is shown to be better, if there is one: the best of them.
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
}

impl TriedSeats {
    fn percent(&self) -> f64 {
        self.difference.map_or(f64::NEG_INFINITY, |difference| difference.percent)
    }
}

impl RateDifference {
    /// The difference of logarithms of ratios, one of each round; null where there are too few.
    fn of(logs: &[f64], confidence: f64) -> Option<Self> {
        let shift = signed_rank::shift(logs, confidence)?;
        Some(RateDifference {
            percent: percent(shift.centre),
            low_percent: percent(shift.low),
            high_percent: percent(shift.high),
        })
    }

    /// Whether the whole interval lies on one side.
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

/// One period of one arm.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Period {
    rate: f64,
    /// The part of the CPUs that others had.
    others: Others,
}

/// The shares of the program's CPUs that others had, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Others {
    /// Other programs.
    neighbours: f64,
    /// The host of this computer, which gave its CPUs to somebody else.
    host: f64,
}

impl SeatTrial<'_> {
    /// Tries the seats. All threads have their own masks when it returns, whatever it returns, but
    /// for those that come with it. So have the threads and processes that were born meanwhile.
    ///
    /// # Errors
    /// [`AdviseError`]: the program could not be followed, the guardian is gone, or the user ended it.
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
        let arms = DEFAULTS + self.candidates.len();
        let rounds = (self.time.as_secs_f64() / (PERIOD.as_secs_f64() * arms as f64)) as usize;
        let mut random = Xoshiro::new(self.seed);
        let mut result = TrialResult { work: work.unit(), ..TrialResult::default() };
        let mut complete: Vec<Vec<Option<Period>>> = Vec::new();
        // Masks can be given to threads that are known.
        self.adopt(work, masks);
        // Nobody knows later whose threads those were that have ended.
        let seated: BTreeSet<Tid> =
            self.candidates.iter().flat_map(|one| self.seated(one)).collect();
        result.seated = seated.len();
        'rounds: for round in 0..rounds {
            if work.session().elapsed() >= self.time.mul_f64(MOST_OF_TIME) {
                break;
            }
            let mut order: Vec<usize> = (0..arms).collect();
            random.shuffle(&mut order);
            let mut periods = vec![None; arms];
            for arm in order {
                (self.tell)(round as f64 / rounds as f64);
                result.refused = result.refused.max(self.seat(masks, arm)?);
                match self.period(work, masks)? {
                    Ok(period) => periods[arm] = period,
                    Err(ObservationEnd::Stopped) => return Err(AdviseError::Interrupted),
                    Err(_) => {
                        result.has_ended = true;
                        break 'rounds;
                    }
                }
            }
            complete.push(periods);
            if complete.len() == ROUNDS_WITHOUT_WORK && !has_work(&complete) {
                return Ok(TrialEnd::NoWork(work.problem()));
            }
        }
        result.seconds = work.session().elapsed().as_secs_f64();
        self.judge(&complete, &mut result);
        result.gone = seated.iter().filter(|tid| task::times(**tid).is_none()).count();
        // A trial that ended early has told no work either.
        if result.counted == 0 && !result.has_ended && !has_work(&complete) {
            return Ok(TrialEnd::NoWork(work.problem()));
        }
        Ok(TrialEnd::Judged(result))
    }

    /// Gives the program the masks of an arm, and returns the threads that were refused.
    fn seat(&self, masks: &mut Masks, arm: usize) -> Result<usize, AdviseError> {
        let Some(candidate) = arm.checked_sub(DEFAULTS).map(|at| &self.candidates[at]) else {
            masks.free();
            // A thread that ended on its seat takes no mask back, and nobody refused it.
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

    /// The threads that a candidate has seats for.
    fn seated(&self, candidate: &SeatCandidate) -> impl Iterator<Item = Tid> {
        let seats = self.tids.iter().zip(&candidate.seats);
        seats.filter(|(tid, seat)| seat.is_some() && self.is_own(**tid)).map(|(tid, _)| *tid)
    }

    /// Whether a thread belongs to the program, and not to one of its clients.
    fn is_own(&self, tid: Tid) -> bool {
        self.pids.iter().any(|pid| *pid == tid || task::is_thread_of(tid, *pid))
    }

    /// One period; the end, if it came meanwhile.
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
        // A period in which CPUs were taken away or given back says nothing about the seats.
        let is_same = cpus.is_ok_and(|before| Cpus::read().is_ok_and(|now| now == before));
        Ok(Ok(done.rate.filter(|_| is_same).map(|rate| Period { rate, others })))
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

    /// Takes in the threads that are new, and frees those that inherited a seat.
    fn adopt(&self, work: &mut WorkMeter, masks: &mut Masks) {
        let threads = work.session().threads();
        let own: Vec<(Tid, Tid)> =
            threads.into_iter().filter(|(pid, _)| self.pids.contains(pid)).collect();
        masks.adopt(&own);
    }

    /// The part of the CPUs that others had since then, where the program used `own` CPUs. Nobody
    /// is seen where the kernel does not count them.
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
        let whole: Vec<Vec<Period>> = rounds
            .iter()
            .filter_map(|periods| periods.iter().copied().collect())
            .filter(|periods: &Vec<Period>| is_quiet(periods))
            .collect();
        result.rounds = rounds.len();
        result.counted = whole.len();
        let control: Vec<f64> =
            whole.iter().map(|all| log_rate(all, 1) - log_rate(all, 0)).collect();
        result.control = RateDifference::of(&control, CONFIDENCE);
        // Several candidates share the error that one is allowed (Bonferroni).
        let confidence = 1.0 - (1.0 - CONFIDENCE) / self.candidates.len().max(1) as f64;
        for (at, candidate) in self.candidates.iter().enumerate() {
            let logs: Vec<f64> = whole
                .iter()
                .map(|all| {
                    log_rate(all, DEFAULTS + at) - (log_rate(all, 0) + log_rate(all, 1)) / 2.0
                })
                .collect();
            result.candidates.push(TriedSeats {
                candidate: candidate.clone(),
                tids: self.tids.to_vec(),
                difference: RateDifference::of(&logs, confidence),
            });
        }
    }
}

/// Whether any period's work could be read.
fn has_work(rounds: &[Vec<Option<Period>>]) -> bool {
    rounds.iter().flatten().any(Option::is_some)
}

/// The logarithm of the work a second in an arm's period.
fn log_rate(periods: &[Period], arm: usize) -> f64 {
    periods[arm].rate.ln()
}

/// Whether others had as much of the CPUs in all periods of a round.
fn is_quiet(periods: &[Period]) -> bool {
    range(periods, |others| others.neighbours) <= MOST_OTHERS_DIFFER
        && range(periods, |others| others.host) <= MOST_OTHERS_DIFFER
}

/// The difference between the period with the most and the one with the least.
fn range(periods: &[Period], share: fn(&Others) -> f64) -> f64 {
    let most = periods.iter().map(|period| share(&period.others)).fold(0.0, f64::max);
    let least = periods.iter().map(|period| share(&period.others)).fold(1.0, f64::min);
    most - least
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judgement of rounds of two defaults and one candidate, whose work is `ratio` of theirs,
    /// with noise of 3 % and a drift of 1 % a round. In `crowded` rounds others came and went.
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
                        // Every other time it is the host that takes the CPUs.
                        let others = if round.is_multiple_of(2) {
                            Others { neighbours: share, host: 0.0 }
                        } else {
                            Others { neighbours: 0.0, host: share }
                        };
                        Some(Period { rate, others })
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
    fn seats_that_are_alike_are_seldom_told_apart_and_better_ones_are_found() {
        let alike = (0..500).filter(|seed| judged(1.0, 20, 0, *seed).best().is_some()).count();
        let better = (0..200).filter(|seed| judged(1.1, 20, 0, *seed).best().is_some()).count();
        println!("alike: {alike} of 500 told apart; 10 % better: {better} of 200 found");
        assert!(alike <= 5, "{alike} of 500");
        assert!(better >= 190, "{better} of 200");
        assert!((0..200).all(|seed| judged(0.9, 20, 0, seed).best().is_none()));
    }

    #[test]
    fn rounds_with_others_in_one_period_do_not_count() {
        let some = judged(1.1, 20, 6, 1);
        assert_eq!((some.rounds, some.counted, some.is_void()), (20, 14, false));
        let most = judged(1.1, 20, 12, 1);
        assert!(most.is_void() && most.counted == 8, "{most:?}");
        assert!(judged(1.1, 5, 0, 1).is_void(), "too few for an interval");
    }
}
