//! A bound on a cut by spreading the traffic over more pairs.

use crate::Traffic;
use crate::search::{DeadlineWatch, SearchLimit};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rounds, in each of which every task spreads once: fewer where a round takes long.
const ROUNDS: std::ops::RangeInclusive<usize> = 8..=60;

/// The tasks and pairs that all rounds together look at: about a tenth of a second.
const LOOKS: usize = 1 << 23;

/// The factor by which an edge that is full in one round becomes longer is e to this.
const STEP: f64 = 0.35;

/// Tasks spread in a round if they do so at no more than this times the lowest price.
const NEARLY_CHEAPEST: f64 = 1.1;

/// The part of the most that ways can come to at which packing ends.
const ENOUGH: f64 = 0.98;

/// The growth of a bound below which ways are not worth their time.
const WORTH_IT: f64 = 1.01;

/// The part of an edge's weight that is left unused, so that roundings never fill it above the
/// weight.
const UNUSED: f64 = 1e-9;

/// A bound on the weight between groups that hold at most these numbers of tasks.
///
/// Traffic that goes from one task to another by way of others crosses between groups at least
/// once if the two are in different groups, so each edge's weight may be spent on ways, and the
/// ways bound the cut. A task with ways to s - 1 others has at least s less the largest capacity
/// cross. These are the spreading metrics of Even, Naor, Rao & Schieber (1999), seen from the dual:
/// ways are packed by multiplicative weights (Garg & Koenemann 1998), and whatever comes out is a
/// bound.
///
/// Where these ways cannot come to more than `known`, it is given up at once.
pub(super) fn spread(
    traffic: &Traffic,
    capacities: &[usize],
    known: f64,
    limit: &SearchLimit,
) -> f64 {
    let capacity = capacities.iter().copied().max().unwrap_or(0);
    // Where all groups may be full, the bound of the ways is that of the largest capacity.
    let are_full = capacities.iter().all(|other| *other == capacity)
        && capacity > 0
        && traffic.tasks().is_multiple_of(capacity);
    let bound = packed(traffic, capacities, NEARLY_CHEAPEST, limit, |most| {
        are_full && most <= WORTH_IT * known
    });
    if are_full {
        return bound.max(known);
    }
    // Ways from few tasks bound little where these may all be in the largest group.
    let of_all = packed(traffic, capacities, f64::INFINITY, limit, |_| false);
    bound.max(of_all).max(known)
}

