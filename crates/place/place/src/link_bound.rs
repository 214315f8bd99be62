//! A lower bound on the load of the most loaded link in any placement.

use crate::search::{DeadlineWatch, SearchLimit};
use crate::{Links, Problem, Traffic};
use seatmap_data::statistics::{Ordered, greatest, least};

/// With more tasks, the eigenvalue's cubic time is too long.
const MOST_TASKS: usize = 256;
/// With more tasks, the smallest cut takes too much time and memory.
const MOST_CUT: usize = 4096;
/// Bisection steps for the eigenvalue.
const HALVINGS: usize = 24;

/// A lower bound on the load of the most loaded link, in the unit of the weights.
///
/// Traffic out of a group with s of n tasks is at least the smallest cut (Stoer & Wagner 1997), and
/// at least lambda s (n - s) / n, with the second eigenvalue lambda of the traffic's Laplacian
/// (Fiedler 1973; Donath & Hoffman 1973). 0 if all tasks fit in one group. Missing terms count as 0
/// after the deadline.
pub fn link_bound(problem: &Problem, links: &Links, limit: &SearchLimit) -> f64 {
    let n = problem.tasks();
    let slots = links.slots(&problem.pu_of_slot);
    let minority = slots.iter().map(|groups| least_minority(n, groups)).max().unwrap_or(0);
    if minority == 0 {
        return 0.0;
    }
    let eigenvalue =
        if n <= MOST_TASKS && !limit.is_late() { second_eigenvalue(&problem.traffic) } else { 0.0 };
    let spread = eigenvalue * minority as f64 * (n - minority) as f64 / n as f64;
    spread.max(if n <= MOST_CUT {
        smallest_cut(&problem.traffic, limit).unwrap_or(0.0)
    } else {
        0.0
    })
}

/// The largest k such that every division of n tasks has a group of k to n - k.
fn least_minority(n: usize, groups: &[usize]) -> usize {
    let largest = groups.iter().copied().max().unwrap_or(0);
    (0..=n / 2)
        .find(|minority| {
            let all: usize = groups.iter().map(|slots| *slots.min(minority)).sum();
            // Either all groups hold a minority, or one holds all but a minority.
            all >= n
                || (largest + minority >= n && largest.min(n) + all - largest.min(*minority) >= n)
        })
        .unwrap_or(n / 2)
}

fn second_eigenvalue(traffic: &Traffic) -> f64 {
    let n = traffic.tasks();
    let volumes: Vec<f64> = (0..n).map(|task| traffic.volume(task)).collect();
    let most = greatest(&volumes);
    // At most the smallest volume times n / (n - 1) (Fiedler 1973).
    let least = least(&volumes);
    let mut low = 0.0;
    let mut high = least * n as f64 / (n.max(2) - 1) as f64;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_positive(traffic, most, middle) { low = middle } else { high = middle }
    }
    // Pivots have rounding errors of about n units.
    (low - 1e-13 * n as f64 * most).max(0.0)
}

/// For the Laplacian minus `shift`, with the constant vector's eigenvalue raised from 0 to 2
/// `most`.
fn is_positive(traffic: &Traffic, most: f64, shift: f64) -> bool {
    let n = traffic.tasks();
    // This eigenvalue becomes the largest, so the least is the Laplacian's second.
    let raised = 2.0 * most / n as f64;
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        let (done, rest) = factor.split_at_mut(i * n);
        let row = &mut rest[..n];
        row[..=i].fill(raised);
        row[i] += traffic.volume(i) - shift;
        traffic.of(i).filter(|(with, _)| *with < i).for_each(|(with, weight)| row[with] -= weight);
        for j in 0..i {
            let above = &done[j * n..j * n + j + 1];
            let dot: f64 = row[..j].iter().zip(above).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - dot) / above[j];
        }
        let square: f64 = row[i] - row[..i].iter().map(|x| x * x).sum::<f64>();
        if square <= 0.0 {
            return false;
        }
        row[i] = square.sqrt();
    }
    true
}

