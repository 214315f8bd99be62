//! Search by trial: the objective is known only from runs of the program.

use crate::beside::beside;
use crate::search::{SearchLimit, Solution};
use crate::{PlaceError, Problem, seed};
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use seatmap_data::statistics::words::counted;
use std::collections::HashMap;

/// Fixed, so that threads do not change the answer.
const BATCH: usize = 16;
/// All placements are tried: the orders of seven tasks.
const MOST_EXHAUSTIVE: usize = 5040;
/// Random swaps, as in the weakest kick of other searches.
const KICK: usize = 3;

/// A machine that runs the program.
#[derive(Clone, Copy)]
pub struct TrialJudge<'a> {
    /// Nanoseconds of a run with these PUs of the tasks, always the same, or an error.
    pub time_ns: &'a (dyn Fn(&[u32]) -> Result<f64, String> + Sync),
    /// A proven lower bound in nanoseconds; 0 if unknown.
    pub floor_ns: f64,
}

pub(crate) struct Trials<'a> {
    problem: &'a Problem,
    os: &'a [u32],
    judge: TrialJudge<'a>,
    threads: usize,
    limit: SearchLimit,
    known: HashMap<Vec<u32>, f64>,
    is_cut: bool,
}

impl<'a> Trials<'a> {
    /// `os` has the machine's PUs in the order of the problem's rows.
    pub fn new(
        problem: &'a Problem,
        os: &'a [u32],
        judge: TrialJudge<'a>,
        threads: usize,
        limit: SearchLimit,
    ) -> Self {
        Trials {
            problem,
            os,
            judge,
            threads: threads.max(1),
            limit,
            known: HashMap::new(),
            is_cut: false,
        }
    }

    pub fn know(&mut self, slot_of: &[u32], time_ns: f64) {
        self.known.insert(self.placement(slot_of), time_ns);
    }

    /// The best placement, and whether every placement was tried.
    ///
    /// # Errors
    /// A placement cannot be run.
    pub fn search(
        &mut self,
        starts: Vec<Vec<u32>>,
        random: u64,
    ) -> Result<(Solution, bool), PlaceError> {
        let mut best = self.best_of(&starts)?;
        if let Some(all) = self.all() {
            for some in all.chunks(BATCH) {
                if self.is_over(&best) {
                    return Ok((best, false));
                }
                best = better(best, self.best_of(some)?);
            }
            return Ok((best, !self.is_cut));
        }
        let mut rng = Xoshiro::new(random);
        let mut here = best.clone();
        while !self.is_over(&best) {
            here = self.descend(here, &mut rng)?;
            best = better(best, here);
            // Runs are few and expensive.
            here = self.kicked(&best, &mut rng)?;
        }
        Ok((best, false))
    }

    pub fn method(&self, all: bool) -> String {
        let runs = self.known.len();
        if all {
            format!("all {} run", counted(runs, "placement"))
        } else {
            format!("local search over {}", counted(runs, "run"))
        }
    }

    fn is_over(&self, best: &Solution) -> bool {
        self.limit.ends_at(best.cost) || best.cost <= self.judge.floor_ns
    }

