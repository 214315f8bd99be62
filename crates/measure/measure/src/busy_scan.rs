//! Measures candidate lines while all PUs communicate, as on a busy machine (Liu et al. 2015,
//! figure 7).
//!
//! All pairs, drawn anew each round, run simultaneously over separate lines and are measured, so a
//! round yields each pair's round trip in different company.

use crate::error::MeasureError;
use crate::fit::{linkage, siblings};
use crate::floor::{refuse_impossible, refuse_too_few_lines};
use crate::homes::crowd::CrowdRoundTrip;
use crate::plan::SurveyPlan;
use crate::probe::{PairAt, Probe, Visit};
use fastrand::Rng;
use seatmap_data::machine::{CoreDistance, Topology};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Round trips of each core over each line, per pass of the plan.
const LOOKS: usize = 24;
/// Only round trips during which all pairs run count, and the slowest take several times as long as
/// the fastest.
const BATCHES: u32 = 12;

/// If all were used at once, lines of one home would always load it together.
const SHARE: u32 = 2;

/// The PUs and lines of the scan.
pub struct BusyScan<'a> {
    /// PUs.
    pub distance: &'a CoreDistance,
    /// All PUs of the machine, with their cores if known.
    pub topology: &'a Topology,
    /// Candidate lines.
    pub lines: u32,
    /// Simultaneous pairs.
    pub pairs: usize,
    /// Measurements and the seed.
    pub plan: &'a SurveyPlan,
}

impl BusyScan<'_> {
    /// Measures random pairs, each core equally often over each line. `observe` receives the rounds
    /// made and all rounds; if it breaks, the result is `None`.
    ///
    /// # Errors
    ///
    /// [`MeasureError`].
    pub fn measure<P: Probe>(
        &self,
        probe: &mut P,
        observe: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<Vec<CrowdRoundTrip>>, MeasureError<P::Error>> {
        refuse_too_few_lines(probe, self.lines)?;
        let candidates = probe.spread(self.lines);
        let core = siblings::cores(self.distance, self.topology);
        let mut rng = Rng::with_seed(self.plan.seed);
        let mut talks = Vec::new();
        let rounds = self.rounds(&core);
        for round in 0..rounds {
            talks.extend(self.round(probe, &candidates, &core, &mut rng)?);
            if observe(round + 1, rounds).is_break() {
                return Ok(None);
            }
        }
        Ok(Some(talks))
    }

    fn rounds(&self, core: &[usize]) -> u64 {
        let cores = linkage::count(core);
        let looks = LOOKS * self.plan.passes.least as usize * cores * self.lines as usize;
        let at_once = self.pairs.min(core.len() / 2).min(self.at_once());
        looks.div_ceil(2 * at_once.max(1)) as u64
    }

    fn at_once(&self) -> usize {
        (self.lines / SHARE) as usize
    }

    fn round<P: Probe>(
        &self,
        probe: &mut P,
        candidates: &[u32],
        core: &[usize],
        rng: &mut Rng,
    ) -> Result<Vec<CrowdRoundTrip>, MeasureError<P::Error>> {
        let rows = self.rows(core, rng);
        let measured = rows.len().min(self.at_once());
        let about: Vec<usize> = rng.choose_multiple(0..self.lines as usize, measured);
        let others = self.others(self.pairs - rows.len(), rng);
        let seats = rows.iter().map(|rows| rows.map(|row| self.distance.pus[row])).chain(others);
        // Other pairs load the machine over lines not measured.
        let spare = spare(candidates, probe.lines(), self.pairs, rng);
        let over = about.iter().map(|line| candidates[*line]).chain(spare);
        let pairs = seats.zip(over).map(|([a, b], line)| PairAt { a, b, line }).collect();
        // Single round trips: in a longer batch one is always delayed.
        let visit = Visit { pairs, batches: BATCHES, round_trips: 1 };
        let brought = probe.visit(&visit).map_err(MeasureError::Machine)?;
        let mut talks = Vec::new();
        for (((rows, line), batches), pair) in rows.iter().zip(about).zip(brought).zip(&visit.pairs)
        {
            refuse_impossible([pair.a, pair.b], &batches, probe.clock_step_ns())?;
            let shortest = batches.round_trip_ns.into_iter().min_by(f64::total_cmp);
            talks.extend(shortest.map(|ns| CrowdRoundTrip { line, rows: *rows, ns }));
        }
        Ok(talks)
    }

    /// A pair on one core would finish ten times as fast.
    fn rows(&self, core: &[usize], rng: &mut Rng) -> Vec<[usize; 2]> {
        let mut rows: Vec<usize> = (0..core.len()).collect();
        rng.shuffle(&mut rows);
        let pairs = rows.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
        pairs.filter(|[i, j]| core[*i] != core[*j]).take(self.pairs).collect()
    }

    fn others(&self, count: usize, rng: &mut Rng) -> Vec<[u32; 2]> {
        let mut free: Vec<u32> =
            self.topology.os_indices().filter(|os| self.distance.index_of(*os).is_none()).collect();
        rng.shuffle(&mut free);
        let pairs = free.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
        pairs.filter(|[a, b]| !self.topology.are_smt_siblings(*a, *b)).take(count).collect()
    }
}

/// `count` random lines other than candidates, or fewer if there are too few; drawn, because a
/// replayed machine has four billion.
fn spare(candidates: &[u32], lines: u32, count: usize, rng: &mut Rng) -> Vec<u32> {
    let count = count.min((lines as usize).saturating_sub(candidates.len()));
    let mut taken: HashSet<u32> = candidates.iter().copied().collect();
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let line = rng.u32(..lines);
        if taken.insert(line) {
            drawn.push(line);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_lines_exclude_candidates() {
        let mut rng = Rng::with_seed(1);
        let mut all = spare(&[1, 3], 6, 9, &mut rng);
        all.sort_unstable();
        assert_eq!(all, [0, 2, 4, 5]);
        assert_eq!(spare(&[1, 3], u32::MAX, 2, &mut rng).len(), 2);
        assert!(spare(&[0, 1], 2, 3, &mut rng).is_empty());
    }
}
