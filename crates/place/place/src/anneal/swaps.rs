//! Simulated annealing by swaps.

use super::metric::SlotMetric;
use crate::Traffic;
use crate::search::{LimitClock, SearchLimit, Solution};
use crate::seed::inverse;
use seatmap_data::statistics::Xoshiro;

/// Without a table: a swap's work grows with the partners only.
pub struct SwapWalk<'a, M> {
    traffic: &'a Traffic,
    fixed: &'a [Option<u32>],
    metric: &'a M,
    slot_of: Vec<u32>,
    item_at: Vec<u32>,
    code_of: Vec<u32>,
    cost: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct Temperatures {
    pub first: f64,
    pub last: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct Uphill {
    pub mean: f64,
    /// A tenth of these swaps cost at most this.
    pub small: f64,
}

/// Distances between clock readings: about a millisecond.
const LOOKS_BETWEEN: usize = 1 << 17;

const LOGARITHMS: usize = 1 << 12;

const DRAWN: usize = 1 << 12;

impl<'a, M: SlotMetric> SwapWalk<'a, M> {
    pub fn new(
        traffic: &'a Traffic,
        fixed: &'a [Option<u32>],
        metric: &'a M,
        slot_of: Vec<u32>,
    ) -> Self {
        let item_at = inverse(&slot_of);
        let code_of = slot_of.iter().map(|slot| metric.code(*slot)).collect();
        let mut walk = SwapWalk { traffic, fixed, metric, slot_of, item_at, code_of, cost: 0.0 };
        walk.cost = walk.computed_cost();
        walk
    }

    fn computed_cost(&self) -> f64 {
        self.traffic.cost(|a, b| self.metric.apart(self.code_of[a], self.code_of[b]))
    }

    /// Recomputes the cost, because the sum has rounding errors.
    pub fn solution(&self) -> Solution {
        Solution { cost: self.computed_cost(), slot_of: self.slot_of.clone() }
    }

    pub fn put(&mut self, solution: &Solution) {
        self.slot_of.copy_from_slice(&solution.slot_of);
        for (item, slot) in self.slot_of.iter().enumerate() {
            self.item_at[*slot as usize] = item as u32;
            self.code_of[item] = self.metric.code(*slot);
        }
        self.cost = solution.cost;
    }

    /// The change of the cost by moving `task` to the code `to`, without its edge to `but`.
    #[inline]
    fn moved(&self, task: usize, to: u32, but: usize) -> f64 {
        let from = self.code_of[task];
        let mut change = 0.0;
        for (with, weight) in self.traffic.of(task) {
            if with != but {
                let there = self.code_of[with];
                change += weight * (self.metric.apart(to, there) - self.metric.apart(from, there));
            }
        }
        change
    }

    #[inline]
    fn change(&self, task: usize, item: usize) -> f64 {
        let change = self.moved(task, self.code_of[item], item);
        if item < self.traffic.tasks() {
            change + self.moved(item, self.code_of[task], task)
        } else {
            change
        }
    }

    /// A task and an item near one of its partners; `None` if they may not swap or are on alike
    /// slots.
    #[inline]
    fn drawn(&self, rng: &mut Xoshiro) -> Option<(usize, usize)> {
        let draw = rng.bits();
        let task = (((draw >> 32) * self.traffic.tasks() as u64) >> 32) as usize;
        let partner = self.traffic.partner(task, draw as u32)?;
        let slot = self.metric.near(self.slot_of[partner], rng.bits());
        let item = self.item_at[slot as usize] as usize;
        let may_swap = item != task
            && !self.metric.are_alike(self.slot_of[task], slot)
            && !self.is_fixed(task)
            && !self.is_fixed(item);
        may_swap.then_some((task, item))
    }

    fn is_fixed(&self, item: usize) -> bool {
        self.fixed.get(item).is_some_and(Option::is_some)
    }

    fn swap(&mut self, task: usize, item: usize, change: f64) {
        self.slot_of.swap(task, item);
        self.code_of.swap(task, item);
        self.item_at[self.slot_of[task] as usize] = task as u32;
        self.item_at[self.slot_of[item] as usize] = item as u32;
        self.cost += change;
    }

    /// The costs of worsening swaps, if a drawn swap is one.
    pub fn uphill(&self, rng: &mut Xoshiro) -> Option<Uphill> {
        let mut worse: Vec<f64> = (0..DRAWN)
            .filter_map(|_| self.drawn(rng))
            .map(|(task, item)| self.change(task, item))
            .filter(|change| *change > 1e-9 * self.cost.abs())
            .collect();
        worse.sort_by(f64::total_cmp);
        let small = *worse.get(worse.len() / 10)?;
        Some(Uphill { mean: worse.iter().sum::<f64>() / worse.len() as f64, small })
    }

    /// Swaps at geometrically falling temperatures until the limit (Kirkpatrick, Gelatt & Vecchi
    /// 1983). Returns the best state seen. A kick is one draw per item.
    pub fn walk(
        &mut self,
        temperatures: Temperatures,
        limit: &SearchLimit,
        rng: &mut Xoshiro,
    ) -> Solution {
        // Metropolis accepts if a random number is below exp(-change / temperature); this table has
        // its logarithm.
        let logarithm: Vec<f64> =
            (0..LOGARITHMS).map(|at| -((at as f64 + 0.5) / LOGARITHMS as f64).ln()).collect();
        let degree = 2 * self.traffic.pairs() / self.traffic.tasks().max(1);
        let block = (LOOKS_BETWEEN / (4 * degree + 8)).max(16) as u64;
        let clock = LimitClock::new(limit, self.slot_of.len());
        let mut best = Solution { cost: f64::INFINITY, slot_of: self.slot_of.clone() };
        let mut draws = 0;
        loop {
            let done = clock.done(draws);
            // Early states soon improve, so copying them is wasted.
            if done > 0.5 && self.cost < best.cost {
                best.cost = self.cost;
                best.slot_of.copy_from_slice(&self.slot_of);
            }
            if done >= 1.0 || self.cost <= limit.enough {
                break;
            }
            let temperature =
                temperatures.first * (temperatures.last / temperatures.first).powf(done);
            for _ in 0..block.min(clock.steps - draws) {
                let Some((task, item)) = self.drawn(rng) else { continue };
                let change = self.change(task, item);
                let at = (rng.bits() >> (u64::BITS - LOGARITHMS.ilog2())) as usize;
                if change <= temperature * logarithm[at] {
                    self.swap(task, item, change);
                }
            }
            draws += block.min(clock.steps - draws);
        }
        if self.cost < best.cost {
            best = self.solution();
        } else {
            self.put(&best);
            best.cost = self.computed_cost();
        }
        self.cost = best.cost;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::super::metric::MeasuredSlots;
    use super::*;
    use crate::for_tests::random_traffic;
    use crate::{Problem, SlotGroups};
    use proptest::prelude::*;
    use seatmap_data::machine::Square;

    /// Checks each change against the whole cost.
    fn add_up<M: SlotMetric>(
        walk: &mut SwapWalk<M>,
        rng: &mut Xoshiro,
    ) -> Result<(), TestCaseError> {
        for _ in 0..100 {
            let Some((task, item)) = walk.drawn(rng) else { continue };
            let change = walk.change(task, item);
            let before = walk.computed_cost();
            walk.swap(task, item, change);
            prop_assert!((walk.computed_cost() - before - change).abs() < 1e-6);
            prop_assert!((walk.computed_cost() - walk.cost).abs() < 1e-6);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn swap_change_matches_recomputed_cost(
            sizes in (1..5_usize, 1..5_usize, 1..4_usize), holes in 0..4_usize, edges in 0..80_usize, seed: u64
        ) {
            let mut rng = Xoshiro::new(seed);
            let groups = SlotGroups::uniform(&[sizes.0, sizes.1, sizes.2], &[1.0, 6.0, 30.0]).unwrap();
            let slots = groups.slots();
            let tasks = slots.saturating_sub(holes).max(1);
            let traffic = random_traffic(tasks, edges, &mut rng);
            let mut slot_of: Vec<u32> = (0..slots as u32).collect();
            rng.shuffle(&mut slot_of);
            add_up(&mut SwapWalk::new(&traffic, &[], &groups, slot_of.clone()), &mut rng)?;
            let distance = Square::from_fn(slots, |a, b| (a.abs_diff(b) * 7 % 13) as f32);
            let problem = Problem::new(traffic, distance);
            let measured = MeasuredSlots::new(&problem, &SearchLimit::kicks(1));
            let mut walk = SwapWalk::new(&problem.traffic, &problem.fixed, &measured, slot_of);
            prop_assert!((walk.cost - problem.cost(&walk.slot_of)).abs() < 1e-6);
            add_up(&mut walk, &mut rng)?;
        }
    }
}