    /// Moves to the best of a batch of random neighbours while better.
    fn descend(&mut self, mut here: Solution, rng: &mut Xoshiro) -> Result<Solution, PlaceError> {
        'moves: loop {
            let mut neighbours = self.neighbours(&here.slot_of);
            rng.shuffle(&mut neighbours);
            for batch in neighbours.chunks(BATCH) {
                if self.limit.ends_at(here.cost) {
                    return Ok(here);
                }
                let found = self.best_of(batch)?;
                if found.cost < here.cost {
                    here = found;
                    continue 'moves;
                }
            }
            return Ok(here);
        }
    }

    fn kicked(&mut self, from: &Solution, rng: &mut Xoshiro) -> Result<Solution, PlaceError> {
        let mut slot_of = from.slot_of.clone();
        for _ in 0..KICK {
            let task = rng.below(self.problem.tasks());
            let item = rng.below(slot_of.len());
            slot_of.swap(task, item);
        }
        self.best_of(&[seed::lawful(self.problem, slot_of)])
    }

    fn neighbours(&self, slot_of: &[u32]) -> Vec<Vec<u32>> {
        let tasks = self.problem.tasks();
        let pairs = (0..tasks).flat_map(|a| (a + 1..slot_of.len()).map(move |b| (a, b)));
        pairs
            .map(|(a, b)| {
                let mut other = slot_of.to_vec();
                other.swap(a, b);
                other
            })
            .filter(|other| seed::lawful(self.problem, other.clone()) == *other)
            .collect()
    }

    fn all(&self) -> Option<Vec<Vec<u32>>> {
        let tasks = self.problem.tasks();
        let slots = self.problem.slots();
        // slots! / (slots - tasks)!
        (slots - tasks + 1..=slots).try_fold(1_usize, |all, choices| {
            all.checked_mul(choices).filter(|all| *all <= MOST_EXHAUSTIVE)
        })?;
        let mut all = Vec::new();
        extend(&mut all, &mut Vec::new(), tasks, slots as u32);
        all.retain(|slot_of| seed::lawful(self.problem, slot_of.clone()) == *slot_of);
        Some(all)
    }

    /// No placement runs twice. Without time, only the very first runs.
    fn best_of(&mut self, candidates: &[Vec<u32>]) -> Result<Solution, PlaceError> {
        self.limit.kicks = self.limit.kicks.saturating_sub(1);
        let placements: Vec<Vec<u32>> =
            candidates.iter().map(|slot_of| self.placement(slot_of)).collect();
        let mut unknown = placements.clone();
        unknown.retain(|placement| !self.known.contains_key(placement));
        // This limit is never late, so the first run happens.
        let limit = if self.known.is_empty() { SearchLimit::kicks(0) } else { self.limit.clone() };
        let times = run(&unknown, self.judge, self.threads, &limit)?;
        self.is_cut |= times.iter().any(Option::is_none);
        let timed = unknown.into_iter().zip(times);
        self.known.extend(timed.filter_map(|(placement, ns)| Some((placement, ns?))));
        let times = placements.iter().map(|placement| self.known.get(placement).copied());
        let costs = candidates.iter().zip(times.map(|ns| ns.unwrap_or(f64::INFINITY)));
        let best = costs
            .min_by_key(|(_, cost)| Ordered(*cost))
            .ok_or_else(|| PlaceError::Unfit("the constraints allow no placement".to_owned()))?;
        Ok(Solution { cost: best.1, slot_of: best.0.clone() })
    }

    fn placement(&self, slot_of: &[u32]) -> Vec<u32> {
        let seats = &slot_of[..self.problem.tasks()];
        seats.iter().map(|slot| self.os[self.problem.pu(*slot)]).collect()
    }
}

fn extend(all: &mut Vec<Vec<u32>>, taken: &mut Vec<u32>, tasks: usize, slots: u32) {
    let free: Vec<u32> = (0..slots).filter(|slot| !taken.contains(slot)).collect();
    if taken.len() == tasks {
        all.push(taken.iter().chain(&free).copied().collect());
        return;
    }
    for slot in free {
        taken.push(slot);
        extend(all, taken, tasks, slots);
        taken.pop();
    }
}

/// `None` after the deadline.
fn run(
    placements: &[Vec<u32>],
    judge: TrialJudge,
    threads: usize,
    limit: &SearchLimit,
) -> Result<Vec<Option<f64>>, PlaceError> {
    let share = placements.len().div_ceil(threads).max(1);
    let parts: Vec<&[Vec<u32>]> = placements.chunks(share).collect();
    let done = beside(parts.len(), |at| parts.get(at).map(|part| times(judge, part, limit)));
    let mut all = Vec::with_capacity(placements.len());
    for (part, done) in parts.iter().zip(done) {
        let timed = done
            .flatten()
            .unwrap_or_else(|| times(judge, part, limit))
            .map_err(PlaceError::Unfit)?;
        all.extend(timed);
    }
    Ok(all)
}

fn times(
    judge: TrialJudge,
    placements: &[Vec<u32>],
    limit: &SearchLimit,
) -> Result<Vec<Option<f64>>, String> {
    let time =
        |placement: &Vec<u32>| (!limit.is_late()).then(|| (judge.time_ns)(placement)).transpose();
    placements.iter().map(time).collect()
}

fn better(a: Solution, b: Solution) -> Solution {
    if b.cost < a.cost { b } else { a }
}
