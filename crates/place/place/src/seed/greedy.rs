//! Greedy growth.

use super::lawful;
use crate::Problem;
use crate::search::{DeadlineWatch, SearchLimit};
use seatmap_data::statistics::Ordered;
use std::cmp::Reverse;

/// Puts the busiest task in the middle of the machine, then always the task with the most traffic
/// to placed ones on its cheapest free slot. `None` if the deadline comes first.
pub fn greedy(problem: &Problem, limit: &SearchLimit) -> Option<Vec<u32>> {
    let mut watch = DeadlineWatch::new(limit, problem.slots());
    let mut slot_of: Vec<u32> = problem.fixed.iter().map(|slot| slot.unwrap_or(u32::MAX)).collect();
    let mut free = vec![true; problem.slots()];
    slot_of.iter().filter(|slot| **slot != u32::MAX).for_each(|slot| free[*slot as usize] = false);
    let mut pull: Vec<f64> =
        (0..problem.tasks()).map(|task| 1e-9 * problem.traffic.volume(task)).collect();
    // Fixed tasks pull their partners from the start.
    for task in (0..problem.tasks()).filter(|task| slot_of[*task] != u32::MAX) {
        problem.traffic.of(task).for_each(|(with, weight)| pull[with] += weight);
    }
    while let Some(task) = strongest(&pull, &slot_of) {
        if watch.is_late() {
            return None;
        }
        let Some(slot) = cheapest(problem, task, &slot_of, &free) else { break };
        slot_of[task] = slot as u32;
        free[slot] = false;
        problem.traffic.of(task).for_each(|(with, weight)| pull[with] += weight);
    }
    slot_of.extend((0..problem.slots()).filter(|slot| free[*slot]).map(|slot| slot as u32));
    Some(lawful(problem, slot_of))
}

fn strongest(pull: &[f64], slot_of: &[u32]) -> Option<usize> {
    let waiting = (0..pull.len()).filter(|task| slot_of[*task] == u32::MAX);
    waiting.max_by_key(|task| (Ordered(pull[*task]), Reverse(*task)))
}

/// Without placed partners, the slot nearest to all free ones.
fn cheapest(problem: &Problem, task: usize, slot_of: &[u32], free: &[bool]) -> Option<usize> {
    let seated: Vec<(usize, f64)> =
        problem.traffic.of(task).filter(|(with, _)| slot_of[*with] != u32::MAX).collect();
    let to: Vec<(usize, f64)> = if seated.is_empty() {
        (0..problem.slots()).filter(|other| free[*other]).map(|other| (other, 1.0)).collect()
    } else {
        seated.into_iter().map(|(with, weight)| (slot_of[with] as usize, weight)).collect()
    };
    (0..free.len()).filter(|slot| free[*slot]).min_by_key(|slot| {
        Ordered(to.iter().map(|(other, weight)| weight * problem.between(*slot, *other)).sum())
    })
}
