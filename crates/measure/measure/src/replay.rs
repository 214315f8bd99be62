//! A profile as a machine.

use crate::fit::siblings;
use crate::probe::{Discards, PairAt, Probe, Visit, VisitBatches};
use seatmap_data::machine::{CoreDistance, HomeModel, Profile};
use seatmap_data::statistics::{MAD_TO_SIGMA, normal};
use std::collections::HashMap;

/// The default noise of a replayed batch: 1 % of the distance, as on quiet bare metal.
const USUAL_NOISE: f64 = 0.01;

/// A profile as a source of round trips: its medians with normal noise of their measured size, on a
/// clock with its step. Simultaneous pairs do not disturb each other. The figures of a visit depend
/// only on the seed, the pair, its line and the number of earlier visits, so a resumed run draws
/// the same.
#[derive(Debug)]
pub struct Replay {
    distance: CoreDistance,
    model: Option<HomeModel>,
    core: Vec<usize>,
    clock_step_ns: f64,
    seed: u64,
    visits: HashMap<PairAt, u64>,
}

/// Why a profile cannot be replayed or a visit failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// The profile has no distances.
    #[error("cannot measure {0}: the profile has no core distances")]
    NoDistances(String),
    /// The profile lacks this pair.
    #[error("the profile has no distance between CPUs {0} and {1}")]
    UnknownPair(u32, u32),
}

impl Replay {
    /// Turns a profile into a machine.
    ///
    /// # Errors
    /// [`ReplayError::NoDistances`].
    pub fn new(profile: &Profile, seed: u64) -> Result<Self, ReplayError> {
        let distance = profile
            .core_distance
            .clone()
            .ok_or_else(|| ReplayError::NoDistances(profile.name.clone()))?;
        let clock_step_ns = profile.clock.step_ns.filter(|step| *step > 0.0).unwrap_or(1.0);
        let model = profile.home_model.clone().filter(|model| model.homes() > 1);
        let core = siblings::cores(&distance, &profile.topology);
        Ok(Replay { distance, model, core, clock_step_ns, seed, visits: HashMap::new() })
    }

    fn batches(&mut self, pair: PairAt, visit: &Visit) -> Result<VisitBatches, ReplayError> {
        let unknown = ReplayError::UnknownPair(pair.a, pair.b);
        let i = self.distance.index_of(pair.a).ok_or(unknown.clone())?;
        let j = self.distance.index_of(pair.b).ok_or(unknown.clone())?;
        let median_ns = self.median_ns(i, j, pair.line);
        if median_ns.is_nan() || median_ns <= 0.0 {
            return Err(unknown);
        }
        let known = self.distance.mad_ns.as_ref().map(|mad| mad[(i, j)] * MAD_TO_SIGMA);
        let sigma_ns = known.filter(|sigma| *sigma > 0.0).unwrap_or(USUAL_NOISE * median_ns);
        let step_ns = self.clock_step_ns / f64::from(visit.round_trips.max(1));
        let mut rng = self.noise_of_next(pair);
        let round_trip_ns = (0..visit.batches)
            .map(|_| {
                let read_ns = (median_ns + sigma_ns * normal(&mut rng)).max(0.5 * median_ns);
                (read_ns / step_ns).round() * step_ns
            })
            .collect();
        Ok(VisitBatches { round_trip_ns, discards: Discards::default() })
    }

    fn noise_of_next(&mut self, pair: PairAt) -> fastrand::Rng {
        let visits = self.visits.entry(pair).or_default();
        let numbers = [u64::from(pair.a), u64::from(pair.b), u64::from(pair.line), *visits];
        *visits += 1;
        let mixed = numbers
            .iter()
            .fold(self.seed, |seed, number| fastrand::Rng::with_seed(seed ^ number).u64(..));
        fastrand::Rng::with_seed(mixed)
    }

    /// Uses the home model if it has several homes and knows the pair, otherwise the matrix.
    /// Siblings exchange a line inside their core, regardless of its home.
    fn median_ns(&self, i: usize, j: usize, line: u32) -> f64 {
        let by_home =
            self.model.as_ref().filter(|_| self.core[i] != self.core[j]).and_then(|model| {
                let home = line as usize % model.homes();
                model.round_trip_ns(&self.distance.pus, i, j, home)
            });
        by_home.unwrap_or(self.distance.median_ns[(i, j)])
    }
}

impl Probe for Replay {
    type Error = ReplayError;

    fn visit(&mut self, visit: &Visit) -> Result<Vec<VisitBatches>, ReplayError> {
        visit.pairs.iter().map(|pair| self.batches(*pair, visit)).collect()
    }

    fn passed_over(&mut self, pair: PairAt) {
        *self.visits.entry(pair).or_default() += 1;
    }

    fn clock_step_ns(&self) -> f64 {
        self.clock_step_ns
    }

    fn lines(&self) -> u32 {
        u32::MAX
    }
}
