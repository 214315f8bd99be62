//! Local search for sparse traffic.

use super::{DeadlineWatch, SWAPS_BETWEEN_CHECKS, SearchEngine, SearchLimit};
use crate::Problem;
use crate::item_slots::ItemSlots;
use seatmap_data::statistics::Xoshiro;

/// A placement with the cost of every task on every PU while others stay.
///
/// A swap changes the cost by a sum of four cells, and then only the rows of the two tasks'
/// partners. Items with a changed row or seat wait in a queue: other pairs cannot have become
/// better.
pub struct Sparse<'a> {
    problem: &'a Problem,
    items: ItemSlots<'a>,
    table: Vec<f64>,
    cost: f64,
    queue: Vec<u32>,
    queued: Vec<bool>,
    /// The current task's weights, by partner.
    weight_to: Vec<f64>,
    since_saved: Vec<(u32, u32)>,
    saved_cost: f64,
    /// Smaller changes are rounding errors.
    least: f64,
}

impl<'a> Sparse<'a> {
    /// Starts from all items (tasks, then holes). `None` if the deadline comes before the table is
    /// complete.
    pub fn new(problem: &'a Problem, slot_of: Vec<u32>, limit: &SearchLimit) -> Option<Self> {
        let cost = problem.cost(&slot_of);
        let mut engine = Sparse {
            problem,
            table: vec![0.0; problem.tasks() * problem.distance.n()],
            cost,
            queue: (0..problem.tasks() as u32).collect(),
            queued: vec![true; problem.tasks()],
            weight_to: vec![0.0; slot_of.len()],
            since_saved: Vec::new(),
            saved_cost: cost,
            least: cost.abs() * 1e-11,
            items: ItemSlots::new(problem, slot_of),
        };
        let mut watch = DeadlineWatch::new(limit, engine.cells_a_move());
        for task in 0..problem.tasks() {
            if watch.is_late() {
                return None;
            }
            engine.fill(task);
        }
        Some(engine)
    }

    /// A move changes a row for each partner.
    fn cells_a_move(&self) -> usize {
        let traffic = &self.problem.traffic;
        self.problem.distance.n() * (1 + 2 * traffic.pairs() / traffic.tasks().max(1))
    }

    fn renew(&mut self) {
        self.table.fill(0.0);
        (0..self.problem.tasks()).for_each(|task| self.fill(task));
        self.cost = self.problem.cost(&self.items.slot_of);
    }

    fn fill(&mut self, task: usize) {
        let pus = self.problem.distance.n();
        for (with, weight) in self.problem.traffic.of(task) {
            let row = self.problem.distance.row(self.items.pu(with));
            let cells = self.table[task * pus..(task + 1) * pus].iter_mut().zip(row);
            cells.for_each(|(cell, distance)| *cell += weight * f64::from(*distance));
        }
    }

    /// Holes cost nothing.
    fn pays(&self, item: usize, pu: usize) -> f64 {
        if self.items.is_task(item) {
            self.table[item * self.problem.distance.n() + pu]
        } else {
            0.0
        }
    }

    /// The best improving swap, if any. `weight_to` must have the task's weights.
    fn best_partner(&self, task: usize) -> Option<usize> {
        let here = self.items.pu(task);
        let pus = self.problem.distance.n();
        let row = &self.table[task * pus..(task + 1) * pus];
        let near = self.problem.distance.row(here);
        let own = f64::from(near[here]);
        let mut best = -self.least;
        let mut partner = None;
        for (slot, item) in self.items.item_at.iter().enumerate() {
            let there = self.problem.pu_of_slot[slot] as usize;
            let item = *item as usize;
            let mut change = row[there] - row[here];
            if self.items.is_task(item) {
                let cells = &self.table[item * pus..(item + 1) * pus];
                change += cells[here] - cells[there];
                let weight = self.weight_to[item];
                if weight != 0.0 {
                    let other = f64::from(self.problem.distance[(there, there)]);
                    // The four cells assume that the other task stays, but the edge between the two
                    // keeps its length.
                    change += weight * (2.0 * f64::from(near[there]) - own - other);
                }
            }
            // Rounding could make this look like a gain.
            if change < best && there != here && self.items.may_swap(task, item) {
                (best, partner) = (change, Some(item));
            }
        }
        partner
    }

