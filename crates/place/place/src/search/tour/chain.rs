//! The parts of a tour: tasks in a row, and slots near each other.

use super::NOWHERE;
use crate::Problem;
use crate::search::{DeadlineWatch, SearchLimit};
use seatmap_data::statistics::Ordered;

/// More neighbours hardly improve tours (Johnson & McGeoch 1997).
const NEAR: usize = 10;

/// The tasks along the single ring or pipeline, and the weight of its edges.
pub fn chain(problem: &Problem) -> Option<(Vec<u32>, f64)> {
    let traffic = &problem.traffic;
    let n = traffic.tasks();
    // Few tasks are solved exactly.
    if n < 8 || (0..n).any(|task| !(1..=2).contains(&traffic.degree(task))) {
        return None;
    }
    let weight = traffic.of(0).next()?.1;
    let alike =
        |task: usize| traffic.of(task).all(|(_, other)| (other - weight).abs() <= 1e-9 * weight);
    // A pipeline starts at an end, a ring anywhere.
    let start = (0..n).find(|task| traffic.degree(*task) == 1);
    let mut tasks = Vec::with_capacity(n + 1);
    let mut last = usize::MAX;
    let mut here = start.unwrap_or(0);
    while tasks.len() < n && alike(here) {
        tasks.push(here as u32);
        let Some((next, _)) =
            traffic.of(here).find(|(with, _)| *with != last && *with as u32 != tasks[0])
        else {
            break;
        };
        (last, here) = (here, next);
    }
    tasks.extend(start.map(|_| NOWHERE));
    // Several rings or pipelines leave tasks over.
    (tasks.len() == n + usize::from(start.is_some())).then_some((tasks, weight))
}

/// The nearest slots of each slot; `None` at the deadline.
pub fn neighbours(problem: &Problem, limit: &SearchLimit) -> Option<Vec<Vec<u32>>> {
    let mut watch = DeadlineWatch::new(limit, problem.slots());
    (0..problem.slots() as u32)
        .map(|slot| (!watch.is_late()).then(|| nearest_of(problem, slot)))
        .collect()
}

fn nearest_of(problem: &Problem, slot: u32) -> Vec<u32> {
    let mut others: Vec<u32> = (0..problem.slots() as u32).filter(|other| *other != slot).collect();
    if others.len() > NEAR {
        others.select_nth_unstable_by_key(NEAR - 1, |other| Ordered(problem.apart(slot, *other)));
        others.truncate(NEAR);
    }
    others.sort_by_key(|other| (Ordered(problem.apart(slot, *other)), *other));
    others
}
