//! From any assignment to one that is allowed.

use crate::Problem;

/// The nearest assignment in which fixed tasks sit on their slots and each zone holds an allowed
/// number.
///
/// Tasks leave a zone that is too full, or come to one that is too empty, one at a time, by the
/// cheapest move.
#[must_use]
pub fn lawful(problem: &Problem, mut slot_of: Vec<u32>) -> Vec<u32> {
    let mut item_at = vec![0; slot_of.len()];
    slot_of.iter().enumerate().for_each(|(item, slot)| item_at[*slot as usize] = item);
    let mut swap = |slot_of: &mut Vec<u32>, a: usize, b: usize| {
        slot_of.swap(a, b);
        item_at[slot_of[a] as usize] = a;
        item_at[slot_of[b] as usize] = b;
    };
    for (task, slot) in problem.fixed.iter().enumerate() {
        if let Some(slot) = slot
            && let Some(there) = slot_of.iter().position(|other| other == slot)
        {
            swap(&mut slot_of, task, there);
        }
    }
    for _ in 0..problem.slots() {
        match next_move(problem, &slot_of) {
            Some((task, hole)) => swap(&mut slot_of, task, hole),
            None => break,
        }
    }
    slot_of
}

/// Partners of tasks looked at to find the cheapest of all moves. Of more, only some of those moves
/// are looked at that mend the first zone: any of them will do, as a search follows.
const MOST_LOOKS: usize = 1 << 20;

/// The cheapest move of a task to a hole that mends a zone.
fn next_move(problem: &Problem, slot_of: &[u32]) -> Option<(usize, usize)> {
    let zones = &problem.zones;
    let zone = |item: usize| zones.zone_of_slot[slot_of[item] as usize] as usize;
    let mut count = vec![0; zones.least.len()];
    (0..problem.tasks()).for_each(|task| count[zone(task)] += 1);
    let over = |zone: usize| count[zone] > zones.most[zone];
    let under = |zone: usize| count[zone] < zones.least[zone];
    let any_over = (0..count.len()).any(over);
    let any_under = (0..count.len()).any(under);
    let leaves = |zone: usize| if any_over { over(zone) } else { count[zone] > zones.least[zone] };
    let enters = |zone: usize| if any_under { under(zone) } else { count[zone] < zones.most[zone] };
    if !any_over && !any_under {
        return None;
    }
    let is_free = |task: &usize| problem.fixed[*task].is_none() && leaves(zone(*task));
    let mut tasks: Vec<usize> = (0..problem.tasks()).filter(is_free).collect();
    let mut holes: Vec<usize> =
        (problem.tasks()..problem.slots()).filter(|hole| enters(zone(*hole))).collect();
    let partners: usize = tasks.iter().map(|task| problem.traffic.degree(*task)).sum();
    if (partners + tasks.len()) * holes.len() > MOST_LOOKS {
        let most = (MOST_LOOKS * tasks.len() / (partners + tasks.len())).max(1);
        let (mended, others) =
            if any_over { (&mut tasks, &mut holes) } else { (&mut holes, &mut tasks) };
        let first = mended.first().map(|item| zone(*item));
        mended.retain(|item| Some(zone(*item)) == first);
        others.truncate((most / mended.len().max(1)).max(1));
    }
    let moves = tasks.into_iter().flat_map(|task| holes.iter().map(move |hole| (task, *hole)));
    let pays = |task: usize, item: usize| -> f64 {
        let slot = slot_of[item] as usize;
        problem
            .traffic
            .of(task)
            .map(|(with, weight)| weight * problem.between(slot, slot_of[with] as usize))
            .sum()
    };
    let change = |(task, hole): &(usize, usize)| pays(*task, *hole) - pays(*task, *task);
    moves
        .filter(|(task, hole)| zone(*task) != zone(*hole))
        .min_by(|a, b| change(a).total_cmp(&change(b)))
}