    fn change(&self, a: usize, b: usize) -> f64 {
        let here = self.items.pu(a);
        let there = self.items.pu(b);
        let moved =
            self.pays(a, there) - self.pays(a, here) + self.pays(b, here) - self.pays(b, there);
        if !self.items.is_task(a) || !self.items.is_task(b) {
            return moved;
        }
        let [across, at_here, at_there] = [(here, there), (here, here), (there, there)]
            .map(|pus| f64::from(self.problem.distance[pus]));
        moved + self.problem.traffic.between(a, b) * (2.0 * across - at_here - at_there)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.cost += self.change(a, b);
        // Undoing a few swaps is cheaper than copying the table.
        self.since_saved.push((a as u32, b as u32));
        self.exchange(a, b);
    }

    fn exchange(&mut self, a: usize, b: usize) {
        let from = self.items.pu(a);
        let to = self.items.pu(b);
        self.items.swap(a, b);
        self.follow(a, from, to);
        self.follow(b, to, from);
    }

    fn follow(&mut self, item: usize, from: usize, to: usize) {
        if !self.items.is_task(item) {
            return;
        }
        self.touch(item);
        let pus = self.problem.distance.n();
        let old = self.problem.distance.row(from);
        let new = self.problem.distance.row(to);
        let problem = self.problem;
        for (with, weight) in problem.traffic.of(item) {
            let cells = &mut self.table[with * pus..(with + 1) * pus];
            for ((cell, new), old) in cells.iter_mut().zip(new).zip(old) {
                *cell += weight * f64::from(new - old);
            }
            self.touch(with);
        }
    }

    fn touch(&mut self, task: usize) {
        if !self.queued[task] {
            self.queued[task] = true;
            self.queue.push(task as u32);
        }
    }

    fn settle(&mut self, task: usize) -> bool {
        let problem = self.problem;
        problem.traffic.of(task).for_each(|(with, weight)| self.weight_to[with] = weight);
        let partner = self.best_partner(task);
        problem.traffic.of(task).for_each(|(with, _)| self.weight_to[with] = 0.0);
        if let Some(partner) = partner {
            self.swap(task, partner);
        }
        partner.is_some()
    }

    fn forget_queue(&mut self) {
        self.queue.drain(..).for_each(|task| self.queued[task as usize] = false);
    }
}

impl SearchEngine for Sparse<'_> {
    fn items(&self) -> usize {
        self.items.slot_of.len()
    }

    fn cost(&self) -> f64 {
        self.cost
    }

    fn assignment(&self) -> &[u32] {
        &self.items.slot_of
    }

    fn kick(&mut self, rng: &mut Xoshiro) {
        let a = rng.below(self.problem.tasks());
        let b = rng.below(self.items());
        if a != b && self.items.may_swap(a, b) {
            self.swap(a, b);
        }
    }

    fn descend(&mut self, limit: &SearchLimit) {
        let mut watch = DeadlineWatch::new(limit, self.items() + self.cells_a_move());
        let mut swaps = 0;
        let mut last = f64::INFINITY;
        while let Some(task) = self.queue.pop() {
            self.queued[task as usize] = false;
            if !self.items.is_fixed(task as usize) {
                swaps += usize::from(self.settle(task as usize));
            }
            if swaps > SWAPS_BETWEEN_CHECKS * self.items() {
                self.renew();
                if self.cost >= last {
                    return self.forget_queue();
                }
                (swaps, last) = (0, self.cost);
            }
            if watch.is_late() {
                return;
            }
        }
    }

    fn save(&mut self) {
        self.since_saved.clear();
        self.saved_cost = self.cost;
    }

    fn restore(&mut self) {
        while let Some((a, b)) = self.since_saved.pop() {
            self.exchange(a as usize, b as usize);
        }
        self.cost = self.saved_cost;
        self.forget_queue();
    }
}
