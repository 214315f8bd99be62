//! A lower bound from the weight that must cross between distant groups of slots.

use super::cuts::Cuts;
use super::{Nearest, partners};
use crate::Problem;
use crate::search::SearchLimit;
use seatmap_data::machine::Square;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::greatest;
use std::cmp::Reverse;

/// With more, cubic time is too long.
const MOST_TASKS: usize = 256;
const MOST_SLOTS: usize = 512;
/// Divisions to try, with the widest gaps.
const MOST_DIVISIONS: usize = 4;
/// Smallest gap, in units of the largest distance.
const SMALLEST_GAP: f64 = 0.03;
/// The first relative change of a price, and the rounds, each with half the change.
const FIRST_CHANGE: f64 = 0.4;
const LATER_CHANGE: f64 = 0.1;
const HALVINGS: usize = 2;
const SKEWS: usize = 40;
/// First hoped-for relative gain, and the failures that halve it.
const FIRST_HOPE: f64 = 0.05;
const PATIENCE: usize = 4;
/// Rounds the bound down against rounding errors.
const ROUNDED_DOWN: f64 = 1e-9;

struct Division {
    group_of: Vec<u32>,
    capacities: Vec<usize>,
    /// How far distances between groups exceed those inside.
    gap: f64,
}

/// A bound from groups of near slots; `None` without such groups, or with too many slots.
///
/// The cost is, for each division, a price times the crossing weight, plus the cost by the
/// remaining distances, which may be negative. [`Cuts::least`] bounds the former, Gilmore & Lawler
/// the latter. Any prices give a valid bound; a search improves it.
pub fn by_levels(problem: &Problem, limit: &SearchLimit) -> Option<f64> {
    let is_small = problem.tasks() <= MOST_TASKS && problem.slots() <= MOST_SLOTS;
    if !is_small || !has_amounts(problem) || limit.is_late() {
        return None;
    }
    let distance =
        Square::from_fn(problem.slots(), |a, b| if a == b { 0.0 } else { problem.between(a, b) });
    let divisions = divisions(problem, &distance);
    let cuts = Cuts::new(&problem.traffic);
    let least: Vec<f64> = (divisions.iter().enumerate())
        .map(|(at, division)| {
            // Equal parts, one of them for the prices.
            let parts = (divisions.len() - at) as u32 + 1;
            cuts.least(&division.capacities, &limit.part(parts))
        })
        .collect();
    let levels = Levels { problem, distance, divisions, least, weights: partners(problem) };
    levels.best(limit)
}

fn has_amounts(problem: &Problem) -> bool {
    let is_amount = |x: f64| x.is_finite() && x >= 0.0;
    let n = problem.distance.n();
    (0..n).all(|pu| problem.distance.row(pu).iter().all(|ns| is_amount(f64::from(*ns))))
        && (0..problem.tasks()).all(|task| problem.traffic.of(task).all(|(_, w)| is_amount(w)))
}

struct Levels<'a> {
    problem: &'a Problem,
    distance: Square<f64>,
    divisions: Vec<Division>,
    least: Vec<f64>,
    weights: Vec<Vec<f64>>,
}

#[derive(Clone)]
struct Prices {
    /// The price of a unit of weight between groups, by division.
    crossing: Vec<f64>,
    /// The price that slot a pays for its distance to b above one half: (a, b) is -(b, a).
    skew: Square<f64>,
}

impl Levels<'_> {
    fn best(&self, limit: &SearchLimit) -> Option<f64> {
        let gaps = self.divisions.iter().zip(&self.least);
        let mut prices = Prices {
            crossing: gaps.map(|(by, least)| if *least > 0.0 { by.gap } else { 0.0 }).collect(),
            skew: Square::filled(self.distance.n(), 0.0),
        };
        let mut best = self.bound(&prices, limit)?.0;
        best = self.priced(&mut prices, best, FIRST_CHANGE, limit);
        best = self.skewed(&mut prices, best, limit);
        Some(self.priced(&mut prices, best, LATER_CHANGE, limit))
    }

    fn priced(&self, prices: &mut Prices, mut best: f64, first: f64, limit: &SearchLimit) -> f64 {
        let mut change = first;
        for _ in 0..HALVINGS {
            for at in 0..prices.crossing.len() {
                for factor in [1.0 - change, 1.0 + change] {
                    let before = prices.crossing[at];
                    prices.crossing[at] *= factor;
                    let Some((bound, _)) = self.bound(prices, limit) else { return best };
                    if bound > best {
                        best = bound;
                        break;
                    }
                    prices.crossing[at] = before;
                }
            }
            change *= 0.5;
        }
        best
    }

    /// A slot used by others more than it uses them becomes dearer to them. Steps are Polyak's
    /// (1969), towards a slightly better bound.
    fn skewed(&self, prices: &mut Prices, mut best: f64, limit: &SearchLimit) -> f64 {
        let n = self.distance.n();
        let mut at = prices.clone();
        let mut hope = FIRST_HOPE;
        let mut failures = 0;
        for _ in 0..SKEWS {
            let Some((bound, used)) = self.bound(&at, limit) else { break };
            if bound > best {
                (best, failures) = (bound, 0);
                *prices = at.clone();
            } else {
                failures += 1;
                if failures == PATIENCE {
                    (hope, failures) = (0.5 * hope, 0);
                    at = prices.clone();
                }
            }
            let uneven = |a: usize, b: usize| used[(a, b)] - used[(b, a)];
            let pairs = || (0..n).flat_map(|a| (0..a).map(move |b| (a, b)));
            let square: f64 = 0.25 * pairs().map(|(a, b)| uneven(a, b).powi(2)).sum::<f64>();
            if square <= 0.0 {
                break;
            }
            let step = 0.5 * (best * (1.0 + hope) - bound).max(0.0) / square;
            for (a, b) in pairs() {
                let more = step * uneven(a, b);
                at.skew[(a, b)] += more;
                at.skew[(b, a)] -= more;
            }
        }
        best
    }

    /// The bound, rounded down, and the weight between slots. `None` if time is up.
    fn bound(&self, prices: &Prices, limit: &SearchLimit) -> Option<(f64, Square<f64>)> {
        let n = self.distance.n();
        let left = Square::from_fn(n, |a, b| {
            let priced = self.divisions.iter().zip(&prices.crossing);
            priced
                .filter(|(by, _)| by.group_of[a] != by.group_of[b])
                .fold(self.distance[(a, b)] + prices.skew[(a, b)], |ns, (_, price)| ns - price)
        });
        let crossing: f64 =
            prices.crossing.iter().zip(&self.least).map(|(price, least)| price * least).sum();
        let nearest = Nearest::new(n, &self.weights, |a, b| left[(a, b)], limit)?;
        let (rest, slot_of) = nearest.best_sum(self.problem, &self.weights, limit).ok()?;
        let mut used = Square::filled(n, 0.0);
        for (weights, slot) in self.weights.iter().zip(slot_of) {
            let others = weights.iter().zip(&nearest.others[slot]);
            others.for_each(|(weight, (_, other))| used[(slot, *other)] += weight);
        }
        let volume: f64 = self.weights.iter().flatten().sum();
        let farthest = greatest((0..n).flat_map(|a| left.row(a)).map(|ns| ns.abs()));
        let bound = crossing + 0.5 * rest
            - ROUNDED_DOWN * (crossing + 0.5 * rest.abs())
            // Prices may shift more between the sums than both are together.
            - f64::EPSILON * 0.5 * volume * farthest * n as f64;
        bound.is_finite().then_some((bound, used))
    }
}

