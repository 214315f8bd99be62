//! Tries seats in alternating periods, with the default as its own control.
//!
//! In each round every arm has one period, in random order: the default twice, and each candidate.
//! A candidate is compared with the mean of both defaults of its round, so that a trend affects all
//! arms alike. The two defaults show the difference without a change. The best candidate is tried
//! again after a pause, without counting messages, and the interval covers both.

mod judge;
mod result;

use crate::evidence::NoTrial;
use crate::look::interrupted;
use crate::work::WorkMeter;
use judge::{OtherUse, Period, Round, has_work, judge, judge_again};
pub use result::{RateDifference, TrialResult, TriedSeats};
use seatmap_data::document::Failure;
use seatmap_data::invariant;
use seatmap_data::statistics::trial::Schedule;
use seatmap_observe::ObservationEnd;
use seatmap_os::busy::BusyCount;
use seatmap_os::cpus::Cpus;
use seatmap_os::{CpuSet, Tid, task};
use seatmap_trial::live::SeatCandidate;
use seatmap_trial::live::masks::{LeftChanged, Masks};
use std::collections::BTreeSet;
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(300);

/// Unread start of a period, while caches fill and threads move.
const SETTLING: f64 = 0.2;

/// The interval between searches for new threads.
const SLICE: Duration = Duration::from_millis(50);

/// The default, and its control.
const DEFAULTS: usize = 2;

/// The confidence of the claims of all candidates together. Wrong advice costs more than none.
const CONFIDENCE: f64 = 0.99;

/// The pause before the best candidate is tried again.
const BEFORE_REPEAT: Duration = Duration::from_secs(1);

/// Rounds of the repetition, each with the default and the candidate.
const REPEATED_ROUNDS: usize = 8;

/// No round of the repetition starts later, because periods take longer on a busy computer.
const REPETITION: Duration = Duration::from_secs(6);

/// A trial ends after this many rounds without readable work.
const ROUNDS_WITHOUT_WORK: usize = 2;

/// No round starts after this multiple of the trial's time, for the same reason.
const MOST_OF_TIME: f64 = 1.3;

/// The result, or why the work could not be read from the start.
type TrialEnd = Result<Result<TrialResult, NoTrial>, Failure>;

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
    /// Returns whether to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Receives the progress, from 0 to 1.
    pub tell: &'a dyn Fn(f64),
    /// The measured work.
    pub work: WorkMeter,
    /// The masks of the threads.
    pub masks: Masks,
}

/// The extent of some rounds, and the result so far.
struct Course {
    rounds: usize,
    limit: Duration,
    schedule: Schedule,
    result: TrialResult,
}

/// Why a period is not complete.
enum Cut {
    /// The program ended.
    Ended,
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Cut {
    fn from(error: E) -> Self {
        Cut::Failed(error.into())
    }
}

impl SeatTrial<'_> {
    /// Tries the seats. On return all masks are restored, also on threads and processes started
    /// meanwhile, except those in [`LeftChanged`].
    ///
    /// # Errors
    /// [`Failure`]: the program could not be observed, the guardian has exited, or the user
    /// stopped the trial.
    pub fn run(mut self) -> (TrialEnd, LeftChanged) {
        let played = self.play();
        (played, self.masks.end())
    }

    fn play(&mut self) -> TrialEnd {
        // New threads must be known before they get masks.
        self.adopt();
        // The program of an exited thread cannot be found later.
        let seats = self.candidates.iter().flat_map(|one| self.seats(one));
        let seated: BTreeSet<Tid> = seats.map(|(tid, _)| tid).collect();
        let arms: Vec<usize> = (0..DEFAULTS + self.candidates.len()).collect();
        let round_s = PERIOD.as_secs_f64() * arms.len() as f64;
        let work = self.work.unit();
        let mut course = Course {
            rounds: (self.time.as_secs_f64() / round_s) as usize,
            limit: self.time.mul_f64(MOST_OF_TIME),
            schedule: Schedule::new(0),
            result: TrialResult { work, seated: seated.len(), ..TrialResult::default() },
        };
        let played = self.rounds(&arms, &mut course)?;
        // A trial that ended early shows no work either.
        if !has_work(&played) && !course.result.has_ended {
            let why = self.work.problem();
            return Ok(Err(why.map_or(NoTrial::NoWork, |why| NoTrial::MetricFailed { why })));
        }
        judge(&played, self.candidates, self.tids, &mut course.result);
        if let Some(best) = course.result.promising().filter(|_| !course.result.has_ended) {
            self.masks.free();
            self.work.stop_observing()?;
            // The next period finds the program's end.
            if let Err(Cut::Failed(error)) = self.pass(BEFORE_REPEAT) {
                return Err(error);
            }
            course.rounds = REPEATED_ROUNDS;
            course.limit = self.work.session.elapsed() + REPETITION;
            let again = self.rounds(&[0, DEFAULTS + best], &mut course)?;
            judge_again(&played, best, &again, &mut course.result.candidates[best]);
        }
        let gone = seated.iter().filter(|tid| task::times(**tid).is_none()).count();
        let seconds = self.work.session.elapsed().as_secs_f64();
        Ok(Ok(TrialResult { gone, seconds, ..course.result }))
    }

