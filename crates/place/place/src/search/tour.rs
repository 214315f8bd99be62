//! Local search for rings and pipelines: tours of the machine.

mod chain;
mod steps;

use super::{DeadlineWatch, SearchEngine, SearchLimit};
use crate::Problem;
use chain::{chain, neighbours};
use seatmap_data::statistics::Xoshiro;
use std::ops::Range;

/// The longest piece that a kick exchanges.
const LONGEST_KICK: usize = 30;
/// The free jump from the end of a pipeline's tour to its start.
const NOWHERE: u32 = u32::MAX;

/// A ring or pipeline with equal edges, as a tour of slots.
///
/// Steps reverse a stretch (2-opt, Croes 1958), move a piece (Or-opt), or replace a slot with an
/// unused one.
pub struct Tour<'a> {
    problem: &'a Problem,
    weight: f64,
    /// The tasks, with [`NOWHERE`] after a pipeline's end.
    tasks: Vec<u32>,
    tour: Vec<u32>,
    /// `NOWHERE` for unused slots.
    place: Vec<u32>,
    near: Vec<Vec<u32>>,
    slot_of: Vec<u32>,
    cost: f64,
    queue: Vec<u32>,
    queued: Vec<bool>,
    saved: (Vec<u32>, f64),
    least: f64,
}

/// Smaller changes, in units of the largest distance, are rounding errors.
const ROUNDING: f64 = 1e-13;

impl<'a> Tour<'a> {
    /// `None` unless the traffic is one ring or pipeline with equal edges, all assignments are
    /// allowed, and time suffices for the neighbours.
    pub fn new(problem: &'a Problem, slot_of: Vec<u32>, limit: &SearchLimit) -> Option<Self> {
        let is_fixed = problem.fixed.iter().any(Option::is_some);
        let (tasks, weight) = chain(problem).filter(|_| problem.zones.are_free() && !is_fixed)?;
        let cost = problem.cost(&slot_of);
        let mut tour = Tour {
            tour: tasks
                .iter()
                .map(|task| slot_of.get(*task as usize).copied().unwrap_or(NOWHERE))
                .collect(),
            place: Vec::new(),
            near: neighbours(problem, limit)?,
            // Bentley's don't-look bits (1992), as a queue.
            queue: (0..problem.slots() as u32).collect(),
            queued: vec![true; problem.slots()],
            saved: (Vec::new(), cost),
            least: (cost.abs() * 1e-11).max(weight * farthest(problem) * ROUNDING),
            problem,
            weight,
            tasks,
            slot_of,
            cost,
        };
        tour.find_places();
        tour.save();
        Some(tour)
    }

    fn find_places(&mut self) {
        self.place.clear();
        self.place.resize(self.problem.slots(), NOWHERE);
        for (at, slot) in self.tour.iter().enumerate().filter(|(_, slot)| **slot != NOWHERE) {
            self.place[*slot as usize] = at as u32;
        }
    }

    fn apart(&self, a: u32, b: u32) -> f64 {
        if a == NOWHERE || b == NOWHERE {
            0.0
        } else {
            self.problem.between(a as usize, b as usize)
        }
    }

    fn at(&self, place: usize) -> u32 {
        self.tour[place % self.tour.len()]
    }

    fn put(&mut self, place: usize, slot: u32) {
        let place = place % self.tour.len();
        self.tour[place] = slot;
        if slot != NOWHERE {
            self.place[slot as usize] = place as u32;
        }
    }

    fn touch(&mut self, slot: u32) {
        if slot != NOWHERE && !self.queued[slot as usize] {
            self.queued[slot as usize] = true;
            self.queue.push(slot);
        }
    }

    fn settle(&mut self, slot: u32) -> bool {
        let place = self.place[slot as usize];
        if place == NOWHERE {
            return false;
        }
        let n = self.tour.len();
        // `n - 1` positions ahead is one back.
        let [after, before] =
            [1, n - 1].map(|next| self.apart(slot, self.at(place as usize + next)));
        let worst = after.max(before);
        for index in 0..self.near[slot as usize].len() {
            let near = self.near[slot as usize][index];
            if self.apart(slot, near) >= worst {
                return false;
            }
            let other = self.place[near as usize];
            let moved = match other {
                NOWHERE => self.try_unused(place as usize, near),
                _ => {
                    self.try_turns(place as usize, other as usize)
                        || self.try_pieces(place as usize, other as usize)
                }
            };
            if moved {
                return true;
            }
        }
        false
    }

    fn read_off(&mut self) {
        // Reversals may have moved the jump.
        let start = self.tour.iter().position(|slot| *slot == NOWHERE).map_or(0, |jump| jump + 1);
        let along = self.tour.iter().cycle().skip(start);
        for (task, slot) in self.tasks.iter().zip(along).filter(|(task, _)| **task != NOWHERE) {
            self.slot_of[*task as usize] = *slot;
        }
        let unused = (0..self.place.len()).filter(|slot| self.place[*slot] == NOWHERE);
        let holes = self.problem.tasks()..;
        for (hole, slot) in holes.zip(unused) {
            self.slot_of[hole] = slot as u32;
        }
    }
}

