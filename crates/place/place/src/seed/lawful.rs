//! Repairs assignments that violate constraints.

use crate::{Problem, Zones};
use seatmap_data::statistics::Ordered;

/// The nearest assignment that fixed tasks and zones allow.
///
/// Tasks leave full zones, or enter empty ones, one by one, by the cheapest move.
pub fn lawful(problem: &Problem, mut slot_of: Vec<u32>) -> Vec<u32> {
    put_fixed(&problem.fixed, &mut slot_of);
    for _ in 0..problem.slots() {
        match next_move(problem, &slot_of) {
            Some((task, hole)) => slot_of.swap(task, hole),
            None => break,
        }
    }
    slot_of
}

pub fn put_fixed(fixed: &[Option<u32>], slot_of: &mut [u32]) {
    for (task, slot) in fixed.iter().enumerate() {
        if let Some(slot) = slot
            && let Some(there) = slot_of.iter().position(|other| other == slot)
        {
            slot_of.swap(task, there);
        }
    }
}

/// With more partners, some moves suffice.
const MOST_LOOKS: usize = 1 << 20;

struct ZoneCounts<'a> {
    zones: &'a Zones,
    count: Vec<u32>,
    any_over: bool,
    any_under: bool,
}

impl<'a> ZoneCounts<'a> {
    fn new(problem: &'a Problem, slot_of: &[u32]) -> Self {
        let zones = &problem.zones;
        let count = zones.count(&slot_of[..problem.tasks()]);
        let any_over = count.iter().zip(&zones.most).any(|(count, most)| count > most);
        let any_under = count.iter().zip(&zones.least).any(|(count, least)| count < least);
        ZoneCounts { zones, count, any_over, any_under }
    }

    /// Overfull zones, or else any zone with tasks to spare.
    fn may_leave(&self, zone: u32) -> bool {
        let zone = zone as usize;
        let bound = if self.any_over { &self.zones.most } else { &self.zones.least };
        self.count[zone] > bound[zone]
    }

    /// Underfull zones, or else any zone with room.
    fn may_enter(&self, zone: u32) -> bool {
        let zone = zone as usize;
        let bound = if self.any_under { &self.zones.least } else { &self.zones.most };
        self.count[zone] < bound[zone]
    }
}

fn next_move(problem: &Problem, slot_of: &[u32]) -> Option<(usize, usize)> {
    let counts = ZoneCounts::new(problem, slot_of);
    if !counts.any_over && !counts.any_under {
        return None;
    }
    let mut tasks: Vec<usize> = (0..problem.tasks())
        .filter(|task| {
            problem.fixed[*task].is_none() && counts.may_leave(problem.zone(slot_of[*task]))
        })
        .collect();
    let mut holes: Vec<usize> = (problem.tasks()..problem.slots())
        .filter(|hole| counts.may_enter(problem.zone(slot_of[*hole])))
        .collect();
    let partners: usize = tasks.iter().map(|task| problem.traffic.degree(*task)).sum();
    if (partners + tasks.len()) * holes.len() > MOST_LOOKS {
        // Pairs of a task and a hole within the limit.
        let most = (MOST_LOOKS * tasks.len() / (partners + tasks.len())).max(1);
        let (mended, others) =
            if counts.any_over { (&mut tasks, &mut holes) } else { (&mut holes, &mut tasks) };
        let first = mended.first().map(|item| problem.zone(slot_of[*item]));
        mended.retain(|item| Some(problem.zone(slot_of[*item])) == first);
        others.truncate((most / mended.len().max(1)).max(1));
    }
    let moves = tasks.into_iter().flat_map(|task| holes.iter().map(move |hole| (task, *hole)));
    moves
        .filter(|(task, hole)| problem.zone(slot_of[*task]) != problem.zone(slot_of[*hole]))
        .min_by_key(|one| Ordered(change(problem, slot_of, *one)))
}

fn change(problem: &Problem, slot_of: &[u32], (task, hole): (usize, usize)) -> f64 {
    pays(problem, slot_of, task, hole) - pays(problem, slot_of, task, task)
}

fn pays(problem: &Problem, slot_of: &[u32], task: usize, item: usize) -> f64 {
    let partners = problem.traffic.of(task);
    partners.map(|(with, weight)| weight * problem.apart(slot_of[item], slot_of[with])).sum()
}
