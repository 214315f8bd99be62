//! Placements by the load of the most loaded link.

use crate::key::{FloatKey, maximum};
use crate::search::{LimitClock, SearchLimit, Solution};
use crate::seed::inverse;
use crate::{Links, Problem};
use seatmap_data::statistics::Xoshiro;

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
                best = Solution { cost: state.value, slot_of: state.slot_of.clone() };
            }
        }
        proposals += STRIDE as u64;
    }
}

/// The first with the least load on its most loaded link; empty without assignments.
pub(crate) fn least_loaded(problem: &Problem, links: &Links, starts: Vec<Vec<u32>>) -> Vec<u32> {
    starts
        .into_iter()
        .min_by_key(|slot_of| FloatKey(links.most(&problem.traffic, &problem.pus_of(slot_of))))
        .unwrap_or_default()
}

struct State<'a> {
    problem: &'a Problem,
    links: &'a Links,
    slot_of: Vec<u32>,
    item_at: Vec<u32>,
    in_zone: Vec<u32>,
    loads: Vec<f64>,
    distance: f64,
    scale: f64,
    value: f64,
}

impl<'a> State<'a> {
    fn new(problem: &'a Problem, links: &'a Links, slot_of: &[u32]) -> Self {
        let item_at = inverse(slot_of);
        let volume: f64 = (0..problem.tasks()).map(|task| problem.traffic.volume(task)).sum();
        let distance = problem.cost(slot_of);
        let mut state = State {
            problem,
            links,
            in_zone: problem.zones.count(&item_at, problem.tasks()),
            loads: links.loads(&problem.traffic, &problem.pus_of(slot_of)),
            distance,
            // About a ten-thousandth of the total volume, for any unit of distance.
            scale: DISTANCE_SHARE * volume / distance.max(f64::MIN_POSITIVE),
            value: 0.0,
            slot_of: slot_of.to_vec(),
            item_at,
        };
        state.value = state.value();
        state
    }

    fn value(&self) -> f64 {
        maximum(&self.loads) + self.scale * self.distance
    }

    fn may_swap(&self, task: usize, other: usize) -> bool {
        let are_free = [task, other]
            .into_iter()
            .all(|item| self.problem.fixed.get(item).is_none_or(Option::is_none));
        let [from, to] = [task, other].map(|item| self.problem.zone(self.slot_of[item]));
        let moves =
            other < self.problem.tasks() || self.problem.zones.allow(&self.in_zone, from, to);
        task != other && are_free && moves
    }

    fn propose(&mut self, rng: &mut Xoshiro, temperature: f64) {
        let task = rng.below(self.problem.tasks());
        let other = rng.below(self.slot_of.len());
        if !self.may_swap(task, other) {
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
        if b >= self.problem.tasks() {
            self.in_zone[self.problem.zone(self.slot_of[a]) as usize] -= 1;
            self.in_zone[self.problem.zone(self.slot_of[b]) as usize] += 1;
        }
        self.slot_of.swap(a, b);
        self.item_at[self.slot_of[a] as usize] = a as u32;
        self.item_at[self.slot_of[b] as usize] = b as u32;
        self.account(a, b, 1.0);
    }

    fn account(&mut self, a: usize, b: usize, sign: f64) {
        for item in [a, b].into_iter().filter(|item| *item < self.problem.tasks()) {
            for (with, weight) in
                self.problem.traffic.of(item).filter(|(with, _)| item == a || *with != a)
            {
                let here = self.problem.pu(self.slot_of[item]);
                let there = self.problem.pu(self.slot_of[with]);
                self.links.load(&mut self.loads, here, there, sign * weight);
                self.distance += sign * weight * f64::from(self.problem.distance[(here, there)]);
            }
        }
    }
}
