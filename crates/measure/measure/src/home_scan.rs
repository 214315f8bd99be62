//! Measures candidate lines from hubs to all PUs.

use crate::error::MeasureError;
use crate::fit::{hubs, siblings};
use crate::floor::{refuse_impossible, refuse_too_few_lines};
use crate::homes::LineSamples;
use crate::interference::visited;
use crate::plan::SurveyPlan;
use crate::probe::{PairAt, Probe};
use seatmap_data::machine::{CoreDistance, HomeModel, Topology};
use seatmap_data::statistics::{mad, median};
use std::ops::ControlFlow;

/// Six hubs suffice for 2 ns of noise in a visit's median.
const HUBS: usize = 6;

/// Visits to each line from each hub to each PU, in a new random order; fewer if the matrix has
/// fewer.
const PASSES: u32 = 3;

/// The PUs and lines of the scan.
pub struct HomeScan<'a> {
    /// PUs and their distances at one line.
    pub distance: &'a CoreDistance,
    /// Their groups.
    pub model: &'a HomeModel,
    /// Their cores, if known.
    pub topology: &'a Topology,
    /// Candidate lines.
    pub lines: u32,
    /// Batches per visit and the seed.
    pub plan: &'a SurveyPlan,
}

type Cell = (u32, usize, usize);

impl HomeScan<'_> {
    /// Visits every candidate line from each hub to each PU of another core. `observe` receives the
    /// visits made and all visits; if it breaks, the result is `None`.
    ///
    /// # Errors
    ///
    /// [`MeasureError`].
    pub fn measure<P: Probe>(
        &self,
        probe: &mut P,
        observe: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<LineSamples>, MeasureError<P::Error>> {
        refuse_too_few_lines(probe, self.lines)?;
        let candidates = probe.spread(self.lines);
        let (hubs, mut cells) = self.cells();
        let passes = self.plan.passes.least.min(PASSES);
        let total = cells.len() as u64 * u64::from(passes);
        let mut seen =
            vec![vec![vec![Vec::new(); self.distance.pus.len()]; hubs.len()]; self.lines as usize];
        let mut rng = fastrand::Rng::with_seed(self.plan.seed);
        let mut done = 0;
        for _ in 0..passes {
            // A new order each time, so drift does not look like a difference between early and
            // late lines.
            rng.shuffle(&mut cells);
            for (line, hub, pu) in &cells {
                let pair = PairAt {
                    a: self.distance.pus[hubs[*hub]],
                    b: self.distance.pus[*pu],
                    line: candidates[*line as usize],
                };
                seen[*line as usize][*hub][*pu].extend(self.visit(probe, pair)?);
                done += 1;
                if observe(done, total).is_break() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(self.samples(&hubs, &seen)))
    }

    fn cells(&self) -> (Vec<usize>, Vec<Cell>) {
        let core = siblings::cores(self.distance, self.topology);
        let group: Vec<usize> = self
            .model
            .group_of(&self.distance.pus)
            .into_iter()
            .map(|group| group.unwrap_or(0))
            .collect();
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

    fn visit<P: Probe>(
        &self,
        probe: &mut P,
        pair: PairAt,
    ) -> Result<Option<f64>, MeasureError<P::Error>> {
        let brought = visited(probe, &[pair], self.plan)?.pop().unwrap_or_default();
        let resolution_ns = self.plan.resolution_ns(probe.clock_step_ns());
        refuse_impossible([pair.a, pair.b], &brought, resolution_ns)?;
        Ok(median(&brought.round_trip_ns))
    }

    fn samples(&self, hubs: &[usize], seen: &[Vec<Vec<Vec<f64>>>]) -> LineSamples {
        LineSamples {
            pus: self.distance.pus.clone(),
            hubs: hubs.iter().map(|hub| self.distance.pus[*hub]).collect(),
            median_ns: summarised(seen, |visits| median(visits)),
            noise_ns: summarised(seen, mad),
        }
    }
}

fn summarised(seen: &[Vec<Vec<Vec<f64>>>], of: fn(&[f64]) -> Option<f64>) -> Vec<Vec<Vec<f64>>> {
    seen.iter()
        .map(|hubs| {
            hubs.iter()
                .map(|row| row.iter().map(|visits| of(visits).unwrap_or(f64::NAN)).collect())
                .collect()
        })
        .collect()
}
