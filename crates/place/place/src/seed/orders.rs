//! Tasks in a line, with partners near each other.

use crate::search::{DeadlineWatch, SearchLimit};
use crate::{Problem, Traffic};
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use std::collections::VecDeque;

/// Orders need far fewer rounds than eigenvalues.
const ROUNDS: usize = 300;

/// The order of the second eigenvector of the traffic's Laplacian (Fiedler 1973), holes last.
/// `None` if the deadline comes first.
pub fn spectral(problem: &Problem, rng: &mut Xoshiro, limit: &SearchLimit) -> Option<Vec<u32>> {
    let traffic = &problem.traffic;
    let mut watch = DeadlineWatch::new(limit, 2 * traffic.pairs());
    let n = traffic.tasks();
    let volume: Vec<f64> = (0..n).map(|task| traffic.volume(task)).collect();
    // No eigenvalue exceeds twice the largest volume (Gershgorin), so this shift makes the smallest
    // the largest.
    let shift = 2.0 * volume.iter().copied().fold(1e-300, f64::max);
    let mut vector: Vec<f64> = (0..n).map(|_| rng.unit() - 0.5).collect();
    for _ in 0..ROUNDS {
        if watch.is_late() {
            return None;
        }
        let mut product: Vec<f64> = (0..n)
            .map(|task| {
                let flow: f64 = traffic.of(task).map(|(with, weight)| weight * vector[with]).sum();
                (shift - volume[task]) * vector[task] + flow
            })
            .collect();
        // The constant vector would win. Rounding brings it back, so each round projects it out.
        let mean = product.iter().sum::<f64>() / n as f64;
        product.iter_mut().for_each(|x| *x -= mean);
        let norm = product.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-300);
        vector = product.into_iter().map(|x| x / norm).collect();
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|task| Ordered(vector[*task as usize]));
    order.extend(n as u32..problem.slots() as u32);
    Some(order)
}

/// The reverse order of Cuthill & McKee (1969), component by component, holes last. `None` if the
/// deadline comes first.
pub fn rcm(problem: &Problem, limit: &SearchLimit) -> Option<Vec<u32>> {
    let traffic = &problem.traffic;
    let n = traffic.tasks();
    let mut watch = DeadlineWatch::new(limit, n);
    let mut seen = vec![false; n];
    let mut order = Vec::with_capacity(problem.slots());
    while let Some(start) =
        (0..n).filter(|task| !seen[*task]).min_by_key(|task| traffic.degree(*task))
    {
        if watch.is_late() {
            return None;
        }
        // The last task is at an end of the component.
        let there = breadth_first(traffic, start, &mut seen.clone());
        let end = there.last().map_or(start, |end| *end as usize);
        order.extend(breadth_first(traffic, end, &mut seen));
    }
    order.reverse();
    order.extend(n as u32..problem.slots() as u32);
    Some(order)
}

fn breadth_first(traffic: &Traffic, start: usize, seen: &mut [bool]) -> Vec<u32> {
    let mut order = Vec::new();
    let mut queue = VecDeque::from([start]);
    seen[start] = true;
    while let Some(task) = queue.pop_front() {
        order.push(task as u32);
        let mut next: Vec<usize> =
            traffic.of(task).map(|(with, _)| with).filter(|with| !seen[*with]).collect();
        // Cuthill & McKee visit neighbours by rising degree.
        next.sort_by_key(|with| traffic.degree(*with));
        next.iter().for_each(|with| seen[*with] = true);
        queue.extend(next);
    }
    order
}