/// Divides the slots at the widest gaps between heights, the finest division first.
fn divisions(problem: &Problem, distance: &Square<f64>) -> Vec<Division> {
    let n = distance.n();
    let joins = joins(distance);
    let highest = joins.last().map_or(0.0, |join| join.height);
    let mut gaps: Vec<(f64, usize)> = joins
        .windows(2)
        .enumerate()
        .map(|(at, pair)| (pair[1].height - pair[0].height, at + 1))
        .filter(|(gap, _)| *gap > SMALLEST_GAP * highest)
        .collect();
    gaps.sort_by_key(|(gap, count)| (Reverse(Ordered(*gap)), *count));
    gaps.truncate(MOST_DIVISIONS);
    gaps.sort_by_key(|(_, count)| *count);
    gaps.into_iter()
        .map(|(gap, count)| {
            let mut group_of: Vec<u32> = (0..n as u32).collect();
            for join in &joins[..count] {
                let [kept, gone] = join.groups.map(|group| group as u32);
                group_of.iter_mut().filter(|group| **group == gone).for_each(|group| *group = kept);
            }
            let mut capacities: Vec<usize> = (0..n as u32)
                .map(|group| capacity(problem, |slot| group_of[slot] == group))
                .filter(|capacity| *capacity > 0)
                .collect();
            capacities.sort_by_key(|capacity| Reverse(*capacity));
            Division { group_of, capacities, gap }
        })
        .collect()
}

fn capacity(problem: &Problem, is_in: impl Fn(usize) -> bool) -> usize {
    let zones = &problem.zones;
    let mut slots = vec![0; zones.most.len()];
    (0..problem.slots())
        .filter(|slot| is_in(*slot))
        .for_each(|slot| slots[zones.zone_of_slot[slot] as usize] += 1);
    slots.iter().zip(&zones.most).map(|(slots, most)| (*slots).min(*most as usize)).sum()
}

/// Two groups that join, with the first one's number.
struct Join {
    groups: [usize; 2],
    height: f64,
}

/// Joins the nearest two groups until one remains (UPGMA; Sokal & Michener 1958). Heights never
/// fall.
fn joins(distance: &Square<f64>) -> Vec<Join> {
    let n = distance.n();
    let mut mean = distance.clone();
    let mut sizes = vec![1.0; n];
    let mut alive: Vec<usize> = (0..n).collect();
    let mut nearest: Vec<usize> = (0..n).map(|at| nearest_of(&mean, &alive, at)).collect();
    let mut joins = Vec::with_capacity(n.saturating_sub(1));
    while alive.len() > 1 {
        let nearest_two = alive.iter().copied().min_by_key(|at| Ordered(mean[(*at, nearest[*at])]));
        let Some(kept) = nearest_two else { break };
        let gone = nearest[kept];
        joins.push(Join { groups: [kept, gone], height: mean[(kept, gone)] });
        alive.retain(|at| *at != gone);
        let both = sizes[kept] + sizes[gone];
        for other in alive.iter().copied().filter(|other| *other != kept) {
            let ns = (sizes[kept] * mean[(kept, other)] + sizes[gone] * mean[(gone, other)]) / both;
            mean.set_both(kept, other, ns);
        }
        sizes[kept] = both;
        for at in &alive {
            // Only groups whose neighbour joined search anew: means never fall below the least.
            if *at == kept || nearest[*at] == kept || nearest[*at] == gone {
                nearest[*at] = nearest_of(&mean, &alive, *at);
            }
        }
    }
    joins
}

fn nearest_of(mean: &Square<f64>, alive: &[usize], at: usize) -> usize {
    let others = alive.iter().copied().filter(|other| *other != at);
    others.min_by_key(|other| Ordered(mean[(at, *other)])).unwrap_or(at)
}
