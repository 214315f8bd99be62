//! Placements worth a run: good ones by the models, common ones, and a bad one.

use crate::build::PlaceGround;
use crate::search::SearchLimit;
use crate::{PlaceError, PlaceRequest};
use seatmap_data::plan::Objective;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;

/// The dearest is the bad candidate, the cheapest fill the list.
const DRAWN: usize = 1000;

/// Only the first search gets the full time.
const FURTHER_SECONDS: f64 = 0.1;

/// Further searches per requested candidate.
const SEARCHES_EACH: u64 = 2;

/// A placement with its cost by the request's objective.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementCandidate {
    /// `best`, `least congested`, `optimum 2`, `compact`, `scatter`, `OS order` or `bad`.
    pub name: String,
    /// The OS index of each task's PU.
    pub placement: Vec<u32>,
    /// Its cost.
    pub cost: f64,
}

impl PlaceRequest<'_> {
    /// Returns up to `most` placements (up to two if `most` is less), the best first, the bad one
    /// last. Any two differ for a quarter of the tasks, so that every run adds information.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn candidates(&self, most: usize) -> Result<Vec<PlacementCandidate>, PlaceError> {
        let ground = PlaceGround::of(self)?;
        let judged = |pu_of: &[usize]| (ground.pus.os_of(pu_of), ground.cost(pu_of));
        let best = self.place()?;
        let mut chosen = Chosen { most: most.saturating_sub(1).max(1), candidates: Vec::new() };
        chosen.add("best", (best.placement, best.cost));
        let names = ["OS order", "compact", "scatter"];
        for (name, pu_of) in names.into_iter().zip(ground.usual(self.pattern.tasks)) {
            chosen.add(name, judged(&pu_of));
        }
        if let Some(pu_of) = self.least_congested(&ground) {
            chosen.add("least congested", judged(&pu_of));
        }
        let mut rng = Xoshiro::new(self.seed);
        let mut drawn: Vec<_> =
            (0..DRAWN).map(|_| judged(&ground.at_random(None, &mut rng))).collect();
        drawn.sort_by_key(|(_, cost)| Ordered(*cost));
        self.optima(&mut chosen);
        for one in &drawn {
            chosen.add(&format!("draw {}", chosen.candidates.len()), one.clone());
        }
        // Shows whether placement matters for this program at all.
        if let Some(dearest) = drawn.pop().filter(|(_, cost)| *cost > best.cost) {
            chosen.most += 1;
            chosen.add("bad", dearest);
        }
        Ok(chosen.candidates)
    }

    /// `None` if links are unknown, or are the request's own objective.
    fn least_congested(&self, ground: &PlaceGround) -> Option<Vec<usize>> {
        if self.objective == Objective::Congestion {
            return None;
        }
        let request = PlaceRequest {
            objective: Objective::Congestion,
            limit: self.further(),
            ..self.clone()
        };
        let rows = request.place().ok()?.placement.into_iter();
        Some(rows.map(|os| ground.pus.index_of(os).unwrap_or(0)).collect())
    }

    /// The first search has spent the request's time.
    fn further(&self) -> SearchLimit {
        if self.limit.deadline.is_none() {
            return self.limit.clone();
        }
        SearchLimit::seconds(FURTHER_SECONDS).unless(self.limit.stop.clone())
    }

    fn optima(&self, chosen: &mut Chosen) {
        for search in 1..=SEARCHES_EACH * chosen.most as u64 {
            if chosen.is_full() {
                return;
            }
            let seed = self.seed.wrapping_add(search);
            let limit = self.further();
            let Ok(answer) = (PlaceRequest { seed, limit, ..self.clone() }).place() else { return };
            chosen.add(&format!("optimum {}", search + 1), (answer.placement, answer.cost));
        }
    }
}

struct Chosen {
    most: usize,
    candidates: Vec<PlacementCandidate>,
}

impl Chosen {
    fn is_full(&self) -> bool {
        self.candidates.len() >= self.most
    }

    fn add(&mut self, name: &str, (placement, cost): (Vec<u32>, f64)) {
        let is_new = self.candidates.iter().all(|other| is_far(&other.placement, &placement));
        if is_new && !self.is_full() {
            self.candidates.push(PlacementCandidate { name: name.to_owned(), placement, cost });
        }
    }
}

fn is_far(a: &[u32], b: &[u32]) -> bool {
    let moved = a.iter().zip(b).filter(|(a, b)| a != b).count();
    // One moved task is only a swap with a free PU.
    moved >= 2.max(a.len() / 4).min(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::request;

    fn candidates(machine: &str, pattern: &str, most: usize) -> Vec<PlacementCandidate> {
        let mut request = request(machine, pattern);
        request.limit = SearchLimit::kicks(20);
        request.candidates(most).unwrap()
    }

    #[test]
    fn candidates_start_with_best_and_end_with_bad() {
        let found = candidates("epyc-7r13-2s", "stencil2d:4x4", 10);
        assert_eq!(found.len(), 10, "{found:?}");
        assert_eq!((&*found[0].name, &*found[9].name), ("best", "bad"));
        assert!(found.iter().all(|candidate| candidate.cost >= found[0].cost && candidate.placement.len() == 16));
        assert!(found[9].cost > 1.5 * found[0].cost);
        for (at, one) in found.iter().enumerate() {
            assert!(found[..at].iter().all(|other| is_far(&one.placement, &other.placement)));
        }
    }

    #[test]
    fn small_machine_yields_fewer_candidates() {
        let found = candidates("epyc-7r13-2s", "ring:2", 6);
        assert!((2..=6).contains(&found.len()), "{found:?}");
        assert_eq!(candidates("epyc-7r13-2s", "ring:8", 1).len(), 2, "the best and the bad one");
    }
}
