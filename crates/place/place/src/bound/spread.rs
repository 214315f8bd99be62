//! A lower bound on a cut, by routing flow between tasks over the traffic's edges.

use crate::Traffic;
use crate::search::{DeadlineWatch, SearchLimit};
use seatmap_data::statistics::{Ordered, greatest, least};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const ROUNDS: std::ops::RangeInclusive<usize> = 8..=60;

/// Tasks and pairs visited by all rounds: about 0.1 s.
const LOOKS: usize = 1 << 23;

/// Lengthens a full edge by e^STEP in each round.
const STEP: f64 = 0.35;

/// A task spreads if its price is at most this factor times the lowest.
const NEARLY_CHEAPEST: f64 = 1.1;

/// Packing ends at this part of the maximum.
const ENOUGH: f64 = 0.98;

/// Paths must raise the bound by this factor.
const WORTH_IT: f64 = 1.01;

/// Keeps rounding errors from overfilling an edge.
const UNUSED: f64 = 1e-9;

/// A lower bound on the weight between groups of at most these sizes.
///
/// Flow between two groups crosses at least once, so flow that fits into the edges' weights bounds
/// the cut. If a task sends flow to s - 1 others, at least s minus the largest capacity cross.
/// These are the spreading metrics of Even, Naor, Rao & Schieber (1999) in their dual form.
/// Multiplicative weights pack the paths (Garg & Koenemann 1998), and any packing is a valid bound.
///
/// Stops at once if paths cannot improve on `known`.
pub fn spread(traffic: &Traffic, capacities: &[usize], known: f64, limit: &SearchLimit) -> f64 {
    let capacity = capacities.iter().copied().max().unwrap_or(0);
    // Then the largest capacity alone gives the same bound.
    let are_full = capacities.iter().all(|other| *other == capacity)
        && capacity > 0
        && traffic.tasks().is_multiple_of(capacity);
    let bound = packed(traffic, capacities, NEARLY_CHEAPEST, limit, |most| {
        are_full && most <= WORTH_IT * known
    });
    if are_full {
        return bound.max(known);
    }
    // Few tasks bound little: the largest group may hold all.
    let of_all = packed(traffic, capacities, f64::INFINITY, limit, |_| false);
    bound.max(of_all).max(known)
}

/// The bound by tasks with prices of at most `dearest` times the lowest; 0 if `is_useless` holds
/// for its maximum.
fn packed(
    traffic: &Traffic,
    capacities: &[usize],
    dearest: f64,
    limit: &SearchLimit,
    is_useless: impl Fn(f64) -> bool,
) -> f64 {
    let capacity = capacities.iter().copied().max().unwrap_or(0);
    let mut packing = Packing::new(traffic);
    let looks = traffic.tasks() + 2 * traffic.pairs();
    let mut watch = DeadlineWatch::new(limit, 8 * looks);
    let rounds = (LOOKS / (looks * traffic.tasks()).max(1)).clamp(*ROUNDS.start(), *ROUNDS.end());
    for round in 0..rounds {
        let step = STEP * (1.0 - 0.8 * round as f64 / rounds as f64);
        let Some(stars) = packing.stars(capacity, dearest, &mut watch) else { break };
        if !packing.send(&stars, capacity, (round + 1) as f64, step) {
            break;
        }
        if is_useless(packing.most) {
            return 0.0;
        }
        if packing.packed() >= ENOUGH * packing.most {
            break;
        }
    }
    packing.bound(capacities)
}

struct Way {
    ends: [usize; 2],
    weight: f64,
    length: f64,
    flow: f64,
}

struct Packing {
    tasks: usize,
    crossings: f64,
    /// By duality, no packing has more crossings.
    most: f64,
    ways: Vec<Way>,
    from: Vec<Vec<(usize, usize)>>,
    /// Each task's demand for each other one, row by row.
    demand: Vec<f64>,
}

/// The cheapest paths from a task to others.
struct Star {
    ratio: f64,
    reached: Vec<(usize, usize)>,
}

impl Packing {
    fn new(traffic: &Traffic) -> Self {
        let tasks = traffic.tasks();
        let mut ways = Vec::with_capacity(traffic.pairs());
        let mut from = vec![Vec::new(); tasks];
        for (task, with, weight) in traffic.edges() {
            from[task].push((with, ways.len()));
            from[with].push((task, ways.len()));
            ways.push(Way { ends: [task, with], weight, length: 1.0 / weight, flow: 0.0 });
        }
        Packing {
            tasks,
            crossings: 0.0,
            most: f64::INFINITY,
            ways,
            from,
            demand: vec![0.0; tasks * tasks],
        }
    }

    fn fullest(&self) -> f64 {
        greatest(self.ways.iter().map(|way| way.flow / way.weight))
    }

    /// Scaled so that all paths fit.
    fn packed(&self) -> f64 {
        let full = self.fullest();
        if full > 0.0 { self.crossings / full } else { 0.0 }
    }

    /// The stars with prices of at most `dearest` times the lowest.
    fn stars(
        &mut self,
        capacity: usize,
        dearest: f64,
        watch: &mut DeadlineWatch,
    ) -> Option<Vec<Star>> {
        let mut stars = Vec::with_capacity(self.tasks);
        for task in 0..self.tasks {
            if watch.is_late() {
                return None;
            }
            stars.extend(self.star(task, capacity));
        }
        let least = least(stars.iter().map(|star| star.ratio));
        let all: f64 = self.ways.iter().map(|way| way.weight * way.length).sum();
        self.most = self.most.min(all / least);
        stars.retain(|star| star.ratio <= least * dearest);
        Some(stars)
    }

