//! The matrix protocol: every pair, several passes, a new random order each.

use crate::error::MeasureError;
use crate::journal::Journal;
use crate::plan::Plan;
use crate::probe::{Batches, PairAt, Probe, Visit};
use crate::samples::Samples;
use crate::schedule;
use crate::statistics::median;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Two first-level cache hits, one each way: 4 cycles each (Intel and AMD optimisation manuals) at 6.2 GHz, the highest
/// clock sold. Nothing that went from core to core can be faster.
pub const FLOOR_NS: f64 = 1.3;

/// Visits to a pair whose batches are all thrown away, before giving up.
const MOST_VISITS: u32 = 20;

/// How far a matrix has come.
pub struct Progress<'a> {
    /// Visits made, those of an earlier run included.
    pub done: u64,
    /// Visits planned, as far as known now.
    pub total: u64,
    /// The PUs of the latest pair.
    pub pair: (u32, u32),
    /// Time spent by this run.
    pub elapsed: Duration,
    /// Visits made by this run, for the pace.
    pub visited: u64,
    /// Everything so far.
    pub samples: &'a Samples,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// Every batch.
    pub samples: Samples,
    /// Passes made, the last one perhaps in part.
    pub passes: u32,
    /// False where the observer ended it early.
    pub finished: bool,
    /// Wall-clock time of this run.
    pub elapsed: Duration,
}

impl Outcome {
    /// Visits to pairs that brought something, in all passes.
    #[must_use]
    pub fn visits(&self) -> u64 {
        let pairs = schedule::all_pairs(self.samples.pus().len());
        let passes =
            |(i, j): &(usize, usize)| self.samples.pair(*i, *j).passes.iter().filter(|pass| !pass.is_empty()).count();
        pairs.iter().map(|pair| passes(pair) as u64).sum()
    }
}

/// A matrix to be measured.
pub struct MatrixRun<'a, P> {
    /// Where.
    pub probe: &'a mut P,
    /// How much.
    pub plan: &'a Plan,
    /// Where traffic of each PU stays, in matrix order: pairs that share no group may run at once.
    pub group_of: &'a [usize],
    /// The most pairs at once; 1 for a serial run.
    pub together: usize,
    /// Where finished pairs are kept.
    pub journal: Option<&'a mut Journal>,
}

