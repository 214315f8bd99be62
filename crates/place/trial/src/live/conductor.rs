//! Carries out the engine's decisions on a running program.

use crate::live::candidates::{Ground, NoSeats, SeatCandidate, distance};
use crate::live::engine::{DecisionRules, LiveEngine};
use crate::live::event::{CandidateVerdict, Decision, ProgramEvent, RateGain, on_file};
use crate::live::foreign::{ForeignTime, ForeignWatch};
use crate::live::log::{LogContent, LogLine};
use crate::live::masks::{LeftChanged, Masks, SeatStatus, Sweep};
use crate::live::meter::{MetricReader, WorkMetric, growth, passed_bytes};
use crate::live::running::AutoRemark;
use seatmap_data::document::Failure;
use seatmap_data::invariant;
use seatmap_data::pattern::Pattern;
use seatmap_launch::halted::{self, HaltedProcess};
use seatmap_observe::{ObservationEnd, ObservationSession, ObserveError};
use seatmap_os::cpus::Cpus;
use seatmap_os::guardian::Guardian;
use seatmap_os::{Root, Tid};
use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

/// The unread start of a period, while caches fill.
const SETTLING: f64 = 0.2;

/// The observed part of a rest, if the program sends many messages.
const WATCHED: f64 = 0.1;

/// The comparison of patterns needs 100 messages for each of about 10 pairs.
const ENOUGH_MESSAGES: f64 = 1000.0;

/// Repetitions of a void period, and of all periods of an attempt, which must end even if a
/// neighbour stays.
const AGAIN: usize = 2;
const AGAIN_IN_ALL: usize = 20;

/// The interval between searches for new threads.
const SLICE: Duration = Duration::from_millis(100);

/// The fixed settings.
pub struct ConductorSetup<'a> {
    /// The machine for which candidates are sought.
    pub ground: Ground<'a>,
    /// The time of observation before an attempt.
    pub observe: Duration,
    /// The length of a period.
    pub period: Duration,
    /// Returns whether to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Receives the reasons against seats as they are found.
    pub tell: &'a dyn Fn(AutoRemark),
    /// The reason that was reported before the observation, if any.
    pub no_seats: Option<NoSeats>,
    /// The time limit, from the start.
    pub time: Option<Duration>,
}

/// A judged candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The time of the verdict, in seconds from the start.
    pub at_s: f64,
    /// The seats.
    pub candidate: SeatCandidate,
    /// The verdict.
    pub verdict: CandidateVerdict,
    /// The difference.
    pub gain: Option<RateGain>,
}

/// The result of seating a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveOutcome {
    /// The count that judged the seats.
    pub metric: WorkMetric,
    /// Every judged candidate, in order of time.
    pub attempts: Vec<Attempt>,
    /// Every sweep that changed masks.
    pub sweeps: Vec<Sweep>,
    /// The seats in force at the end.
    pub kept: Option<SeatCandidate>,
    /// The last observed message rate, per second.
    pub messages_per_s: Option<f64>,
    /// Why the last observation gave no candidates.
    pub no_seats: Option<NoSeats>,
    /// The program's stopped processes, if there were no candidates.
    pub halted: Vec<HaltedProcess>,
    /// Void periods with more load of other programs than usual.
    pub disturbed: usize,
    /// Void periods with a change of the available CPUs.
    pub torn: usize,
    /// Repeated void periods.
    pub repeated: usize,
    /// The duration, in seconds.
    pub seconds: f64,
    /// Threads with masks of their own choice.
    pub own: usize,
    /// The state of the threads on their seats.
    pub held: SeatStatus,
    /// Masks that are still changed although no seats are kept.
    pub left_changed: LeftChanged,
    /// Why the metric's own command last gave no number, if ever.
    pub metric_problem: Option<String>,
    /// Why it ended.
    pub end: Option<ObservationEnd>,
}