impl SearchEngine for Tour<'_> {
    fn items(&self) -> usize {
        self.slot_of.len()
    }

    fn cost(&self) -> f64 {
        self.cost
    }

    fn assignment(&self) -> &[u32] {
        &self.slot_of
    }

    /// Few exchanges disturb a tour enough (Martin, Otto & Felten 1991).
    fn strengths(&self) -> Range<usize> {
        1..4
    }

    fn kick(&mut self, rng: &mut Xoshiro) {
        let n = self.tour.len();
        let longest = LONGEST_KICK.min((n - 1) / 2);
        let first = 1 + rng.below(longest);
        let second = 1 + rng.below(longest);
        let start = rng.below(n);
        let ends = [
            start + n - 1,
            start,
            start + first - 1,
            start + first,
            start + first + second - 1,
            start + first + second,
        ];
        let slots = ends.map(|place| self.at(place));
        // (AB)' = B'A', then B and A: the pieces are exchanged.
        self.turn_exactly(start, first + second);
        self.turn_exactly(start, second);
        self.turn_exactly(start + second, first);
        // A is from `a` to `b`, B from `c` to `d`.
        let [before, a, b, c, d, after] = slots;
        let [new, old] = [[(before, c), (d, a), (b, after)], [(before, a), (b, c), (d, after)]]
            .map(|pairs| pairs.map(|(x, y)| self.apart(x, y)).iter().sum::<f64>());
        self.cost += self.weight * (new - old);
        slots.into_iter().for_each(|slot| self.touch(slot));
    }

    fn descend(&mut self, limit: &SearchLimit) {
        let mut watch = DeadlineWatch::new(limit, self.tour.len());
        while let Some(slot) = self.queue.pop() {
            self.queued[slot as usize] = false;
            while self.settle(slot) && !watch.is_late() {}
            if watch.is_late() {
                break;
            }
        }
        self.read_off();
    }

    fn save(&mut self) {
        self.saved.0.clone_from(&self.tour);
        self.saved.1 = self.cost;
    }

    fn restore(&mut self) {
        self.tour.clone_from(&self.saved.0);
        self.cost = self.saved.1;
        self.find_places();
        self.read_off();
        self.queue.drain(..).for_each(|slot| self.queued[slot as usize] = false);
    }
}

fn farthest(problem: &Problem) -> f64 {
    let rows = (0..problem.distance.n()).map(|pu| problem.distance.row(pu));
    f64::from(rows.flatten().copied().fold(0.0, f32::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traffic;
    use crate::for_tests::is_permutation;
    use crate::search::iterate;
    use seatmap_data::machine::Square;

    fn circle(slots: usize) -> Square<f32> {
        let angle = |i: usize| i as f64 * std::f64::consts::TAU / slots as f64;
        // The order of numbers is not a tour.
        let at = |i: usize| angle((i * 7) % slots);
        Square::from_fn(slots, |i, j| (200.0 * ((at(i) - at(j)) / 2.0).sin().abs()) as f32)
    }

    fn ring(tasks: usize, is_closed: bool) -> Traffic {
        Traffic::new(
            tasks,
            (0..tasks - usize::from(!is_closed)).map(|task| (task, (task + 1) % tasks, 2.0)),
        )
    }

    fn solved(problem: &Problem) -> f64 {
        let mut rng = Xoshiro::new(1);
        let mut start: Vec<u32> = (0..problem.slots() as u32).collect();
        rng.shuffle(&mut start);
        let limit = SearchLimit::kicks(3000);
        let mut tour = Tour::new(problem, start, &limit).unwrap();
        let found = iterate(&mut tour, &mut rng, &limit);
        assert!(is_permutation(&found.slot_of));
        let difference = (problem.cost(&found.slot_of) - found.cost).abs();
        assert!(difference < 1e-6 * found.cost, "the cost is what it says");
        found.cost
    }

    fn step(slots: usize) -> f64 {
        2.0 * 200.0 * (std::f64::consts::PI / slots as f64).sin()
    }

    #[test]
    fn tour_finds_shortest_way_round_circle() {
        for (tasks, slots, is_closed, edges) in
            [(40, 40, true, 40), (40, 40, false, 39), (24, 36, false, 23)]
        {
            let problem = Problem::new(ring(tasks, is_closed), circle(slots));
            let cost = solved(&problem);
            assert!(cost < 1.0001 * step(slots) * f64::from(edges), "{tasks} on {slots}: {cost}");
        }
    }

    #[test]
    fn tour_rejects_other_traffic() {
        let two_rings = Traffic::new(16, (0..16).map(|i| (i, i / 8 * 8 + (i + 1) % 8, 1.0)));
        let uneven = Traffic::new(16, (0..16).map(|i| (i, (i + 1) % 16, 1.0 + (i % 2) as f64)));
        let star = Traffic::new(16, (1..16).map(|i| (0, i, 1.0)));
        for traffic in [two_rings, uneven, star] {
            let problem = Problem::new(traffic, circle(16));
            assert!(Tour::new(&problem, (0..16).collect(), &SearchLimit::kicks(1)).is_none());
        }
    }
}
