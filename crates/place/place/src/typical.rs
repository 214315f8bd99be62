//! A random placement that is neither lucky nor unlucky.

use crate::build::PlaceGround;
use crate::{PlaceError, PlaceRequest, TrialJudge};
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;

/// The number of random placements; odd, so that one is in the middle.
pub const DRAWN: usize = 101;

impl PlaceRequest<'_> {
    /// The random placement of median cost among [`DRAWN`], and its cost, without constraints
    /// except for the PUs. With `judge`, the program runs under each.
    ///
    /// # Errors
    /// [`PlaceError`]: the request cannot be met on this machine, or a run failed.
    pub fn typical(&self, judge: Option<TrialJudge>) -> Result<(Vec<u32>, f64), PlaceError> {
        let ground = PlaceGround::of(self)?;
        let mut rng = Xoshiro::new(self.seed);
        let core = ground.cores();
        let mut drawn = Vec::with_capacity(DRAWN);
        for _ in 0..DRAWN {
            let pu_of = ground.at_random(core.as_deref(), &mut rng);
            let placement = ground.pus.os_of(&pu_of);
            let cost = match judge {
                Some(judge) => (judge.time_ns)(&placement).map_err(PlaceError::Unfit)?,
                None => ground.cost(&pu_of),
            };
            drawn.push((placement, cost));
        }
        drawn.sort_by_key(|(_, cost)| Ordered(*cost));
        Ok(drawn.swap_remove(DRAWN / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::request;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn typical_placement_has_median_cost() {
        let request = request("xeon-e5-2680-2s", "ring:8");
        let (placement, cost) = request.typical(None).unwrap();
        let runs = AtomicU32::new(0);
        let time_ns = |_: &[u32]| Ok(f64::from(runs.fetch_add(1, Ordering::Relaxed)));
        let random = request.place().unwrap().baselines.random;
        assert_eq!(placement.len(), 8);
        assert!(random.best < cost && cost < 1.2 * random.mean, "{cost}");
        assert_eq!(request.typical(None).unwrap().0, placement, "the same seed");
        let judge = TrialJudge { time_ns: &time_ns, floor_ns: 0.0 };
        assert_eq!(request.typical(Some(judge)).unwrap().1, 50.0);
    }
}