/// A running program and the state of its seating.
pub struct Conductor<'a> {
    setting: ConductorSetup<'a>,
    session: ObservationSession,
    meter: MetricReader,
    masks: Masks,
    log: &'a mut dyn FnMut(&LogLine) -> io::Result<()>,
    pattern: Option<Pattern>,
    tids: Vec<Tid>,
    candidates: Vec<SeatCandidate>,
    foreign: ForeignTime,
    repeats_left: usize,
    outcome: LiveOutcome,
}

/// Why the next step is not done.
enum Cut {
    End(ObservationEnd),
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Cut {
    fn from(error: E) -> Self {
        Cut::Failed(error.into())
    }
}

impl<'a> Conductor<'a> {
    /// Prepares to seat an observed program.
    pub fn new(
        setting: ConductorSetup<'a>,
        session: ObservationSession,
        meter: MetricReader,
        guardian: Guardian,
        log: &'a mut dyn FnMut(&LogLine) -> io::Result<()>,
    ) -> Self {
        let outcome = LiveOutcome { no_seats: setting.no_seats, ..LiveOutcome::default() };
        Conductor {
            setting,
            session,
            meter,
            masks: Masks::guarded_by(guardian),
            log,
            pattern: None,
            tids: Vec::new(),
            candidates: Vec::new(),
            foreign: ForeignTime::default(),
            repeats_left: 0,
            outcome,
        }
    }

    /// Seats the program until it ends, the time is over or `stop` returns true. Then it restores
    /// the masks; only at the time limit, seats shown to be better stay. Returns the session,
    /// because the program may run on.
    pub fn conduct(mut self) -> (LiveOutcome, Result<(), Failure>, ObservationSession) {
        let done = self.play();
        self.outcome.seconds = self.session.elapsed().as_secs_f64();
        // The last look: afterwards no thread has a seat.
        self.masks.look_now();
        self.outcome.held = self.masks.held();
        self.outcome.left_changed = match self.seats_to_keep(&done) {
            // A repeated comparison may just have released the kept seats.
            Some(kept) if self.give(Some(kept)).is_ok() => self.masks.keep(),
            _ => self.masks.end(),
        };
        if !matches!(done, Ok(ObservationEnd::Time | ObservationEnd::Program)) {
            self.outcome.kept = None;
        }
        self.outcome.own = self.masks.own();
        self.outcome.metric = self.meter.metric.clone();
        self.outcome.end = done.as_ref().ok().copied();
        (self.outcome, done.map(drop), self.session)
    }

    fn seats_to_keep(&self, done: &Result<ObservationEnd, Failure>) -> Option<usize> {
        let kept =
            self.outcome.kept.as_ref().filter(|_| matches!(done, Ok(ObservationEnd::Time)))?;
        self.candidates.iter().position(|candidate| candidate == kept)
    }

    fn play(&mut self) -> Result<ObservationEnd, Failure> {
        let mut engine = LiveEngine::new(DecisionRules::default());
        let mut said = vec![Decision::Observe];
        loop {
            for decision in &said {
                self.write(LogContent::Decision(decision.clone()))?;
                self.note(decision)?;
            }
            match self.act(said.last()) {
                Ok(event) => {
                    self.write(LogContent::Event(event.clone()))?;
                    said = engine.take(&event);
                }
                Err(Cut::End(end)) => {
                    self.write(LogContent::Event(ProgramEvent::Ended))?;
                    return Ok(end);
                }
                Err(Cut::Failed(error)) => return Err(error),
            }
        }
    }

    fn write(&mut self, said: LogContent) -> Result<(), Failure> {
        let at_s = on_file(self.session.elapsed().as_secs_f64());
        (self.log)(&LogLine { at_s, said }).map_err(Failure::work_at("cannot write the log"))
    }