    /// Plays rounds with these arms until the program ends, or no round shows any work.
    fn rounds(&mut self, arms: &[usize], course: &mut Course) -> Result<Vec<Round>, Failure> {
        let mut complete: Vec<Round> = Vec::new();
        while complete.len() < course.rounds && self.work.session.elapsed() < course.limit {
            let mut periods = vec![None; arms.len()];
            for at in course.schedule.order(arms.len()) {
                (self.tell)(complete.len() as f64 / course.rounds as f64);
                let refused = self.seat(arms[at])?;
                course.result.refused = course.result.refused.max(refused);
                match self.period() {
                    Ok(period) => periods[at] = period,
                    Err(Cut::Ended) => {
                        course.result.has_ended = true;
                        return Ok(complete);
                    }
                    Err(Cut::Failed(error)) => return Err(error),
                }
            }
            complete.push(periods);
            if complete.len() == ROUNDS_WITHOUT_WORK && !has_work(&complete) {
                break;
            }
        }
        Ok(complete)
    }

    fn seat(&mut self, arm: usize) -> Result<usize, Failure> {
        let Some(candidate) = arm.checked_sub(DEFAULTS).map(|at| &self.candidates[at]) else {
            self.masks.free();
            return Ok(0);
        };
        let seats = self.seats(candidate);
        Ok(self.masks.seat(&seats)?.refused)
    }

    fn seats(&self, candidate: &SeatCandidate) -> Vec<(Tid, CpuSet)> {
        invariant!(
            candidate.seats.len() == self.tids.len(),
            "trial",
            "{} seats for {} threads",
            candidate.seats.len(),
            self.tids.len()
        );
        let mut seats = candidate.of_threads(self.tids);
        seats.retain(|(tid, _)| self.is_own(*tid));
        seats
    }

    fn is_own(&self, tid: Tid) -> bool {
        self.pids.iter().any(|pid| *pid == tid || task::is_thread_of(tid, *pid))
    }

    fn period(&mut self) -> Result<Option<Period>, Cut> {
        let stop = self.stop;
        self.pass(PERIOD.mul_f64(SETTLING))?;
        let cpus = Cpus::read();
        let before = BusyCount::now();
        self.work.begin_period(&mut || stop());
        self.pass(PERIOD.mul_f64(1.0 - SETTLING))?;
        let done = self.work.end_period(&mut || stop());
        let others = self.others(&before, done.cpus);
        // If the set of CPUs changed, the period says nothing about the seats.
        let is_same = cpus.is_ok_and(|before| Cpus::read().is_ok_and(|now| now == before));
        let rate = done.rate.filter(|_| is_same);
        Ok(rate.map(|rate| Period { rate, user_s: done.user_s, others }))
    }

    fn pass(&mut self, time: Duration) -> Result<(), Cut> {
        let until = self.work.session.elapsed() + time;
        while self.work.session.elapsed() < until {
            let slice = until.min(self.work.session.elapsed() + SLICE);
            let end = self.work.session.watch(Some(slice), self.stop)?;
            self.adopt();
            match end {
                ObservationEnd::Time => {}
                ObservationEnd::Program => return Err(Cut::Ended),
                ObservationEnd::Stopped => return Err(interrupted().into()),
            }
        }
        Ok(())
    }

    /// Adds new threads, and restores the masks of heirs.
    fn adopt(&mut self) {
        let mut threads = self.work.session.threads();
        threads.retain(|(pid, _)| self.pids.contains(pid));
        self.masks.adopt(&threads);
    }

    /// The shares of other programs since then, if this one used `own` CPUs; 0 if the kernel does
    /// not count them.
    fn others(&self, before: &BusyCount, own: f64) -> OtherUse {
        let Some(time) = BusyCount::now().since(before, self.cpus) else {
            return OtherUse::default();
        };
        let own_share = own / self.cpus.len().max(1) as f64;
        OtherUse {
            neighbours: (time.busy_s / time.all_s - own_share).clamp(0.0, 1.0),
            host: (time.stolen_s / time.all_s).clamp(0.0, 1.0),
        }
    }
}
