//! Tasks in a line, with partners near each other.

use crate::search::{DeadlineWatch, SearchLimit};
use crate::{Problem, Traffic};
use std::collections::VecDeque;

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
