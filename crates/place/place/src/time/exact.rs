//! A proven fastest placement of a few tasks, by branch and bound.

use super::placement::NOWHERE;
use super::{TimeModel, TimedPlacement};
use crate::search::SearchLimit;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::greatest;
use std::cmp::Reverse;

/// More tasks take too long.
pub const MOST_TASKS: usize = 9;

const BETTER: f64 = 1.0 - 1e-9;

/// A placement that no other beats; `None` if the limit ended the search. Each visit of a partial
/// placement counts as a kick.
pub fn exact(model: &TimeModel, known: &[usize], limit: &SearchLimit) -> Option<Vec<usize>> {
    let weights = weights_ns(model);
    let mut order: Vec<usize> = (0..model.tasks()).collect();
    order.sort_by_key(|task| Reverse(Ordered(weights[*task])));
    let mut tree = Tree {
        nearest_ns: (0..model.pus())
            .map(|pu| nearest_ns(model, pu))
            .map(|ns| if ns.is_finite() { ns } else { 0.0 })
            .collect(),
        seating: TimedPlacement::empty(model),
        best_ns: model.cost(known),
        best: known.to_vec(),
        alike: alike(model),
        thread: (0..model.pus())
            .map(|pu| model.core[..pu].iter().filter(|core| **core == model.core[pu]).count())
            .collect(),
        limit: limit.clone(),
        is_over: false,
        order,
        model,
    };
    tree.descend(0);
    (!tree.is_over).then_some(tree.best)
}

/// Each task's work, and its messages over the longest distance.
pub fn weights_ns(model: &TimeModel) -> Vec<f64> {
    let pairs = model.distance_ns.pairs().map(|(_, _, ns)| *ns);
    let longest_ns = greatest(pairs);
    (0..model.tasks())
        .map(|task| model.work_ns[task] + model.traffic.volume(task) * longest_ns)
        .collect()
}

/// The first equivalent core for each: exchanging the two changes no time.
fn alike(model: &TimeModel) -> Vec<usize> {
    let threads: Vec<Vec<usize>> = (0..model.cores.len())
        .map(|core| (0..model.pus()).filter(|pu| model.core[*pu] == core).collect())
        .collect();
    (0..model.cores.len())
        .map(|core| {
            let like = (0..core).find(|other| {
                model.group.is_none()
                    && model.cores[*other] == model.cores[core]
                    && threads[*other].len() == threads[core].len()
                    && exchange_changes_nothing(model, &threads[*other], &threads[core])
            });
            like.unwrap_or(core)
        })
        .collect()
}

/// The distance to the nearest possible PU of a partner.
fn nearest_ns(model: &TimeModel, pu: usize) -> f64 {
    let others =
        (0..model.pus()).filter(|other| *other != pu).map(|other| model.between_ns(pu, other));
    others.fold(if model.most > 1 { model.same_ns[pu] } else { f64::INFINITY }, f64::min)
}

fn exchange_changes_nothing(model: &TimeModel, a: &[usize], b: &[usize]) -> bool {
    let mut turned: Vec<usize> = (0..model.pus()).collect();
    a.iter().zip(b).for_each(|(a, b)| turned.swap(*a, *b));
    !a.iter().chain(b).any(|pu| model.fixed.contains(&Some(*pu)))
        && a.iter().all(|pu| {
            model.speed[*pu] == model.speed[turned[*pu]]
                && (0..model.pus())
                    .all(|c| model.between_ns(*pu, c) == model.between_ns(turned[*pu], turned[c]))
        })
}

struct Tree<'a> {
    model: &'a TimeModel<'a>,
    seating: TimedPlacement<'a>,
    order: Vec<usize>,
    nearest_ns: Vec<f64>,
    alike: Vec<usize>,
    thread: Vec<usize>,
    best: Vec<usize>,
    best_ns: f64,
    limit: SearchLimit,
    is_over: bool,
}

impl Tree<'_> {
    fn descend(&mut self, depth: usize) {
        if self.is_over {
            return;
        }
        self.is_over = self.limit.kicks == 0 || self.limit.is_late();
        self.limit.kicks -= u64::from(!matches!(self.limit.kicks, 0 | u64::MAX));
        let Some(task) = self.order.get(depth).copied() else {
            // Lifting and putting leaves rounding errors.
            let ns = self.seating.renewed().score().most;
            if ns < self.best_ns * BETTER {
                (self.best_ns, self.best) = (ns, self.seating.pu_of().to_vec());
            }
            return;
        };
        let mut tries: Vec<(Ordered, usize)> = Vec::new();
        for pu in self.candidates(task) {
            self.seating.put(task, pu);
            tries.push((Ordered(self.least_ns()), pu));
            self.seating.lift(task);
        }
        tries.sort();
        for (Ordered(least_ns), pu) in tries {
            if least_ns >= self.best_ns * BETTER || self.is_over {
                break;
            }
            self.seating.put(task, pu);
            self.descend(depth + 1);
            self.seating.lift(task);
        }
    }

    fn candidates(&self, task: usize) -> Vec<usize> {
        let mut met = Vec::new();
        let mut chosen = Vec::new();
        for pu in 0..self.model.pus() {
            let fits = self.model.fixed[task].is_none_or(|fixed| fixed == pu)
                && self.seating.has_room(task, pu);
            let core = self.model.core[pu];
            if !fits {
                continue;
            }
            if self.seating.is_empty(core) {
                let sort = (self.alike[core], self.thread[pu]);
                if met.contains(&sort) {
                    continue;
                }
                met.push(sort);
            }
            chosen.push(pu);
        }
        chosen
    }

    /// The slowest seat, with the least for messages to unplaced tasks.
    fn least_ns(&self) -> f64 {
        let pu_of = self.seating.pu_of();
        let mut more_ns = vec![0.0; self.model.pus()];
        for (task, pu) in pu_of.iter().enumerate().filter(|(_, pu)| **pu != NOWHERE) {
            let open = self.model.traffic.of(task).filter(|(with, _)| pu_of[*with] == NOWHERE);
            more_ns[*pu] += open.map(|(_, weight)| weight * self.nearest_ns[*pu]).sum::<f64>();
        }
        let used = pu_of.iter().filter(|pu| **pu != NOWHERE);
        greatest(used.map(|pu| self.seating.time_ns(*pu) + more_ns[*pu]))
    }
}
