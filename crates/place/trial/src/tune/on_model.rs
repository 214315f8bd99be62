//! Runs a pattern's messages on a simulated machine, and measures the time.
//!
//! A run depends only on the seats and the skew between the tasks' starts. The time excludes work
//! between messages.

use seatmap_data::document::Failure;
use seatmap_data::pattern::Pattern;
use seatmap_machines::workload::{Handoffs, handoffs_ns};
use seatmap_os::pool;
use seatmap_sim::{CoherentBed, CoherentModel};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Messages over the cache lines of a machine.
#[derive(Debug)]
pub struct OnModel {
    model: Arc<CoherentModel>,
    handoffs: Handoffs,
}

/// A simulated run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedRun {
    /// The PU of each task.
    pub seats: Vec<u32>,
    /// The seed of the skews between the tasks' starts.
    pub skew: u64,
}

impl OnModel {
    /// A pattern's messages, all sent `rounds` times.
    ///
    /// # Errors
    /// [`Failure`]: the pattern has no messages.
    pub fn new(
        model: &Arc<CoherentModel>,
        pattern: &Pattern,
        rounds: u32,
    ) -> Result<Self, Failure> {
        let handoffs = Handoffs::along(pattern, 0, rounds);
        if handoffs.handoffs.is_empty() {
            return Err(Failure::input(format!(
                "a race on {} needs a pattern with messages between at least two tasks",
                model.name
            )));
        }
        Ok(OnModel { model: Arc::clone(model), handoffs })
    }

    /// Nanoseconds from the first task's start to the last one's end.
    ///
    /// # Errors
    /// The machine's message: a seat is not one of its PUs.
    pub fn time_ns(&self, job: &SimulatedRun) -> Result<f64, String> {
        let mut bed = CoherentBed::new(Arc::clone(&self.model));
        bed.seed = job.skew;
        handoffs_ns(&mut bed, &self.handoffs, &job.seats).map_err(|error| error.to_string())
    }

    /// The times of some runs, given with their indices, in nanoseconds, in parallel.
    ///
    /// # Errors
    /// As [`OnModel::time_ns`], or the flag was set.
    pub fn numbered_times_ns(
        &self,
        jobs: &[(usize, SimulatedRun)],
        is_over: &AtomicBool,
    ) -> Result<Vec<f64>, String> {
        pool::try_map(
            jobs,
            || (),
            |_, (_, job)| {
                // The flag orders no other memory.
                if is_over.load(Ordering::Relaxed) {
                    return Err("the calculation was cancelled".to_owned());
                }
                self.time_ns(job)
            },
        )
    }
}

/// The seed of a run's skews, the same for all candidates.
pub fn skew(seed: u64, run: usize) -> u64 {
    // Zero would mean no skew.
    fastrand::Rng::with_seed(seed.wrapping_add((run as u64 + 1) << 32)).u64(1..)
}

/// Random seats, for a run without a plan.
pub fn drawn(pus: &[u32], tasks: usize, seed: u64) -> Vec<u32> {
    let mut pus = pus.to_vec();
    fastrand::Rng::with_seed(seed).shuffle(&mut pus);
    pus.truncate(tasks);
    pus
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::pattern::generate;
    use seatmap_sim::catalog;

    fn ring() -> OnModel {
        let model = catalog::load("scc-48").unwrap().unwrap();
        OnModel::new(&model, &generate("ring:4").unwrap(), 2).unwrap()
    }

    fn job(seats: [u32; 4], skew: u64) -> SimulatedRun {
        SimulatedRun { seats: seats.to_vec(), skew }
    }

    #[test]
    fn simulated_run_depends_on_seats_and_skew() {
        let ring = ring();
        let time = |job: &SimulatedRun| ring.time_ns(job).unwrap();
        let first = job([0, 1, 2, 3], 7);
        assert!(time(&first) > 0.0);
        assert_eq!(time(&first).to_bits(), time(&first).to_bits());
        assert_ne!(time(&first).to_bits(), time(&job([0, 1, 2, 3], 8)).to_bits());
        assert!(ring.time_ns(&job([0, 1, 2, 99], 7)).is_err());
        let all = [(0, first), (1, job([3, 1, 2, 0], 7))];
        let times = ring.numbered_times_ns(&all, &AtomicBool::new(false)).unwrap();
        assert_eq!(times, [time(&all[0].1), time(&all[1].1)]);
        assert!(ring.numbered_times_ns(&all, &AtomicBool::new(true)).is_err());
    }

    #[test]
    fn model_race_rejects_pattern_without_messages() {
        let model = catalog::load("scc-48").unwrap().unwrap();
        let refused = OnModel::new(&model, &Pattern::silent("none", 4), 2).unwrap_err().to_string();
        assert!(refused.contains("messages between at least two tasks"), "{refused}");
    }

    #[test]
    fn drawn_seats_are_distinct_and_depend_on_seed() {
        let one = drawn(&[4, 5, 6, 7, 8], 3, 1);
        let other = drawn(&[4, 5, 6, 7, 8], 3, 2);
        assert!(one != other && one == drawn(&[4, 5, 6, 7, 8], 3, 1));
        assert!(
            one.len() == 3
                && one.iter().all(|pu| (4..9).contains(pu))
                && one[0] != one[1]
                && one[1] != one[2]
        );
    }
}
