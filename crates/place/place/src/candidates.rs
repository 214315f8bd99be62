//! Placements worth a run: good ones by the models, common ones, and a bad one.

use crate::baselines::{at_random, usual};
use crate::build::problem;
use crate::search::SearchLimit;
use crate::{Links, PlaceError, PlaceRequest, Problem, Pus};
use seatmap_data::plan::Objective;
use seatmap_data::statistics::Xoshiro;

/// The dearest becomes the bad candidate, the cheapest fill up the list.
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
        let pus = self.pus()?;
        let problem = problem(self, &pus)?;
        let field = Field {
            request: self,
            problem: &problem,
            pus: &pus,
            links: Links::new(self.profile, &pus),
        };
        let best = self.place()?;
        let mut chosen = Chosen { most: most.saturating_sub(1).max(1), candidates: Vec::new() };
        chosen.add("best", best.placement, best.cost);
        field
            .usual()
            .into_iter()
            .for_each(|(name, placement, cost)| chosen.add(name, placement, cost));
        if let Some((placement, cost)) = field.least_congested() {
            chosen.add("least congested", placement, cost);
        }
        let drawn = field.drawn();
        field.optima(&mut chosen);
        for (placement, cost) in &drawn {
            let name = format!("draw {}", chosen.candidates.len());
            chosen.add(&name, placement.clone(), *cost);
        }
        // Shows whether placement matters for this program at all.
        if let Some((placement, cost)) = drawn.last().filter(|(_, cost)| *cost > best.cost) {
            chosen.most += 1;
            chosen.add("bad", placement.clone(), *cost);
        }
        Ok(chosen.candidates)
    }
}

struct Field<'a> {
    request: &'a PlaceRequest<'a>,
    problem: &'a Problem,
    pus: &'a Pus,
    links: Links,
}

impl Field<'_> {
    fn judged(&self, pu_of: &[usize]) -> (Vec<u32>, f64) {
        let cost = self.request.cost(self.problem, self.pus, &self.links, pu_of);
        (self.pus.os_of(pu_of), cost)
    }

    fn rows(&self, placement: &[u32]) -> Vec<usize> {
        placement.iter().map(|os| self.pus.index_of(*os).unwrap_or(0)).collect()
    }

    fn usual(&self) -> Vec<(&'static str, Vec<u32>, f64)> {
        let named = ["OS order", "compact", "scatter"].into_iter();
        named
            .zip(usual(self.request, self.problem.tasks(), self.pus))
            .map(|(name, pu_of): (&'static str, Vec<usize>)| {
                let (placement, cost) = self.judged(&pu_of);
                (name, placement, cost)
            })
            .collect()
    }

    /// `None` if links are unknown, or are the request's own objective.
    fn least_congested(&self) -> Option<(Vec<u32>, f64)> {
        if self.request.objective == Objective::Congestion {
            return None;
        }
        let objective = Objective::Congestion;
        let limit = self.further();
        let request = PlaceRequest { objective, limit, ..self.request.clone() };
        let answer = request.place().ok()?;
        Some(self.judged(&self.rows(&answer.placement)))
    }

    /// The first search has spent the request's time.
    fn further(&self) -> SearchLimit {
        let first = &self.request.limit;
        if first.deadline.is_none() {
            return first.clone();
        }
        SearchLimit::seconds(FURTHER_SECONDS).unless(first.stop.clone())
    }

    fn optima(&self, chosen: &mut Chosen) {
        for search in 1..=SEARCHES_EACH * chosen.most as u64 {
            if chosen.is_full() {
                return;
            }
            let seed = self.request.seed.wrapping_add(search);
            let limit = self.further();
            let Ok(answer) = (PlaceRequest { seed, limit, ..self.request.clone() }).place() else {
                return;
            };
            let name = format!("optimum {}", search + 1);
            chosen.add(&name, answer.placement, answer.cost);
        }
    }

    fn drawn(&self) -> Vec<(Vec<u32>, f64)> {
        let mut rng = Xoshiro::new(self.request.seed);
        let mut drawn: Vec<_> =
            (0..DRAWN).map(|_| self.judged(&at_random(self.problem, None, &mut rng))).collect();
        drawn.sort_by(|a, b| a.1.total_cmp(&b.1));
        drawn
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

    fn add(&mut self, name: &str, placement: Vec<u32>, cost: f64) {
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
    use seatmap_data::machine::catalog;
    use seatmap_data::pattern::generate;

    fn candidates(machine: &str, pattern: &str, most: usize) -> Vec<PlacementCandidate> {
        let machine = catalog::load(machine).unwrap();
        let pattern = generate(pattern).unwrap();
        let mut request = PlaceRequest::new(&machine, &pattern);
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
