//! Further visits to pairs whose passes disagree.

use super::{Course, MatrixRun};
use crate::error::MeasureError;
use crate::probe::Probe;
use crate::samples::Samples;
use crate::{regimes, schedule};
use std::time::{Duration, Instant};

/// The minimum number of such passes, even if they take long.
const FEWEST: u32 = 3;

impl<P: Probe> MatrixRun<'_, P> {
    /// Returns the number of passes; `None` if the observer ended the run.
    pub(super) fn further(
        &mut self,
        course: &mut Course,
    ) -> Result<Option<u32>, MeasureError<P::Error>> {
        let first = self.samples.passes();
        let further = self.plan.further;
        let passes = further.passes.min(self.plan.most_passes().saturating_sub(first as u32));
        let pairs = disagreeing(&self.samples);
        if pairs.is_empty() {
            return Ok(Some(0));
        }
        let begun = Instant::now();
        for pass in 0..passes {
            if pass >= FEWEST && begun.elapsed() >= further.period * passes {
                return Ok(Some(pass));
            }
            // A vCPU stays in place for seconds.
            wait_until(begun + further.period * (pass + 1));
            if self.pass(&pairs, first + pass as usize, course)?.is_break() {
                return Ok(None);
            }
        }
        Ok(Some(passes))
    }
}

fn disagreeing(samples: &Samples) -> Vec<(usize, usize)> {
    let mut pairs = schedule::all_pairs(samples.pus().len());
    pairs.retain(|(i, j)| regimes::passes_disagree(&samples.pair(*i, *j).passes));
    pairs
}

fn wait_until(due: Instant) {
    let left = due.saturating_duration_since(Instant::now());
    if left > Duration::ZERO {
        std::thread::sleep(left);
    }
}
