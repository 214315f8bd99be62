//! Memory bandwidth by number of threads: read, write and triad in each L3 cache, NUMA node and
//! package.
//!
//! `parts` finds the parts of the machine and the order in which threads fill them, `arrays` sizes
//! the arrays so that neither cache hits nor swapping decide, [`StreamPlan`] visits all numbers of
//! threads in rounds, and [`HostBandwidth`] does it on this host.

mod arrays;
mod host;
mod parts;

pub use arrays::{StreamArrays, TooLittleMemory};
pub use host::HostBandwidth;
pub use parts::parts;

use crate::plan::Effort;
use seatmap_data::machine::{Bandwidth, BandwidthGroup, BandwidthPoint, StreamKernel};
use seatmap_data::statistics::{Xoshiro, summarise};
use seatmap_machines::host::streams::{BATCH_NS, BATCHES};
use std::ops::ControlFlow;

/// A measurement that the user ends after fewer rounds is not kept.
pub const LEAST_ROUNDS: u32 = 3;

/// Rounds by effort: quick, usual, thorough.
const USUAL_ROUNDS: [u32; 3] = [7, 51, 151];

/// The time for all rounds, in the same order. Machines with many CPUs get fewer rounds.
const BUDGET_S: [f64; 3] = [6.0, 25.0, 75.0];

/// Even if they take longer than that.
const FEWEST_ROUNDS: u32 = 5;

/// One number of threads of one group, with one loop.
struct StreamVisit {
    group: usize,
    kernel: StreamKernel,
    threads: usize,
    rounds_gbps: Vec<Vec<f64>>,
}

/// The numbers of threads for a group: 1, 2, 3, 4, 6, 8, 12, ..., one per core, and all.
fn counts(threads: usize, cores: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1_usize), |power| power.checked_mul(2));
    let series = powers.flat_map(|power| [power, power + power / 2]);
    let mut counts: Vec<usize> = series.take_while(|count| *count < threads).collect();
    counts.extend([cores, threads]);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// How much to measure, and in which order.
pub struct StreamPlan {
    visits: Vec<StreamVisit>,
    groups: Vec<BandwidthGroup>,
    rounds: u32,
    seed: u64,
}

impl StreamPlan {
    /// Each number of threads of each group, with each loop.
    pub fn new(groups: Vec<(BandwidthGroup, usize)>, effort: Effort, seed: u64) -> Self {
        let mut visits = Vec::new();
        for (at, (group, cores)) in groups.iter().enumerate() {
            for threads in counts(group.pus.len(), *cores) {
                visits.extend(StreamKernel::ALL.map(|kernel| StreamVisit {
                    group: at,
                    kernel,
                    threads,
                    rounds_gbps: Vec::new(),
                }));
            }
        }
        let round_s = visits.len() as f64 * BATCH_NS * (BATCHES + 1) as f64 / 1e9;
        let affordable = (BUDGET_S[effort as usize] / round_s.max(1e-9)) as u32;
        let usual = USUAL_ROUNDS[effort as usize];
        let groups = groups.into_iter().map(|(group, _)| group).collect();
        StreamPlan { visits, groups, rounds: affordable.clamp(FEWEST_ROUNDS, usual), seed }
    }

    /// Counts rounds.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Visits all numbers of threads, each round in a new random order, so changes of the machine
    /// affect all alike. `rates_gbps` returns the rates of undisturbed batches of threads on these
    /// CPUs together. `go_on` receives the finished visits and their total; if it breaks, whole
    /// rounds count. `None` after fewer than [`LEAST_ROUNDS`].
    ///
    /// # Errors
    ///
    /// The source's.
    pub fn measure<E>(
        mut self,
        mut rates_gbps: impl FnMut(StreamKernel, &[u32]) -> Result<Vec<f64>, E>,
        mut go_on: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Bandwidth>, E> {
        let mut rng = Xoshiro::new(self.seed);
        let mut order: Vec<usize> = (0..self.visits.len()).collect();
        let all = order.len() * self.rounds as usize;
        let mut done = 0;
        'rounds: for _ in 0..self.rounds {
            rng.shuffle(&mut order);
            for at in &order {
                if go_on(done, all).is_break() {
                    break 'rounds;
                }
                let visit = &mut self.visits[*at];
                let pus = &self.groups[visit.group].pus[..visit.threads];
                visit.rounds_gbps.push(rates_gbps(visit.kernel, pus)?);
                done += 1;
            }
        }
        let rounds = (done / order.len().max(1)) as u32;
        Ok((rounds >= LEAST_ROUNDS).then(|| self.summed(rounds)))
    }

    fn summed(mut self, rounds: u32) -> Bandwidth {
        for visit in &mut self.visits {
            visit.rounds_gbps.truncate(rounds as usize);
            let group = &mut self.groups[visit.group];
            let curve = match visit.kernel {
                StreamKernel::Read => &mut group.read,
                StreamKernel::Write => &mut group.write,
                StreamKernel::Triad => &mut group.triad,
            };
            curve.extend(visit.point(self.seed));
        }
        Bandwidth { rounds, batch_ns: BATCH_NS, groups: self.groups, ..Bandwidth::default() }
    }
}

impl StreamVisit {
    /// `None` if every batch was disturbed.
    fn point(&self, seed: u64) -> Option<BandwidthPoint> {
        let summary = summarise(&self.rounds_gbps, seed)?;
        Some(BandwidthPoint {
            threads: self.threads as u32,
            median_gbps: summary.median,
            p10_gbps: summary.p10,
            mad_gbps: summary.mad,
            ci95_low_gbps: summary.ci95_low,
            ci95_high_gbps: summary.ci95_high,
            batches: summary.n as u64,
            discarded: (self.rounds_gbps.len() * BATCHES - summary.n) as u64,
        })
    }
}

#[cfg(test)]
mod tests;
