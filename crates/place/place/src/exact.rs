//! Exact search for small problems.

use crate::Problem;
use crate::assignment::assign;
use crate::bound::{descending, dot};
use crate::search::{SearchLimit, Solution};
use seatmap_data::statistics::Ordered;
use std::cmp::Reverse;

/// The most tasks worth trying.
pub const MOST_TASKS: usize = 14;

/// Depth-first branch and bound. `None` if the limit comes before the proof.
///
/// Each next task, the heaviest first, tries every free slot, of interchangeable ones only one. The
/// Gilmore-Lawler bound of the remaining tasks prunes.
pub fn exact(problem: &Problem, known: &Solution, limit: &SearchLimit) -> Option<Solution> {
    let mut order: Vec<usize> = (0..problem.tasks()).collect();
    // Fixed tasks have one choice; heavy ones prune early.
    order.sort_by_key(|task| {
        Reverse((problem.fixed[*task].is_some(), Ordered(problem.traffic.volume(*task))))
    });
    let tasks = problem.tasks();
    let mut tree = Tree {
        problem,
        order,
        best: Solution { cost: known.cost, slot_of: known.slot_of[..tasks].to_vec() },
        slot_of: vec![u32::MAX; tasks],
        free: vec![true; problem.slots()],
        in_zone: vec![0; problem.zones.least.len()],
        limit: limit.clone(),
        is_over: false,
    };
    tree.descend(0, 0.0);
    if tree.is_over {
        return None;
    }
    let mut free: Vec<bool> = vec![true; problem.slots()];
    tree.best.slot_of.iter().for_each(|slot| free[*slot as usize] = false);
    tree.best.slot_of.extend((0..problem.slots() as u32).filter(|slot| free[*slot as usize]));
    Some(tree.best)
}

struct Tree<'a> {
    problem: &'a Problem,
    order: Vec<usize>,
    best: Solution,
    slot_of: Vec<u32>,
    free: Vec<bool>,
    in_zone: Vec<u32>,
    limit: SearchLimit,
    is_over: bool,
}