/// The least traffic between two parts of the tasks (Stoer & Wagner 1997). `None` at the deadline.
fn smallest_cut(traffic: &Traffic, limit: &SearchLimit) -> Option<f64> {
    let n = traffic.tasks();
    let mut watch = DeadlineWatch::new(limit, n * n);
    let mut weight = vec![0.0; n * n];
    (0..n).for_each(|task| traffic.of(task).for_each(|(with, w)| weight[task * n + with] = w));
    let mut alive: Vec<usize> = (0..n).collect();
    let mut least = f64::INFINITY;
    while alive.len() > 1 {
        if watch.is_late() {
            return None;
        }
        // The last two can be merged: the last task's traffic is their smallest cut.
        let (last, before, cut) = farthest(&weight, n, &alive);
        least = least.min(cut);
        for other in &alive {
            weight[before * n + other] += weight[last * n + other];
            weight[other * n + before] = weight[before * n + other];
        }
        alive.retain(|task| *task != last);
    }
    Some(if least.is_finite() { least } else { 0.0 })
}

/// By traffic with all earlier ones; and the traffic of the last.
fn farthest(weight: &[f64], n: usize, alive: &[usize]) -> (usize, usize, f64) {
    let mut open: Vec<(usize, f64)> = alive.iter().map(|task| (*task, 0.0)).collect();
    let mut last = alive[0];
    let mut before = alive[0];
    let mut tie = 0.0;
    while let Some(at) = (0..open.len()).max_by_key(|at| Ordered(open[*at].1)) {
        before = last;
        (last, tie) = open.swap_remove(at);
        open.iter_mut().for_each(|(task, tied)| *tied += weight[last * n + *task]);
    }
    (last, before, tie)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{ENDLESS, ring};
    use seatmap_data::statistics::Xoshiro;

    #[test]
    fn least_minority_follows_from_capacities() {
        assert_eq!(least_minority(8, &[8, 8]), 0, "all fit in one");
        assert_eq!(least_minority(8, &[7, 7]), 1);
        assert_eq!(least_minority(8, &[6, 6]), 2);
        assert_eq!(least_minority(8, &[4, 4]), 4);
        assert_eq!(least_minority(9, &[3, 3, 3]), 3);
        assert_eq!(least_minority(8, &[6, 1, 1]), 2, "six leave two");
    }

    #[test]
    fn second_eigenvalue_of_known_graphs_is_bounded_below() {
        let complete = Traffic::new(6, (0..6).flat_map(|i| (0..i).map(move |j| (i, j, 1.0))));
        let known = [(ring(12), 2.0 - 2.0 * (std::f64::consts::TAU / 12.0).cos()), (complete, 6.0)];
        for (traffic, exact) in known {
            let found = second_eigenvalue(&traffic);
            assert!(found <= exact && found > exact - 1e-5, "{found} for {exact}");
        }
    }

    #[test]
    fn smallest_cut_of_known_graphs_is_exact() {
        assert_eq!(smallest_cut(&ring(9), &ENDLESS), Some(2.0));
        let bridge = Traffic::new(
            6,
            [(0, 1, 5.0), (1, 2, 5.0), (0, 2, 5.0), (3, 4, 4.0), (4, 5, 4.0), (2, 3, 1.5)],
        );
        assert_eq!(smallest_cut(&bridge, &ENDLESS), Some(1.5));
        assert_eq!(smallest_cut(&Traffic::new(4, [(0, 1, 1.0)]), &ENDLESS), Some(0.0));
    }

    proptest::proptest! {
        #[test]
        fn link_bound_never_exceeds_best_placement(seed in 0_u64..400, capacity in 3_usize..8) {
            let mut rng = Xoshiro::new(seed);
            let n = 3 + rng.below(2 * capacity - 2);
            let edges: Vec<_> = (0..2 * n).map(|_| (rng.below(n), rng.below(n), rng.unit())).collect();
            let traffic = Traffic::new(n, edges);
            let minority = least_minority(n, &[capacity, capacity]);
            let bound = if minority == 0 { 0.0 } else {
                let spread = second_eigenvalue(&traffic) * minority as f64 * (n - minority) as f64 / n as f64;
                spread.max(smallest_cut(&traffic, &ENDLESS).unwrap())
            };
            let best = (0..1_u32 << n)
                .filter(|side| side.count_ones() as usize <= capacity && n - side.count_ones() as usize <= capacity)
                .map(|side| {
                    let across = |a: usize, b: usize| (side >> a ^ side >> b) & 1 == 1;
                    (0..n).flat_map(|a| traffic.of(a).filter(move |(b, _)| *b > a && across(a, *b))).map(|(_, w)| w).sum::<f64>()
                })
                .fold(f64::INFINITY, f64::min);
            proptest::prop_assert!(bound <= best + 1e-9, "{} over {}", bound, best);
        }
    }
}