/// The bound of ways from tasks for which they cost no more than this times the lowest price. It is
/// 0 where the most that it can come to is said to be useless.
fn packed(
    traffic: &Traffic,
    capacities: &[usize],
    dearest: f64,
    limit: &SearchLimit,
    is_useless: impl Fn(f64) -> bool,
) -> f64 {
    let capacity = capacities.iter().copied().max().unwrap_or(0);
    let mut packing = Packing::new(traffic);
    // A look at all neighbours, and as many at a heap of them.
    let looks = traffic.tasks() + 2 * traffic.pairs();
    let mut watch = DeadlineWatch::new(limit, 8 * looks);
    let rounds = (LOOKS / (looks * traffic.tasks()).max(1)).clamp(*ROUNDS.start(), *ROUNDS.end());
    for round in 0..rounds {
        // Long steps first, and short ones near the end.
        let step = STEP * (1.0 - 0.8 * round as f64 / rounds as f64);
        let Some(stars) = packing.stars(capacity, dearest, &mut watch) else { break };
        // Later lengths are better ones, and their ways count more.
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

/// An edge of the traffic.
struct Way {
    ends: [usize; 2],
    weight: f64,
    /// The price of a unit of flow.
    length: f64,
    flow: f64,
}

struct Packing {
    tasks: usize,
    /// The crossings of all ways so far, before they are made to fit.
    crossings: f64,
    /// No packing has more crossings: the least that any lengths so far say (duality).
    most: f64,
    ways: Vec<Way>,
    /// Neighbours and edges of each task.
    from: Vec<Vec<(usize, usize)>>,
    /// The demand of each task for each other, row by row.
    demand: Vec<f64>,
}

/// The cheapest ways from a task to the others around it.
struct Star {
    /// The price over the number of ways that must cross.
    ratio: f64,
    /// The tasks, nearest first, each with the edge that reaches it; the first is the centre.
    reached: Vec<(usize, usize)>,
}

impl Packing {
    fn new(traffic: &Traffic) -> Self {
        let tasks = traffic.tasks();
        let mut ways = Vec::with_capacity(traffic.pairs());
        let mut from = vec![Vec::new(); tasks];
        for task in 0..tasks {
            for (with, weight) in traffic.of(task).filter(|(with, _)| *with > task) {
                from[task].push((with, ways.len()));
                from[with].push((task, ways.len()));
                ways.push(Way { ends: [task, with], weight, length: 1.0 / weight, flow: 0.0 });
            }
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

    /// The crossings of the ways, made to fit.
    fn packed(&self) -> f64 {
        let full = self.ways.iter().map(|way| way.flow / way.weight).fold(0.0, f64::max);
        if full > 0.0 { self.crossings / full } else { 0.0 }
    }

    /// The ways of all tasks for which they cost no more than this times the lowest price. `None`
    /// where time is up.
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
        let least = stars.iter().map(|star| star.ratio).fold(f64::INFINITY, f64::min);
        let all: f64 = self.ways.iter().map(|way| way.weight * way.length).sum();
        self.most = self.most.min(all / least);
        stars.retain(|star| star.ratio <= least * dearest);
        Some(stars)
    }

    /// Sends demand along these ways, `share` times what fills an edge, and lengthens full edges.
    /// `false` where there are none.
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
        let full = loads.map(|(load, way)| load / way.weight).fold(0.0, f64::max);
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

    /// The ways from a task to as many others as make the price of a crossing least (Dijkstra).
    fn star(&self, centre: usize, capacity: usize) -> Option<Star> {
        let mut price = vec![f64::INFINITY; self.tasks];
        let mut by = vec![usize::MAX; self.tasks];
        let mut star = Star { ratio: f64::INFINITY, reached: Vec::new() };
        let mut sum = 0.0;
        price[centre] = 0.0;
        // Floats that are not negative are ordered as their bits are.
        let mut open = BinaryHeap::from([(Reverse(0.0_f64.to_bits()), centre)]);
        while let Some((Reverse(bits), next)) = open.pop() {
            let least = f64::from_bits(bits);
            if least > price[next] {
                // A shorter way was found after this one.
                continue;
            }
            // One that costs more than a crossing does so far makes crossings dearer.
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
                    open.push((Reverse(longer.to_bits()), *with));
                }
            }
        }
        star.ratio.is_finite().then_some(star)
    }

    /// The weight that crosses at least, of the demands that fit and of the weight that they leave.
    fn bound(&mut self, capacities: &[usize]) -> f64 {
        let full = self.ways.iter().map(|way| way.flow / way.weight).fold(0.0, f64::max);
        let part = if full > 0.0 { (1.0 - UNUSED) / full } else { 0.0 };
        self.demand.iter_mut().for_each(|demand| *demand *= part);
        for way in &self.ways {
            let left = 0.5 * (way.weight - way.flow * part).max(0.0);
            let [a, b] = way.ends;
            // Half for each end: both keep their largest demands inside.
            self.demand[a * self.tasks + b] += left;
            self.demand[b * self.tasks + a] += left;
        }
        for row in self.demand.chunks_mut(self.tasks.max(1)) {
            row.sort_by(|a, b| b.total_cmp(a));
            // Of each row, the sum from here on.
            (1..row.len()).rev().for_each(|at| row[at - 1] += row[at]);
        }
        crossing(&self.demand, self.tasks, capacities)
    }
}

/// The demand that crosses however the tasks are divided. Of a task in a group of s, `beyond` holds
/// at s - 1 what is left beside its s - 1 largest demands.
///
/// Groups that hold fewer than the largest can leave more outside. The rest is the least of a sum
/// over groups, each with the tasks that it costs least.
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
    // The least for each number of tasks that the groups so far hold.
    let mut least = vec![f64::INFINITY; tasks + 1];
    least[0] = 0.0;
    for capacity in capacities {
        for held in (1..=tasks).rev() {
            least[held] = (0..=held.min(*capacity))
                .map(|size| least[held - size] + more[size])
                .fold(f64::INFINITY, f64::min);
        }
    }
    // Groups too small for all tasks hold no placement, and nothing need be said of them.
    if least[tasks].is_finite() { sure + least[tasks] } else { sure }
}