impl Tree<'_> {
    fn descend(&mut self, depth: usize, so_far: f64) {
        if depth == self.order.len() {
            if self.fills_zones() && so_far < self.best.cost - 1e-9 * self.best.cost.abs() {
                self.best = Solution { cost: so_far, slot_of: self.slot_of.clone() };
            }
            return;
        }
        if self.is_hopeless(depth, so_far) {
            return;
        }
        let task = self.order[depth];
        let mut tries: Vec<(Ordered, usize)> =
            self.candidates(task).map(|slot| (Ordered(self.added(task, slot)), slot)).collect();
        tries.sort();
        let mut tried: Vec<usize> = Vec::new();
        for (Ordered(added), slot) in tries {
            if tried.iter().any(|other| self.are_alike(*other, slot)) {
                continue;
            }
            tried.push(slot);
            self.sit(task, slot, true);
            self.descend(depth + 1, so_far + added);
            self.sit(task, slot, false);
            if self.is_over {
                return;
            }
        }
    }

    fn sit(&mut self, task: usize, slot: usize, sits: bool) {
        self.free[slot] = !sits;
        self.slot_of[task] = if sits { slot as u32 } else { u32::MAX };
        let count = &mut self.in_zone[self.problem.zones.zone_of_slot[slot] as usize];
        *count = if sits { *count + 1 } else { *count - 1 };
    }

    fn fills_zones(&self) -> bool {
        self.in_zone.iter().zip(&self.problem.zones.least).all(|(count, least)| count >= least)
    }

    fn candidates(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        let zones = &self.problem.zones;
        let fixed = self.problem.fixed[task];
        (0..self.free.len()).filter(move |slot| {
            let zone = zones.zone_of_slot[*slot] as usize;
            self.free[*slot]
                && self.in_zone[zone] < zones.most[zone]
                && match fixed {
                    Some(fixed) => fixed as usize == *slot,
                    None => !self.problem.fixed.contains(&Some(*slot as u32)),
                }
        })
    }

    fn added(&self, task: usize, slot: usize) -> f64 {
        let seated =
            self.problem.traffic.of(task).filter(|(with, _)| self.slot_of[*with] != u32::MAX);
        seated
            .map(|(with, weight)| weight * self.problem.between(slot, self.slot_of[with] as usize))
            .sum()
    }

    fn are_alike(&self, a: usize, b: usize) -> bool {
        let problem = self.problem;
        let zones = &problem.zones;
        let zone_a = zones.zone_of_slot[a];
        let zone_b = zones.zone_of_slot[b];
        let is_free_zone = zones.are_free() || zone_a == zone_b;
        is_free_zone
            && problem.between(a, a) == problem.between(b, b)
            && (0..problem.slots())
                .all(|c| c == a || c == b || problem.between(a, c) == problem.between(b, c))
    }

    fn is_hopeless(&mut self, depth: usize, so_far: f64) -> bool {
        if self.limit.kicks == 0 || self.limit.is_late() {
            self.is_over = true;
            return true;
        }
        self.limit.kicks -= u64::from(self.limit.kicks != u64::MAX);
        so_far + self.rest(depth) >= self.best.cost * (1.0 - 1e-9)
    }

    /// The Gilmore-Lawler bound of the unplaced tasks, halved among themselves.
    fn rest(&self, depth: usize) -> f64 {
        let open = &self.order[depth..];
        let slots: Vec<usize> = (0..self.free.len()).filter(|slot| self.free[*slot]).collect();
        let near: Vec<Vec<f64>> =
            slots.iter().map(|slot| self.near(*slot, &slots, open.len() - 1)).collect();
        let mut cells = Vec::with_capacity(open.len() * slots.len());
        for task in open {
            let loose =
                self.problem.traffic.of(*task).filter(|(with, _)| self.slot_of[*with] == u32::MAX);
            let weights = descending(loose.map(|(_, weight)| weight).collect());
            for (slot, near) in slots.iter().zip(&near) {
                cells.push(self.added(*task, *slot) + 0.5 * dot(&weights, near));
            }
        }
        assign(open.len(), slots.len(), &cells).0
    }

    fn near(&self, slot: usize, slots: &[usize], wanted: usize) -> Vec<f64> {
        let others = slots.iter().filter(|other| **other != slot);
        let mut distances: Vec<f64> =
            others.map(|other| self.problem.between(slot, *other)).collect();
        distances.sort_by(f64::total_cmp);
        distances.truncate(wanted);
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traffic;
    use crate::for_tests::{cheapest_of_all, ring};
    use proptest::prelude::*;
    use seatmap_data::machine::Square;
    use seatmap_data::statistics::Xoshiro;

    proptest! {
        #[test]
        fn exact_search_matches_exhaustive_minimum(n in 2..6_usize, more in 0..2_usize, classes in 1..4_usize, seed: u64) {
            let mut rng = Xoshiro::new(seed);
            let traffic = Traffic::new(n, (0..2 * n).map(|_| (rng.below(n), rng.below(n), rng.below(9) as f64)));
            let mut distance = Square::filled(n + more, 0.0_f32);
            (0..n + more).for_each(|i| (0..i).for_each(|j| distance.set_both(i, j, (rng.below(classes) + 1) as f32)));
            let problem = Problem::new(traffic, distance);
            let start = crate::seed::random(&problem, &mut rng);
            let known = Solution { cost: problem.cost(&start), slot_of: start };
            let found = exact(&problem, &known, &SearchLimit::kicks(u64::MAX)).unwrap();
            prop_assert!((found.cost - cheapest_of_all(&problem, &mut Vec::new())).abs() < 1e-6);
            prop_assert!((found.cost - problem.cost(&found.slot_of)).abs() < 1e-6);
        }
    }

    #[test]
    fn exhausted_limit_proves_nothing() {
        let problem = Problem::new(ring(6), Square::from_fn(8, |i, j| i.abs_diff(j) as f32));
        let known = Solution { cost: 1e9, slot_of: (0..8).collect() };
        assert_eq!(exact(&problem, &known, &SearchLimit::kicks(3)), None);
    }
}
