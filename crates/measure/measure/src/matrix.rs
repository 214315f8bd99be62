//! The matrix protocol: passes over all pairs, each in a new random order, then more visits to
//! pairs whose passes disagree.

mod further;
mod stacked;

use crate::error::MeasureError;
use crate::fit::linkage;
use crate::floor::refuse_impossible;
use crate::journal::Journal;
use crate::plan::SurveyPlan;
use crate::probe::{PairAt, Probe, Visit, VisitBatches};
use crate::samples::Samples;
use crate::schedule;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// After this many visits without a usable batch, the pair is given up.
pub(crate) const MOST_VISITS: u32 = 20;

/// The progress of a matrix.
pub struct MatrixProgress<'a> {
    /// Finished visits, including those of an earlier run.
    pub done: u64,
    /// Planned visits, as currently known.
    pub total: u64,
    /// PUs of the latest pair.
    pub pair: (u32, u32),
    /// Elapsed time of this run.
    pub elapsed: Duration,
    /// Visits of this run, for the pace.
    pub visited: u64,
    /// Samples so far.
    pub samples: &'a Samples,
}

/// The result of a matrix run.
pub struct MatrixOutcome {
    /// All batches.
    pub samples: Samples,
    /// Passes, including an incomplete last one.
    pub passes: u32,
    /// Further visits to pairs whose passes disagreed.
    pub further_passes: u32,
    /// False if the observer ended the run.
    pub finished: bool,
    /// Elapsed time of this run.
    pub elapsed: Duration,
}

impl MatrixOutcome {
    /// Counts visits with batches.
    pub fn visits(&self) -> u64 {
        let pairs = schedule::all_pairs(self.samples.pus().len());
        pairs
            .iter()
            .flat_map(|(i, j)| &self.samples.pair(*i, *j).passes)
            .filter(|pass| !pass.is_empty())
            .count() as u64
    }
}

/// A matrix to measure.
pub struct MatrixRun<'a, P> {
    /// Source of round trips.
    pub probe: &'a mut P,
    /// How much to measure.
    pub plan: &'a SurveyPlan,
    /// Traffic group of each PU, in matrix order: pairs without a common group may run
    /// simultaneously.
    pub group_of: &'a [usize],
    /// Largest number of simultaneous pairs; 1 for a serial run.
    pub together: usize,
    /// Journal for finished pairs.
    pub journal: Option<&'a mut Journal>,
    /// Batches of earlier visits, to which the run adds.
    pub samples: Samples,
}

struct Course<'a> {
    pace: Pace,
    observe: &'a mut dyn FnMut(&MatrixProgress) -> ControlFlow<()>,
}

