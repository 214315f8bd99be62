//! Lower bounds on the cost of any placement.

mod cuts;
mod levels;
mod products;
mod spread;

use crate::Problem;
use crate::assignment::assign;
use crate::search::{DeadlineWatch, Qap, SearchLimit};
use seatmap_data::machine::Square;
use seatmap_data::statistics::{Ordered, greatest, least};

/// The bound may take 1/`BOUND_PART` of a search's time.
pub(crate) const BOUND_PART: u32 = 4;

/// With more slots, each task takes its cheapest slot.
const LARGEST_ASSIGNED: usize = 512;

/// The larger of two bounds: [`gilmore_lawler`], and one from the weight that must cross between
/// distant groups of slots.
///
/// In the problem's unit. The same on every computer without a deadline.
pub fn lower_bound(problem: &Problem, limit: &SearchLimit) -> f64 {
    let simple = gilmore_lawler(problem, limit);
    levels::by_levels(problem, limit).map_or(simple, |bound| simple.max(bound))
}

/// Gilmore's (1962) and Lawler's (1963) bound: puts each task's heaviest partners on the nearest
/// slots, then solves the assignment.
///
/// In the problem's unit. With more than 512 slots, tasks may share slots: faster, but weaker.
/// After the deadline, missing terms count as zero.
pub fn gilmore_lawler(problem: &Problem, limit: &SearchLimit) -> f64 {
    if limit.is_late() {
        return 0.0;
    }
    let weights = partners(problem);
    let nearest =
        Nearest::new(problem.slots(), &weights, |slot, other| problem.between(slot, other), limit);
    nearest.map_or(0.0, |nearest| match nearest.best_sum(problem, &weights, limit) {
        Ok((sum, _)) | Err(sum) => 0.5 * sum,
    })
}

fn partners(problem: &Problem) -> Vec<Vec<f64>> {
    (0..problem.tasks()).map(|task| problem.traffic.heaviest(task)).collect()
}

/// The nearest other slots of each slot; distances may be negative.
struct Nearest {
    others: Vec<Vec<(f64, usize)>>,
}

impl Nearest {
    /// `None` if time is up.
    fn new(
        slots: usize,
        weights: &[Vec<f64>],
        apart: impl Fn(usize, usize) -> f64,
        limit: &SearchLimit,
    ) -> Option<Self> {
        let wanted = weights.iter().map(Vec::len).max().unwrap_or(0);
        let mut watch = DeadlineWatch::new(limit, slots + wanted);
        let mut others = Vec::with_capacity(slots);
        for slot in 0..slots {
            if watch.is_late() {
                return None;
            }
            let all = (0..slots).filter(|other| *other != slot);
            others.push(nearest(all.map(|other| (apart(slot, other), other)).collect(), wanted));
        }
        Some(Nearest { others })
    }

    /// Counts each pair twice. `Err` has the sum so far if time is up.
    fn best_sum(
        &self,
        problem: &Problem,
        weights: &[Vec<f64>],
        limit: &SearchLimit,
    ) -> Result<(f64, Vec<usize>), f64> {
        let slots = problem.slots();
        let longest = weights.iter().map(Vec::len).max().unwrap_or(0);
        // Forbids a fixed task's other slots, yet sums stay finite.
        best_sum(
            problem.tasks(),
            slots,
            &mut DeadlineWatch::new(limit, slots * longest),
            |task, slot| match problem.fixed[task] {
                Some(fixed) if fixed as usize != slot => f64::MAX / 1e30,
                _ => weights[task].iter().zip(&self.others[slot]).map(|(w, (ns, _))| w * ns).sum(),
            },
        )
    }
}

/// The same bound for dense matrices, also with negative numbers. After the deadline it is crude.
pub fn gilmore_lawler_dense(qap: &Qap, limit: &SearchLimit) -> f64 {
    let n = qap.n();
    let mut watch = DeadlineWatch::new(limit, n * n);
    if watch.is_late() {
        return crude(qap);
    }
    let flows: Vec<Vec<f64>> = (0..n).map(|i| descending(others(&qap.a, i))).collect();
    let mut distances: Vec<Vec<f64>> = (0..n).map(|i| descending(others(&qap.b, i))).collect();
    // The rearrangement inequality: large flows times small distances.
    distances.iter_mut().for_each(|row| row.reverse());
    best_sum(n, n, &mut watch, |i: usize, p: usize| {
        qap.a[(i, i)] * qap.b[(p, p)] + dot(&flows[i], &distances[p])
    })
    .map_or_else(|_| crude(qap), |(sum, _)| sum)
}

fn others(m: &Square<f64>, i: usize) -> Vec<f64> {
    m.row(i).iter().enumerate().filter(|(j, _)| *j != i).map(|(_, cell)| *cell).collect()
}

/// With the largest distance and the worse sign.
fn crude(qap: &Qap) -> f64 {
    let [a, b] =
        [&qap.a, &qap.b].map(|m| (0..m.n()).flat_map(|i| m.row(i).to_vec()).collect::<Vec<f64>>());
    if a.iter().chain(&b).all(|cell| *cell >= 0.0) {
        return 0.0;
    }
    let flows: f64 = a.iter().map(|cell| cell.abs()).sum();
    -flows * greatest(b.iter().map(|cell| cell.abs()))
}

/// With many slots, each task on its cheapest one.
fn best_sum(
    tasks: usize,
    slots: usize,
    watch: &mut DeadlineWatch,
    pays: impl Fn(usize, usize) -> f64,
) -> Result<(f64, Vec<usize>), f64> {
    let is_assigned = slots <= LARGEST_ASSIGNED;
    let mut cells = Vec::new();
    let mut sum = 0.0;
    for task in 0..tasks {
        if watch.is_late() {
            return Err(sum);
        }
        let row = (0..slots).map(|slot| pays(task, slot));
        if is_assigned {
            cells.extend(row);
            sum += least(&cells[task * slots..]);
        } else {
            sum += least(row);
        }
    }
    Ok(if is_assigned { assign(tasks, slots, &cells) } else { (sum, Vec::new()) })
}

fn nearest(mut all: Vec<(f64, usize)>, wanted: usize) -> Vec<(f64, usize)> {
    let key = |(apart, slot): &(f64, usize)| (Ordered(*apart), *slot);
    if wanted < all.len() && wanted > 0 {
        all.select_nth_unstable_by_key(wanted - 1, key);
        all.truncate(wanted);
    }
    all.sort_unstable_by_key(key);
    all
}

pub(crate) fn descending(mut cells: Vec<f64>) -> Vec<f64> {
    cells.sort_by(|a, b| b.total_cmp(a));
    cells
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
