//! Descents and kicks.

use super::{Score, TimeModel, TimedPlacement};
use crate::search::{DeadlineWatch, SearchLimit};
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use std::collections::BTreeSet;

pub type NamedStart = (Vec<usize>, &'static str);

pub type Searched = (Score, Vec<usize>, &'static str);

/// Descends from all starts. Half of the kicks go to the better half, the rest to the best.
pub fn search(
    model: &TimeModel,
    starts: &[NamedStart],
    limit: &SearchLimit,
    seed: u64,
) -> Searched {
    let mut rng = Xoshiro::new(seed);
    let mut alive: Vec<Searched> = Vec::with_capacity(starts.len());
    for (pu_of, name) in starts {
        let mut climber = Climber::new(model, pu_of, limit);
        if alive.is_empty() || !limit.is_late() {
            climber.descend(&mut rng);
        }
        alive.push((climber.score, climber.seating.pu_of().to_vec(), name));
    }
    alive.sort_by_key(order);
    let better = alive.len().div_ceil(2);
    for one in &mut alive[..better] {
        // A start with a poor first optimum gets a chance.
        *one = kicked(model, one, &limit.part(2 * better as u32), &mut rng);
    }
    alive.sort_by_key(order);
    let rest = SearchLimit { kicks: limit.part(2).kicks, ..limit.clone() };
    kicked(model, &alive[0], &rest, &mut rng)
}

fn order((score, ..): &Searched) -> (Ordered, Ordered) {
    (Ordered(score.most), Ordered(score.sum))
}

/// Kicks grow while they fail.
fn kicked(model: &TimeModel, from: &Searched, limit: &SearchLimit, rng: &mut Xoshiro) -> Searched {
    let mut climber = Climber::new(model, &from.1, limit);
    let mut best = climber.seating.clone();
    let weakest = 2;
    let mut best_score = climber.score;
    let strongest = (model.tasks() / 3).max(weakest + 1);
    let mut strength = weakest;
    let mut kicks = limit.kicks;
    let is_single = model.tasks() < 2 && model.pus() < 2;
    while kicks > 0 && !is_single && !limit.ends_at(best_score.most) {
        kicks -= u64::from(kicks != u64::MAX);
        for _ in 0..strength {
            climber.kick(rng);
        }
        climber.descend(rng);
        if climber.score.is_better_than(best_score) {
            (best, best_score, strength) = (climber.seating.clone(), climber.score, weakest);
        } else {
            if best_score.is_better_than(climber.score) {
                (climber.seating, climber.score) = (best.clone(), best_score);
            }
            strength = if strength >= strongest { weakest } else { strength + 1 };
        }
    }
    (best_score, best.pu_of().to_vec(), from.2)
}

struct Climber<'a> {
    model: &'a TimeModel<'a>,
    seating: TimedPlacement<'a>,
    score: Score,
    limit: &'a SearchLimit,
    movable: Vec<usize>,
    /// So far: on large machines each compares other seats.
    turns: usize,
}

impl<'a> Climber<'a> {
    fn new(model: &'a TimeModel, pu_of: &[usize], limit: &'a SearchLimit) -> Self {
        let seating = TimedPlacement::of(model, pu_of);
        let movable = (0..model.tasks()).filter(|task| model.fixed[*task].is_none()).collect();
        Climber { model, score: seating.score(), seating, limit, movable, turns: 0 }
    }

    /// If the PU is taken, the two tasks exchange seats.
    fn kick(&mut self, rng: &mut Xoshiro) {
        if self.movable.is_empty() {
            return;
        }
        let task = self.movable[rng.below(self.movable.len())];
        let to = rng.below(self.model.pus());
        if self.seating.has_room(task, to) {
            self.seating.shift(task, to);
        } else if let Some(other) =
            self.movable.iter().copied().find(|other| self.seating.pu_of()[*other] == to)
            && other != task
        {
            self.seating.swap(task, other);
        }
    }

    /// The slowest seat and its partners first, then all.
    fn descend(&mut self, rng: &mut Xoshiro) {
        self.seating = self.seating.renewed();
        self.score = self.seating.score();
        let pus = self.model.pus();
        let mut watch = DeadlineWatch::new(self.limit, pus * (pus + self.model.tasks()));
        while !watch.is_late() && (self.improve_slowest() || self.improve_any(rng, &mut watch)) {}
    }

    fn improve_slowest(&mut self) -> bool {
        let TimeModel { traffic, core, .. } = self.model;
        let slowest = self.seating.slowest();
        let pu_of = self.seating.pu_of();
        let all = 0..self.model.tasks();
        let here = all.clone().filter(|task| pu_of[*task] == slowest);
        let partners = here.flat_map(|task| traffic.of(task).map(|(with, _)| with));
        let on_core = all.filter(|task| core[pu_of[*task]] == core[slowest]);
        let tasks: BTreeSet<usize> = on_core.chain(partners.take(MOST_PARTNERS)).collect();
        let best = tasks.into_iter().filter_map(|task| self.best_change(task)).fold(None, better);
        self.apply(best)
    }

    fn improve_any(&mut self, rng: &mut Xoshiro, watch: &mut DeadlineWatch) -> bool {
        let mut tasks = self.movable.clone();
        rng.shuffle(&mut tasks);
        let mut has_helped = false;
        for task in tasks {
            if watch.is_late() {
                break;
            }
            let best = self.best_change(task);
            has_helped |= self.apply(best);
        }
        has_helped
    }

    fn apply(&mut self, change: Option<(Score, Change)>) -> bool {
        match change {
            Some((_, Change::Shift(task, to))) => self.seating.shift(task, to),
            Some((_, Change::Swap(a, b))) => self.seating.swap(a, b),
            None => return false,
        }
        self.score = self.seating.score();
        true
    }

    fn best_change(&mut self, task: usize) -> Option<(Score, Change)> {
        if self.model.fixed[task].is_some() {
            return None;
        }
        let from = self.seating.pu_of()[task];
        let mut best = None;
        let stride = (self.model.pus().max(self.movable.len()) / MOST_SEATS).max(1);
        self.turns += 1;
        // Starts one seat further, so that all get compared.
        for to in (self.turns % stride..self.model.pus()).step_by(stride) {
            if self.seating.has_room(task, to) {
                self.seating.shift(task, to);
                best = better(best, (self.seating.score(), Change::Shift(task, to)));
                self.seating.shift(task, from);
            }
        }
        for at in (self.turns % stride..self.movable.len()).step_by(stride) {
            let other = self.movable[at];
            if other != task && self.seating.pu_of()[other] != from {
                self.seating.swap(task, other);
                best = better(best, (self.seating.score(), Change::Swap(task, other)));
                self.seating.swap(task, other);
            }
        }
        best.filter(|(score, _)| score.is_better_than(self.score))
    }
}

/// Seats compared at once; larger machines skip some.
const MOST_SEATS: usize = 512;

/// The most partners to move; a hub may have thousands.
const MOST_PARTNERS: usize = 64;

#[derive(Clone, Copy, Debug)]
enum Change {
    Shift(usize, usize),
    Swap(usize, usize),
}

fn better(best: Option<(Score, Change)>, next: (Score, Change)) -> Option<(Score, Change)> {
    match best {
        Some(best) if !next.0.is_better_than(best.0) => Some(best),
        _ => Some(next),
    }
}