    fn note(&mut self, decision: &Decision) -> Result<(), Failure> {
        match decision {
            Decision::Tried { candidate, verdict, gain } => {
                self.outcome.attempts.push(Attempt {
                    at_s: self.session.elapsed().as_secs_f64(),
                    candidate: self.candidates[*candidate].clone(),
                    verdict: *verdict,
                    gain: *gain,
                });
            }
            Decision::Keep { candidate } => {
                self.outcome.kept = Some(self.candidates[*candidate].clone());
                self.give(Some(*candidate))?;
            }
            Decision::PutBack { .. } => {
                self.outcome.kept = None;
                self.give(None)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn act(&mut self, next: Option<&Decision>) -> Result<ProgramEvent, Cut> {
        match next {
            Some(Decision::Observe) => self.observe(),
            Some(Decision::Measure { candidate }) => self.measure(*candidate),
            Some(Decision::Rest { seconds }) => self.rest(Duration::from_secs_f64(*seconds)),
            _ => Err(Cut::End(ObservationEnd::Stopped)),
        }
    }

    fn observe(&mut self) -> Result<ProgramEvent, Cut> {
        // The observed pattern must be that without seats.
        self.give(None)?;
        self.observe_anew()?;
        let begun = Instant::now();
        let passed = passed_bytes(&self.session.threads());
        self.pass(self.setting.observe)?;
        let bytes = growth(&passed_bytes(&self.session.threads()), &passed);
        self.meter.settle(bytes / begun.elapsed().as_secs_f64().max(1e-9));
        self.session.pause(true)?;
        self.masks.forget_dead();
        let seen = self.session.seen();
        let pattern = seen.pattern("observed");
        let ground = &self.setting.ground;
        let candidates = ground.candidates(&pattern);
        self.candidates = candidates.map_err(Failure::work_at("cannot compute a placement"))?;
        self.foreign = ForeignTime::default();
        self.repeats_left = AGAIN_IN_ALL;
        let no_seats = self.candidates.is_empty().then(|| ground.reason_against(&pattern));
        self.note_no_seats(no_seats);
        self.tids = seen.tasks.iter().map(|task| task.tid).collect();
        self.pattern = Some(pattern);
        let messages_per_s = on_file(seen.messages() / seen.seconds().max(1e-9));
        self.outcome.messages_per_s = Some(messages_per_s);
        Ok(ProgramEvent::Observed { messages_per_s, candidates: self.candidates.clone() })
    }

    fn observe_anew(&mut self) -> Result<(), ObserveError> {
        self.session.pause(false)?;
        self.session.forget();
        Ok(())
    }

    /// At once: the report may be hours away.
    fn note_no_seats(&mut self, reason: Option<NoSeats>) {
        let halted = match reason {
            Some(_) => {
                let processes = self.session.threads().into_iter().map(|(pid, _)| pid);
                halted::among(&Root::new("/"), processes.collect::<BTreeSet<Tid>>())
            }
            None => Vec::new(),
        };
        let before = std::mem::replace(&mut self.outcome.no_seats, reason);
        if let Some(reason) = reason.filter(|_| before != reason) {
            (self.setting.tell)(AutoRemark::NoSeats(reason));
        }
        let new = halted.iter().filter(|process| !self.outcome.halted.contains(process));
        new.cloned().map(AutoRemark::Halted).for_each(self.setting.tell);
        self.outcome.halted = halted;
    }

    /// A void period is repeated at once.
    fn measure(&mut self, candidate: Option<usize>) -> Result<ProgramEvent, Cut> {
        self.give(candidate)?;
        self.session.pause(!self.meter.counts_wakeups())?;
        let mut count = self.period(candidate)?;
        for _ in 0..self.repeats_left.min(AGAIN) {
            if count.is_some() {
                break;
            }
            self.repeats_left -= 1;
            self.outcome.repeated += 1;
            count = self.period(candidate)?;
        }
        let count = count.flatten();
        let per_s = |amount: f64| on_file(amount / self.meter.seconds());
        let user = count.and(self.meter.user_s).map(per_s);
        Ok(ProgramEvent::Read { rate: count.map(per_s), user })
    }

    /// The count, if readable; `None` if the period is void.
    fn period(&mut self, candidate: Option<usize>) -> Result<Option<Option<f64>>, Cut> {
        let period = self.setting.period;
        self.pass(period.mul_f64(SETTLING))?;
        let cpus = Cpus::read();
        let watch = ForeignWatch::begin(&self.session.threads());
        self.read(MetricReader::begin)?;
        self.pass(period.mul_f64(1.0 - SETTLING))?;
        let count = self.read(MetricReader::end)?;
        self.outcome.metric_problem = self.meter.problem.clone();
        // A period is void if the available CPUs changed or are unknown,
        let is_same = cpus.is_ok_and(|before| Cpus::read().is_ok_and(|now| now == before));
        // or if the load of a neighbour changed.
        let foreign = watch.end(&self.session.threads(), self.setting.ground.allowed);
        let has_moved = self.foreign.has_moved(candidate, foreign);
        self.outcome.disturbed += usize::from(has_moved);
        self.outcome.torn += usize::from(!is_same && !has_moved);
        Ok((is_same && !has_moved).then_some(count))
    }

    /// Its own command ends with the program, at the time limit, or by `stop`.
    fn read<T>(
        &mut self,
        at: impl FnOnce(&mut MetricReader, f64, &[(Tid, Tid)], &mut dyn FnMut() -> bool) -> T,
    ) -> Result<T, Cut> {
        let messages = self.session.messages();
        let threads = self.session.threads();
        let ConductorSetup { stop, time, .. } = self.setting;
        let mut cut = Ok(ObservationEnd::Time);
        let mut is_over = || {
            // `Time` is the normal result of a wait of no time.
            cut = self.session.watch(Some(Duration::ZERO), stop);
            let is_late = time.is_some_and(|time| self.session.elapsed() >= time);
            is_late || !matches!(cut, Ok(ObservationEnd::Time))
        };
        let read = at(&mut self.meter, messages, &threads, &mut is_over);
        let end = cut?;
        if end == ObservationEnd::Time && !self.is_late() {
            return Ok(read);
        }
        let because = match end {
            ObservationEnd::Program => "the program ended",
            ObservationEnd::Time => "the time limit was reached",
            ObservationEnd::Stopped => "the run was stopped",
        };
        self.outcome.metric_problem =
            Some(format!("'{}' was stopped: {because}", self.meter.metric));
        Err(Cut::End(end))
    }

    fn is_late(&self) -> bool {
        self.setting.time.is_some_and(|time| self.session.elapsed() >= time)
    }

    /// Waits and observes. With many messages only a short part, because observation has a cost.
    fn rest(&mut self, time: Duration) -> Result<ProgramEvent, Cut> {
        self.observe_anew()?;
        let before = self.session.messages();
        for part in [WATCHED, 1.0 - WATCHED] {
            self.pass(time.mul_f64(part))?;
            if self.session.messages() - before >= ENOUGH_MESSAGES {
                self.session.pause(true)?;
            }
        }
        self.session.pause(true)?;
        let now = self.session.seen().pattern("now");
        // New threads do not change task numbers.
        let distance = self.pattern.as_ref().map_or(0.0, |before| on_file(distance(before, &now)));
        Ok(ProgramEvent::Watched { distance })
    }

    /// Waits and adopts new threads.
    fn pass(&mut self, time: Duration) -> Result<(), Cut> {
        let until = self.session.elapsed() + time;
        while self.session.elapsed() < until {
            let slice = until.min(self.session.elapsed() + SLICE);
            let end = self.session.watch(Some(slice), self.setting.stop)?;
            self.masks.adopt(&self.session.threads());
            self.masks.look();
            if self.is_late() {
                return Err(Cut::End(ObservationEnd::Time));
            }
            // The end of a slice is not the time limit.
            if end != ObservationEnd::Time {
                return Err(Cut::End(end));
            }
        }
        Ok(())
    }

    fn give(&mut self, candidate: Option<usize>) -> Result<(), Failure> {
        invariant!(
            candidate.is_none_or(|candidate| candidate < self.candidates.len()),
            "conductor",
            "the engine requests candidate {candidate:?} of {}",
            self.candidates.len()
        );
        let sweep = match candidate {
            None => self.masks.free(),
            Some(candidate) => {
                let seats = self.candidates[candidate].of_threads(&self.tids);
                self.masks
                    .seat(&seats)
                    .map_err(Failure::work_at("the guardian, which restores masks, has exited"))?
            }
        };
        if sweep.threads > 0 {
            self.outcome.sweeps.push(sweep);
        }
        Ok(())
    }
}
