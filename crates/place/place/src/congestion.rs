//! Placements by the load of the most loaded link.

use crate::item_slots::ItemSlots;
use crate::search::{LimitClock, SearchLimit, Solution};
use crate::{Links, Problem};
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use seatmap_data::statistics::greatest;

/// The weight of distance, which decides between equal loads.
const DISTANCE_SHARE: f64 = 1e-4;
/// Proposals per reading of the clock.
const STRIDE: usize = 256;

/// Simulated annealing (Kirkpatrick et al. 1983) on the load of the most loaded link, then on
/// distance.
///
/// A maximum over links has plateaus, on which descents get stuck. Each of `limit.kicks` is 256
/// proposals.
pub fn anneal(
    problem: &Problem,
    links: &Links,
    start: &[u32],
    limit: &SearchLimit,
    seed: u64,
) -> Solution {
    let mut rng = Xoshiro::new(seed);
    let mut state = State::new(problem, links, start);
    let mut best = Solution { cost: state.value(), slot_of: start.to_vec() };
    let clock = LimitClock::new(limit, STRIDE);
    // Accepts a rise of 30 % with probability 1/e.
    let hot = 0.3 * state.value().max(1e-300);
    let mut proposals = 0;
    loop {
        let done = clock.done(proposals);
        if done >= 1.0 {
            return best;
        }
        // Falls geometrically to a thousandth.
        let temperature = hot * 1e-3_f64.powf(done);
        for _ in 0..STRIDE {
            state.propose(&mut rng, temperature);
            if state.value < best.cost {
                best = Solution { cost: state.value, slot_of: state.items.slot_of.clone() };
            }
        }
        proposals += STRIDE as u64;
    }
}

/// The first with the least load on its most loaded link; empty without assignments.
pub(crate) fn least_loaded(problem: &Problem, links: &Links, starts: Vec<Vec<u32>>) -> Vec<u32> {
    starts
        .into_iter()
        .min_by_key(|slot_of| Ordered(links.most(&problem.traffic, &problem.pus_of(slot_of))))
        .unwrap_or_default()
}

struct State<'a> {
    problem: &'a Problem,
    items: ItemSlots<'a>,
    links: &'a Links,
    loads: Vec<f64>,
    distance: f64,
    scale: f64,
    value: f64,
}

impl<'a> State<'a> {
    fn new(problem: &'a Problem, links: &'a Links, slot_of: &[u32]) -> Self {
        let volume: f64 = (0..problem.tasks()).map(|task| problem.traffic.volume(task)).sum();
        let distance = problem.cost(slot_of);
        let mut state = State {
            problem,
            links,
            loads: links.loads(&problem.traffic, &problem.pus_of(slot_of)),
            distance,
            // About a ten-thousandth of the total volume, for any unit of distance.
            scale: DISTANCE_SHARE * volume / distance.max(f64::MIN_POSITIVE),
            value: 0.0,
            items: ItemSlots::new(problem, slot_of.to_vec()),
        };
        state.value = state.value();
        state
    }

    fn value(&self) -> f64 {
        greatest(&self.loads) + self.scale * self.distance
    }

    fn propose(&mut self, rng: &mut Xoshiro, temperature: f64) {
        let task = rng.below(self.problem.tasks());
        let other = rng.below(self.items.slot_of.len());
        if task == other || !self.items.may_swap(task, other) {
            return;
        }
        let before = (self.value, self.distance);
        self.exchange(task, other);
        self.value = self.value();
        // Metropolis et al. 1953.
        if self.value > before.0 && rng.unit() >= ((before.0 - self.value) / temperature).exp() {
            self.exchange(task, other);
            (self.value, self.distance) = before;
        }
    }

    fn exchange(&mut self, a: usize, b: usize) {
        self.account(a, b, -1.0);
        self.items.swap(a, b);
        self.account(a, b, 1.0);
    }

    fn account(&mut self, a: usize, b: usize, sign: f64) {
        for item in [a, b].into_iter().filter(|item| self.items.is_task(*item)) {
            for (with, weight) in
                self.problem.traffic.of(item).filter(|(with, _)| item == a || *with != a)
            {
                let here = self.items.pu(item);
                let there = self.items.pu(with);
                self.links.load(&mut self.loads, here, there, sign * weight);
                self.distance += sign * weight * f64::from(self.problem.distance[(here, there)]);
            }
        }
    }
}