impl<P: Probe> MatrixRun<'_, P> {
    /// Measures the missing pairs. `observe` runs after every visit and ends the run
    /// by breaking.
    ///
    /// # Errors
    ///
    /// [`MeasureError`]. The journal keeps finished visits.
    pub fn measure(
        mut self,
        observe: &mut dyn FnMut(&MatrixProgress) -> ControlFlow<()>,
    ) -> Result<MatrixOutcome, MeasureError<P::Error>> {
        let n = self.samples.pus().len();
        if n < 2 {
            return Err(MeasureError::TooFew(n));
        }
        let pairs = schedule::all_pairs(n);
        let mut course = Course { pace: Pace::start(pairs.len() as u64), observe };
        let mut pass = 0;
        while (pass as u32) < course.pace.passes(self.plan) {
            if self.pass(&pairs, pass, &mut course)?.is_break() {
                return Ok(self.ended(pass + 1, None, &course.pace));
            }
            pass += 1;
        }
        let further = self.further(&mut course)?;
        Ok(self.ended(pass, further, &course.pace))
    }

    fn pass(
        &mut self,
        pairs: &[(usize, usize)],
        pass: usize,
        course: &mut Course,
    ) -> Result<ControlFlow<()>, MeasureError<P::Error>> {
        let seed = self.plan.seed.wrapping_add(pass as u64);
        for round in schedule::rounds(pairs, self.group_of, self.together, seed) {
            let (there, missing): (Vec<_>, Vec<_>) =
                round.into_iter().partition(|(i, j)| self.samples.pair(*i, *j).has(pass));
            for pair in &there {
                let at = self.at(*pair);
                // Draws the noise of earlier visits, so a resumed run gets equal figures.
                self.probe.passed_over(at);
            }
            course.pace.done += there.len() as u64;
            let Some(last) = missing.last().copied() else { continue };
            self.visit(&missing, pass)?;
            course.pace.visited(missing.len() as u64);
            if (course.observe)(&course.pace.progress(self.plan, last, &self.samples)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Visits a round's pairs together, and those without a batch again alone.
    fn visit(
        &mut self,
        round: &[(usize, usize)],
        pass: usize,
    ) -> Result<(), MeasureError<P::Error>> {
        let round = &self.without_stacked(round, pass)?;
        if round.is_empty() {
            return Ok(());
        }
        let brought = self.batches(round)?;
        for (pair, mut batches) in round.iter().zip(brought) {
            let [a, b] = [pair.0, pair.1].map(|row| self.samples.pus()[row]);
            let mut visits = 1;
            while batches.round_trip_ns.is_empty() {
                if visits == MOST_VISITS {
                    return Err(MeasureError::Disturbed { a, b, visits });
                }
                let more = self.batches(&[*pair])?.pop().unwrap_or_default();
                batches.round_trip_ns = more.round_trip_ns;
                batches.discards += more.discards;
                visits += 1;
            }
            refuse_impossible(
                [a, b],
                &batches,
                self.plan.resolution_ns(self.probe.clock_step_ns()),
            )?;
            self.keep(*pair, pass, batches)?;
        }
        Ok(())
    }

    fn keep(
        &mut self,
        pair: (usize, usize),
        pass: usize,
        batches: VisitBatches,
    ) -> Result<(), MeasureError<P::Error>> {
        // First: an interruption then only repeats a visit.
        if let Some(journal) = self.journal.as_mut() {
            journal.record(pass, pair, &batches)?;
        }
        self.samples.add(pair.0, pair.1, pass, batches);
        Ok(())
    }

    /// A pair keeps its line in all passes, because another may have another home.
    fn line_of(&self, i: usize, j: usize) -> u32 {
        match self.together {
            0 | 1 => 0,
            _ => LINE_SPACING * self.group_of[i].min(self.group_of[j]) as u32,
        }
    }

    fn at(&self, (i, j): (usize, usize)) -> PairAt {
        let pus = self.samples.pus();
        PairAt { a: pus[i], b: pus[j], line: self.line_of(i, j) }
    }

    fn batches(
        &mut self,
        round: &[(usize, usize)],
    ) -> Result<Vec<VisitBatches>, MeasureError<P::Error>> {
        self.visited(round, [self.plan.batches, self.plan.round_trips])
    }

    fn visited(
        &mut self,
        round: &[(usize, usize)],
        [batches, round_trips]: [u32; 2],
    ) -> Result<Vec<VisitBatches>, MeasureError<P::Error>> {
        let pairs = round.iter().map(|pair| self.at(*pair)).collect();
        let visit = Visit { pairs, batches, round_trips };
        self.probe.visit(&visit).map_err(MeasureError::Machine)
    }

    /// `further` is `None` if the observer ended the run.
    fn ended(self, passes: usize, further: Option<u32>, pace: &Pace) -> MatrixOutcome {
        MatrixOutcome {
            samples: self.samples,
            passes: passes as u32,
            further_passes: further.unwrap_or(0),
            finished: further.is_some(),
            elapsed: pace.started.elapsed(),
        }
    }
}

/// Counts candidate lines that such a run needs.
pub fn lines_needed(group_of: &[usize], together: usize) -> u32 {
    match together {
        0 | 1 => 1,
        _ => LINE_SPACING * linkage::count(group_of).max(1) as u32,
    }
}

/// Avoids adjacent-line prefetchers.
pub(crate) const LINE_SPACING: u32 = 2;

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

    fn passes(&self, plan: &SurveyPlan) -> u32 {
        if self.visited < self.pairs {
            return plan.passes.least;
        }
        plan.passes.settled(self.started.elapsed().mul_f64(self.pairs as f64 / self.visited as f64))
    }

    fn progress<'a>(
        &self,
        plan: &SurveyPlan,
        (i, j): (usize, usize),
        samples: &'a Samples,
    ) -> MatrixProgress<'a> {
        MatrixProgress {
            done: self.done,
            // A journal may have more passes than now fit.
            total: (self.pairs * u64::from(self.passes(plan))).max(self.done),
            pair: (samples.pus()[i], samples.pus()[j]),
            elapsed: self.started.elapsed(),
            visited: self.visited,
            samples,
        }
    }
}
