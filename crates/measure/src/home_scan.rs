//! Candidate lines measured from a few hubs to all PUs, so that they can be sorted by home.

use crate::error::MeasureError;
use crate::fit::{hubs, siblings};
use crate::homes::LineSamples;
use crate::matrix::refuse_impossible;
use crate::plan::Plan;
use crate::probe::{PairAt, Probe, Visit};
use crate::statistics::{mad, median};
use seatmap_machine::{CoreDistance, HomeModel, Topology};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Hubs, if the machine has that many cores: enough for noise of 2 ns in a visit's median.
const HUBS: usize = 6;

/// Visits to each line from each hub to each PU, a new random order each; fewer where the matrix has fewer.
const PASSES: u32 = 3;

/// Batches of a visit while others talk: the shortest counts, for others can only add to it.
const BUSY_BATCHES: u32 = 6;

/// What the scan is about.
pub struct HomeScan<'a> {
    /// The PUs, and their distances at one line.
    pub distance: &'a CoreDistance,
    /// Their groups.
    pub model: &'a HomeModel,
    /// Their cores, where known.
    pub topology: &'a Topology,
    /// How many candidate lines.
    pub lines: u32,
    /// Pairs that talk meanwhile, on random other PUs and lines (Liu et al. 2015, figure 7).
    pub busy: usize,
    /// Batches a visit, and where the random orders start.
    pub plan: &'a Plan,
}

/// One thing to visit, by its places in [`LineSamples`].
type Cell = (u32, usize, usize);

impl HomeScan<'_> {
    /// Visits every candidate line from each hub to each PU of another core. `observe` hears of visits made and visits in
    /// all; if it breaks, the scan ends with `None`.
    ///
    /// # Errors
    /// [`MeasureError`].
    pub fn measure<P: Probe>(
        &self,
        probe: &mut P,
        observe: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<LineSamples>, MeasureError<P::Error>> {
        if self.lines > probe.lines() {
            return Err(MeasureError::TooFewLines { wanted: self.lines, offered: probe.lines() });
        }
        let candidates = probe.spread(self.lines);
        let (hubs, mut cells) = self.cells();
        let passes = self.plan.passes.least().min(PASSES);
        let total = cells.len() as u64 * u64::from(passes);
        let mut seen = vec![vec![vec![Vec::new(); self.distance.pus.len()]; hubs.len()]; self.lines as usize];
        let mut rng = fastrand::Rng::with_seed(self.plan.seed);
        let mut done = 0;
        for _ in 0..passes {
            rng.shuffle(&mut cells);
            for (line, hub, pu) in &cells {
                let pair = PairAt {
                    a: self.distance.pus[hubs[*hub]],
                    b: self.distance.pus[*pu],
                    line: candidates[*line as usize],
                };
                let others = self.others(pair, &candidates, probe.lines(), &mut rng);
                seen[*line as usize][*hub][*pu].extend(self.visit(probe, pair, others)?);
                done += 1;
                if observe(done, total).is_break() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(self.samples(&hubs, &seen)))
    }

    /// The hubs, as rows, and all that is to be visited.
    fn cells(&self) -> (Vec<usize>, Vec<Cell>) {
        let core = siblings::cores(self.distance, self.topology);
        let group: Vec<usize> =
            self.model.group_of(&self.distance.pus).into_iter().map(|group| group.unwrap_or(0)).collect();
        let hubs = hubs::choose(&group, &core, HUBS);
        let mut cells = Vec::new();
        for line in 0..self.lines {
            for (at, hub) in hubs.iter().enumerate() {
                let others = (0..core.len()).filter(|pu| core[*pu] != core[*hub]);
                cells.extend(others.map(|pu| (line, at, pu)));
            }
        }
        (hubs, cells)
    }

    /// The median of a visit; the shortest batch where others talk.
    fn visit<P: Probe>(
        &self,
        probe: &mut P,
        pair: PairAt,
        others: Vec<PairAt>,
    ) -> Result<Option<f64>, MeasureError<P::Error>> {
        let is_alone = others.is_empty();
        let batches = if is_alone { self.plan.batches } else { self.plan.batches.max(BUSY_BATCHES) };
        let pairs = [vec![pair], others].concat();
        let round_trips = if is_alone { self.plan.round_trips } else { 1 };
        let visit = Visit { pairs, batches, round_trips };
        let brought = probe.visit(&visit).map_err(MeasureError::Machine)?.into_iter().next().unwrap_or_default();
        refuse_impossible(pair.a, pair.b, &brought)?;
        match is_alone {
            true => Ok(median(&brought.round_trip_ns)),
            false => Ok(brought.round_trip_ns.into_iter().min_by(f64::total_cmp)),
        }
    }

    /// The pairs that talk beside one, over other lines than the candidates, as far as there are any: on two cores each,
    /// for a pair on one would be done ten times as fast.
    fn others(&self, beside: PairAt, candidates: &[u32], lines: u32, rng: &mut fastrand::Rng) -> Vec<PairAt> {
        if self.busy == 0 {
            return Vec::new();
        }
        let mut free: Vec<u32> = self.topology.os_indices().filter(|os| ![beside.a, beside.b].contains(os)).collect();
        rng.shuffle(&mut free);
        let apart = |pair: &&[u32]| !self.topology.are_smt_siblings(pair[0], pair[1]);
        let pairs = free.chunks_exact(2).filter(apart).take(self.busy);
        pairs
            .zip(spare(candidates, lines, self.busy, rng))
            .map(|(pair, line)| PairAt { a: pair[0], b: pair[1], line })
            .collect()
    }

    fn samples(&self, hubs: &[usize], seen: &[Vec<Vec<Vec<f64>>>]) -> LineSamples {
        let each = |of: fn(&[f64]) -> Option<f64>| {
            let cells = |cells: &Vec<Vec<f64>>| cells.iter().map(|visits| of(visits).unwrap_or(f64::NAN)).collect();
            seen.iter().map(|hubs| hubs.iter().map(cells).collect()).collect()
        };
        LineSamples {
            pus: self.distance.pus.clone(),
            hubs: hubs.iter().map(|hub| self.distance.pus[*hub]).collect(),
            median_ns: each(median),
            noise_ns: each(mad),
        }
    }
}

/// So many random lines, all different, that are no candidates; fewer where there are fewer. A machine that is replayed has
/// four billion lines, so that they are drawn and not listed.
fn spare(candidates: &[u32], lines: u32, count: usize, rng: &mut fastrand::Rng) -> Vec<u32> {
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
    fn spare_lines_are_all_that_are_no_candidates() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut all = spare(&[1, 3], 6, 9, &mut rng);
        all.sort_unstable();
        assert_eq!(all, [0, 2, 4, 5]);
        assert_eq!(spare(&[1, 3], u32::MAX, 2, &mut rng).len(), 2);
        assert!(spare(&[0, 1], 2, 3, &mut rng).is_empty());
    }
}