    /// Fills the fullest edge of these paths by `share`, and lengthens loaded edges. `false` if
    /// nothing was sent.
    fn send(&mut self, stars: &[Star], capacity: usize, share: f64, step: f64) -> bool {
        let mut load = vec![0.0; self.ways.len()];
        let mut below = vec![0.0; self.tasks];
        for star in stars {
            star.reached.iter().for_each(|(task, _)| below[*task] = 1.0);
            for (task, way) in star.reached.iter().skip(1).rev() {
                load[*way] += below[*task];
                let ends = self.ways[*way].ends;
                let before = if ends[0] == *task { ends[1] } else { ends[0] };
                below[before] += below[*task];
            }
        }
        let loads = load.iter().zip(&self.ways);
        let full = greatest(loads.map(|(load, way)| load / way.weight));
        if full <= 0.0 || !full.is_finite() {
            return false;
        }
        for (load, way) in load.iter().zip(&mut self.ways) {
            way.flow += share * load / full;
            way.length *= (step * load / (full * way.weight)).exp();
        }
        let demand = share / full;
        for star in stars {
            let row = star.reached[0].0 * self.tasks;
            self.crossings += demand * (star.reached.len() - capacity) as f64;
            star.reached.iter().skip(1).for_each(|(task, _)| self.demand[row + task] += demand);
        }
        true
    }

    /// By Dijkstra: the number of nearest tasks with the least price per crossing.
    fn star(&self, centre: usize, capacity: usize) -> Option<Star> {
        let mut price = vec![f64::INFINITY; self.tasks];
        let mut by = vec![usize::MAX; self.tasks];
        let mut star = Star { ratio: f64::INFINITY, reached: Vec::new() };
        let mut sum = 0.0;
        price[centre] = 0.0;
        let mut open = BinaryHeap::from([(Reverse(Ordered(0.0)), centre)]);
        while let Some((Reverse(Ordered(least)), next)) = open.pop() {
            if least > price[next] {
                continue;
            }
            // Farther tasks would raise the price per crossing.
            if least >= star.ratio {
                break;
            }
            sum += least;
            star.reached.push((next, by[next]));
            if star.reached.len() > capacity {
                star.ratio = sum / (star.reached.len() - capacity) as f64;
            }
            for (with, way) in &self.from[next] {
                let longer = least + self.ways[*way].length;
                if longer < price[*with] {
                    (price[*with], by[*with]) = (longer, *way);
                    open.push((Reverse(Ordered(longer)), *with));
                }
            }
        }
        star.ratio.is_finite().then_some(star)
    }

    /// The bound, from the scaled flow and the unused weights.
    fn bound(&mut self, capacities: &[usize]) -> f64 {
        let full = self.fullest();
        let part = if full > 0.0 { (1.0 - UNUSED) / full } else { 0.0 };
        self.demand.iter_mut().for_each(|demand| *demand *= part);
        for way in &self.ways {
            let left = 0.5 * (way.weight - way.flow * part).max(0.0);
            let [a, b] = way.ends;
            // Each end gets half: both keep their largest demands inside.
            self.demand[a * self.tasks + b] += left;
            self.demand[b * self.tasks + a] += left;
        }
        for row in self.demand.chunks_mut(self.tasks.max(1)) {
            row.sort_by_key(|demand| Reverse(Ordered(*demand)));
            (1..row.len()).rev().for_each(|at| row[at - 1] += row[at]);
        }
        crossing(&self.demand, self.tasks, capacities)
    }
}

/// The demand that crosses in every division. `beyond` has, for each task and s - 1, its demands
/// without the s - 1 largest.
///
/// Groups smaller than the largest leave more outside: the least sum over groups, with the cheapest
/// tasks for each.
fn crossing(beyond: &[f64], tasks: usize, capacities: &[usize]) -> f64 {
    let largest = capacities.iter().copied().max().unwrap_or(0).min(tasks);
    if largest == 0 {
        return 0.0;
    }
    let rows = || beyond.chunks(tasks);
    let sure: f64 = rows().map(|row| row[largest - 1]).sum();
    let mut more = vec![0.0; largest + 1];
    for size in 1..largest {
        let mut each: Vec<f64> = rows().map(|row| row[size - 1] - row[largest - 1]).collect();
        each.sort_by(f64::total_cmp);
        more[size] = each[..size].iter().sum();
    }
    // If the tasks do not fit, any bound is valid.
    let least = least_over_groups(tasks, capacities, &more);
    if least.is_finite() { sure + least } else { sure }
}

/// The least sum over groups with these capacities, given a group's amount by its tasks; infinite
/// if the tasks do not fit.
pub fn least_over_groups(tasks: usize, capacities: &[usize], by_size: &[f64]) -> f64 {
    let mut sums = vec![f64::INFINITY; tasks + 1];
    sums[0] = 0.0;
    for capacity in capacities {
        for held in (1..=tasks).rev() {
            let sizes = 0..=held.min(*capacity);
            sums[held] = least(sizes.map(|size| sums[held - size] + by_size[size]));
        }
    }
    sums[tasks]
}
