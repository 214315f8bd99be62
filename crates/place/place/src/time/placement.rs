//! A placement that changes task by task.

use super::TimeModel;
use crate::build::count;
use seatmap_data::statistics::Ordered;
use std::cmp::Reverse;

/// A placement's time: the slowest seat decides, and then the sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The time of the slowest seat, in nanoseconds.
    pub most: f64,
    /// The sum of the times of all seats.
    pub sum: f64,
}

/// Smaller relative differences are rounding errors.
const ROUNDING: f64 = 1e-10;

impl Score {
    /// Whether this is better, by more than rounding.
    pub fn is_better_than(self, other: Score) -> bool {
        // Infinities would give NaN.
        let margin = if other.most.is_finite() { ROUNDING * other.most } else { 0.0 };
        if self.most < other.most - margin {
            return true;
        }
        let rounding = if other.sum.is_finite() { ROUNDING * other.sum } else { 0.0 };
        // A hundredth, so that chains of such steps hardly climb.
        self.most <= other.most + 0.01 * margin && self.sum < other.sum - rounding
    }
}

/// A placement with the sums for its times.
#[derive(Clone, Debug)]
pub struct TimedPlacement<'a> {
    model: &'a TimeModel<'a>,
    /// [`NOWHERE`] while lifted.
    pu_of: Vec<usize>,
    count: Vec<u32>,
    work_ns: Vec<f64>,
    messages_ns: Vec<f64>,
    /// Tasks that work or send.
    active: Vec<u32>,
    /// PUs with such tasks: an idle task slows nothing down.
    busy: Vec<u32>,
    on_core: Vec<u32>,
    in_group: Vec<u32>,
}

/// The PU of a lifted task.
pub const NOWHERE: usize = usize::MAX;

impl<'a> TimedPlacement<'a> {
    pub(super) fn empty(model: &'a TimeModel) -> Self {
        let pus = model.pus();
        let groups = model.group.as_ref().map_or(0, |group| count(group));
        TimedPlacement {
            model,
            pu_of: vec![NOWHERE; model.tasks()],
            count: vec![0; pus],
            work_ns: vec![0.0; pus],
            messages_ns: vec![0.0; pus],
            active: vec![0; pus],
            busy: vec![0; model.cores.len()],
            on_core: vec![0; model.cores.len()],
            in_group: vec![0; groups],
        }
    }

    /// Each task on its PU (row).
    pub fn of(model: &'a TimeModel, pu_of: &[usize]) -> Self {
        let mut seating = TimedPlacement::empty(model);
        pu_of.iter().enumerate().for_each(|(task, pu)| seating.put(task, *pu));
        seating
    }

    /// The PU of each task.
    pub fn pu_of(&self) -> &[usize] {
        &self.pu_of
    }

    pub(super) fn lift(&mut self, task: usize) {
        let pu = self.pu_of[task];
        self.pu_of[task] = NOWHERE;
        self.count[pu] -= 1;
        self.work_ns[pu] -= self.model.work_ns[task];
        self.message(task, pu, -1.0);
        if self.count[pu] == 0 {
            (self.work_ns[pu], self.messages_ns[pu]) = (0.0, 0.0);
        }
        self.on_core[self.model.core[pu]] -= 1;
        if !self.model.is_idle(task) {
            self.active[pu] -= 1;
            self.busy[self.model.core[pu]] -= u32::from(self.active[pu] == 0);
        }
        if let Some(group) = &self.model.group {
            self.in_group[group[pu] as usize] -= 1;
        }
    }

    pub(super) fn put(&mut self, task: usize, pu: usize) {
        self.pu_of[task] = pu;
        if !self.model.is_idle(task) {
            // Two tasks on one thread take turns.
            self.busy[self.model.core[pu]] += u32::from(self.active[pu] == 0);
            self.active[pu] += 1;
        }
        self.on_core[self.model.core[pu]] += 1;
        self.count[pu] += 1;
        self.work_ns[pu] += self.model.work_ns[task];
        self.message(task, pu, 1.0);
        if let Some(group) = &self.model.group {
            self.in_group[group[pu] as usize] += 1;
        }
    }

    fn message(&mut self, task: usize, pu: usize, sign: f64) {
        let model = self.model;
        for (with, weight) in model.traffic.of(task) {
            let there = self.pu_of[with];
            if there != NOWHERE {
                let ns = sign * weight * model.between_ns(pu, there);
                self.messages_ns[pu] += ns;
                self.messages_ns[there] += ns;
            }
        }
    }

    pub(super) fn shift(&mut self, task: usize, to: usize) {
        self.lift(task);
        self.put(task, to);
    }

    pub(super) fn swap(&mut self, a: usize, b: usize) {
        let pu_a = self.pu_of[a];
        let pu_b = self.pu_of[b];
        self.lift(a);
        self.lift(b);
        self.put(a, pu_b);
        self.put(b, pu_a);
    }

    pub(super) fn has_room(&self, task: usize, to: usize) -> bool {
        let from = self.pu_of[task];
        let is_alone = self.model.group.as_ref().is_none_or(|group| {
            let is_same = from != NOWHERE && group[from] == group[to];
            self.in_group[group[to] as usize] <= u32::from(is_same)
        });
        from != to && is_alone && self.count[to] < self.model.most
    }

    /// The speed of a PU with the tasks on the rest of its core.
    pub fn speed(&self, pu: usize) -> f64 {
        let core = self.model.core[pu];
        self.model.speed[pu] * self.model.cores[core].share(self.busy[core])
    }

    /// The work and the messages of a seat, in nanoseconds.
    pub fn parts(&self, pu: usize) -> (f64, f64) {
        (self.work_ns[pu] / self.speed(pu), self.messages_ns[pu])
    }

    /// The time of a seat, in nanoseconds.
    pub fn time_ns(&self, pu: usize) -> f64 {
        let (work_ns, messages_ns) = self.parts(pu);
        work_ns + messages_ns
    }

    /// The time of the slowest seat, and of all.
    pub fn score(&self) -> Score {
        let used = (0..self.count.len()).filter(|pu| self.count[*pu] > 0);
        used.map(|pu| self.time_ns(pu)).fold(Score { most: 0.0, sum: 0.0 }, |score, time_ns| {
            Score { most: score.most.max(time_ns), sum: score.sum + time_ns }
        })
    }

    pub(super) fn is_empty(&self, core: usize) -> bool {
        self.on_core[core] == 0
    }

    /// The PU of the slowest seat.
    pub fn slowest(&self) -> usize {
        (0..self.count.len())
            .max_by_key(|pu| (Ordered(self.time_ns(*pu)), Reverse(*pu)))
            .unwrap_or(0)
    }

    /// After many changes, the sums have rounding errors.
    pub(super) fn renewed(&self) -> Self {
        TimedPlacement::of(self.model, &self.pu_of)
    }
}

impl TimeModel<'_> {
    fn is_idle(&self, task: usize) -> bool {
        self.work_ns[task] == 0.0 && self.traffic.degree(task) == 0
    }

    /// Whether a placement satisfies all constraints.
    pub fn allows(&self, pu_of: &[usize]) -> bool {
        let mut seating = TimedPlacement::empty(self);
        pu_of.iter().enumerate().all(|(task, pu)| {
            let fits =
                self.fixed[task].is_none_or(|fixed| fixed == *pu) && seating.has_room(task, *pu);
            if fits {
                seating.put(task, *pu);
            }
            fits
        })
    }
}