impl<P: Probe> MatrixRun<'_, P> {
    /// Measures what `samples` lacks. `observe` is called after every visit, between measurements, and ends the run by
    /// breaking.
    ///
    /// # Errors
    /// [`MeasureError`]. Everything finished until then is in the journal.
    pub fn measure(
        mut self,
        mut samples: Samples,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Outcome, MeasureError<P::Error>> {
        let n = samples.pus().len();
        if n < 2 {
            return Err(MeasureError::TooFew(n));
        }
        let pairs = schedule::all_pairs(n);
        let mut pace = Pace::start(pairs.len() as u64);
        let mut pass = 0;
        while (pass as u32) < pace.passes(self.plan) {
            let seed = self.plan.seed.wrapping_add(pass as u64);
            for round in schedule::rounds(&pairs, self.group_of, self.together, seed) {
                let missing: Vec<_> = round.iter().filter(|(i, j)| !samples.pair(*i, *j).has(pass)).copied().collect();
                pace.done += (round.len() - missing.len()) as u64;
                let Some(last) = missing.last().copied() else { continue };
                self.visit(&missing, pass, &mut samples)?;
                pace.visited(missing.len() as u64);
                if observe(&pace.progress(self.plan, last, &samples)).is_break() {
                    return Ok(pace.outcome(samples, pass, false));
                }
            }
            pass += 1;
        }
        Ok(pace.outcome(samples, pass.saturating_sub(1), true))
    }

    /// Visits the pairs of a round together, and again alone those that brought nothing.
    fn visit(
        &mut self,
        round: &[(usize, usize)],
        pass: usize,
        samples: &mut Samples,
    ) -> Result<(), MeasureError<P::Error>> {
        let brought = self.batches(round, samples.pus())?;
        for (pair, mut batches) in round.iter().zip(brought) {
            let [a, b] = [samples.pus()[pair.0], samples.pus()[pair.1]];
            let mut visits = 1;
            while batches.round_trip_ns.is_empty() {
                if visits == MOST_VISITS {
                    return Err(MeasureError::Disturbed { a, b, visits });
                }
                let more = self.batches(&[*pair], samples.pus())?.pop().unwrap_or_default();
                batches.round_trip_ns = more.round_trip_ns;
                batches.discards += more.discards;
                visits += 1;
            }
            refuse_impossible(a, b, &batches)?;
            if let Some(journal) = self.journal.as_mut() {
                journal.record(pass, *pair, &batches)?;
            }
            samples.add(pair.0, pair.1, pass, batches);
        }
        Ok(())
    }

    /// One line for all, or, where pairs run together, one for each group: a pair keeps its line from pass to pass, since
    /// another line may have another home.
    fn line_of(&self, i: usize, j: usize) -> u32 {
        match self.together {
            0 | 1 => 0,
            _ => LINE_SPACING * self.group_of[i].min(self.group_of[j]) as u32,
        }
    }

    fn batches(&mut self, round: &[(usize, usize)], pus: &[u32]) -> Result<Vec<Batches>, MeasureError<P::Error>> {
        let pairs = round.iter().map(|(i, j)| PairAt { a: pus[*i], b: pus[*j], line: self.line_of(*i, *j) }).collect();
        let visit = Visit { pairs, batches: self.plan.batches, round_trips: self.plan.round_trips };
        self.probe.visit(&visit).map_err(MeasureError::Machine)
    }
}

/// Candidate lines that a run with these groups uses.
#[must_use]
pub fn lines_needed(group_of: &[usize], together: usize) -> u32 {
    match together {
        0 | 1 => 1,
        _ => LINE_SPACING * (group_of.iter().max().map_or(0, |largest| *largest as u32) + 1),
    }
}

/// Lines in use at the same time lie two apart, so that adjacent-line prefetchers keep out of it.
pub(crate) const LINE_SPACING: u32 = 2;

pub(crate) fn refuse_impossible<E: std::error::Error>(
    a: u32,
    b: u32,
    batches: &Batches,
) -> Result<(), MeasureError<E>> {
    match median(&batches.round_trip_ns) {
        Some(round_trip_ns) if round_trip_ns < FLOOR_NS => Err(MeasureError::BelowFloor { a, b, round_trip_ns }),
        _ => Ok(()),
    }
}

/// How fast it goes, and so how many passes fit.
struct Pace {
    started: Instant,
    pairs: u64,
    done: u64,
    visited: u64,
}

impl Pace {
    fn start(pairs: u64) -> Self {
        Pace { started: Instant::now(), pairs, done: 0, visited: 0 }
    }

    fn visited(&mut self, pairs: u64) {
        self.visited += pairs;
        self.done += pairs;
    }

    fn passes(&self, plan: &Plan) -> u32 {
        if self.visited < self.pairs {
            return plan.passes.least();
        }
        plan.passes.settled(self.started.elapsed().mul_f64(self.pairs as f64 / self.visited as f64))
    }

    fn progress<'a>(&self, plan: &Plan, (i, j): (usize, usize), samples: &'a Samples) -> Progress<'a> {
        Progress {
            done: self.done,
            total: (self.pairs * u64::from(self.passes(plan))).max(self.done),
            pair: (samples.pus()[i], samples.pus()[j]),
            elapsed: self.started.elapsed(),
            visited: self.visited,
            samples,
        }
    }

    fn outcome(&self, samples: Samples, last_pass: usize, finished: bool) -> Outcome {
        Outcome { samples, passes: last_pass as u32 + 1, finished, elapsed: self.started.elapsed() }
    }
}
