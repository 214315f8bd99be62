//! The time of the slowest seat, for which a barrier waits.
//!
//! A seat is a PU with its tasks, which take turns. Its time is the sum over its tasks of
//!
//! work / (speed x share) + round trips of messages.
//!
//! `speed` is the PU's alone, relative to the fastest; `share` is what a hardware thread keeps
//! while others of its core have tasks. Each message costs both of its tasks the round trip between
//! their seats: the line goes there, and must return before the next write. Tasks that sleep until
//! a message comes pay wakeups instead: two messages are one round trip, so each costs half,
//! charged to both seats, or once to a shared seat. The slowest seat's time is the placement's
//! cost; the sum over all seats breaks ties.

mod bound;
mod exact;
mod placement;
mod search;
mod start;

#[cfg(test)]
mod tests;

pub(crate) use bound::bound;
pub use exact::MOST_TASKS;
pub use placement::{Score, TimedPlacement};

use crate::baselines::AS_GOOD;
use crate::beside::side_by_side;
use crate::build::{PlaceGround, count};
use crate::place::Found;
use crate::{Level, PlaceError, PlaceRequest, Pus, Traffic, unfit};
use seatmap_data::machine::{Matrix, Profile};
use seatmap_data::statistics::least;
use std::borrow::Cow;
use std::collections::HashMap;

/// The default work of a core with all hardware threads busy, relative to one thread: Intel reports
/// up to 30 % more for the first such processors (Marr et al. 2002, Intel Technology Journal 6(1)).
pub const SMT_GAIN: f64 = 1.3;

/// The times of seats.
#[derive(Clone, Debug)]
pub struct TimeModel<'a> {
    /// The messages between tasks, both directions together.
    pub traffic: &'a Traffic,
    /// The cost of a message to each of its tasks, in nanoseconds.
    pub distance_ns: Cow<'a, Matrix>,
    /// The cost of a message between two tasks on one PU.
    pub same_ns: Vec<f64>,
    /// Each task's work at speed 1.
    pub work_ns: Vec<f64>,
    /// The speed of each PU with the rest of its core idle.
    pub speed: Vec<f64>,
    /// The core of each PU.
    pub core: Vec<usize>,
    /// The cores.
    pub cores: Vec<Core>,
    /// One if PUs suffice, unless sharing may pay, as for sleeping tasks.
    pub most: u32,
    /// The group of each PU, if groups may have only one task.
    pub group: Option<Vec<u32>>,
    /// The PU of each fixed task.
    pub fixed: Vec<Option<usize>>,
}

/// How much a core's hardware threads slow each other down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Core {
    /// Its hardware threads, including unusable ones.
    pub threads: u32,
    /// The full core's work, relative to one thread alone.
    pub gain: f64,
}

impl Core {
    /// The part of its speed that each busy thread keeps: the gain grows linearly.
    pub fn share(self, busy: u32) -> f64 {
        match busy {
            0 | 1 => 1.0,
            busy => self.work(busy) / f64::from(busy),
        }
    }

    /// The work of this many busy threads, relative to one alone.
    pub fn work(self, busy: u32) -> f64 {
        let others = f64::from(self.threads.max(2) - 1);
        1.0 + (self.gain - 1.0) * (f64::from(busy) - 1.0).clamp(0.0, others) / others
    }
}

impl<'a> TimeModel<'a> {
    /// # Errors
    /// [`PlaceError`]: the work of the tasks is unknown.
    pub(crate) fn new(ground: &'a PlaceGround) -> Result<Self, PlaceError> {
        let PlaceGround { request, problem, pus, .. } = ground;
        let Some(load_ns) = request.pattern.load_ns else {
            return unfit(
                "the time of a load of 1 on the fastest CPU is unknown; give it in nanoseconds \
                 (--load-ns 5000; 0 counts messages alone)",
            );
        };
        let tasks = request.pattern.tasks;
        let n = pus.os.len();
        let speed = request.profile.speed.as_ref();
        let (core, cores) = cores(request, pus);
        // Zones that spread tasks evenly do not apply: fast PUs may take more. Nor do zones for
        // fixed tasks with several slots on a PU.
        let is_grouped = problem.slots() <= n && !problem.zones.are_free();
        Ok(TimeModel {
            traffic: &problem.traffic,
            distance_ns: distances(pus),
            same_ns: (0..n)
                .map(|pu| same_ns(pus, pu).unwrap_or_else(|| f64::from(problem.distance[(pu, pu)])))
                .collect(),
            work_ns: (0..tasks).map(|task| load_ns * request.pattern.load(task)).collect(),
            speed: pus
                .os
                .iter()
                // Unmeasured speeds count as equal.
                .map(|os| speed.and_then(|speed| speed.alone_of(*os)).unwrap_or(1.0))
                .collect(),
            core,
            cores,
            most: if tasks <= n && (pus.wakeup_ns.is_none() || request.one_per.is_some()) {
                1
            } else {
                tasks as u32
            },
            group: is_grouped.then(|| problem.zones.zone_of_slot[..n].to_vec()),
            fixed: problem.fixed.iter().map(|slot| slot.map(|slot| problem.pu(slot))).collect(),
        })
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.work_ns.len()
    }

    /// The number of PUs.
    pub fn pus(&self) -> usize {
        self.speed.len()
    }

    /// The cost of a message to each of its tasks.
    pub fn between_ns(&self, a: usize, b: usize) -> f64 {
        if a == b { self.same_ns[a] } else { self.distance_ns[(a, b)] }
    }

    /// The work each PU adds to its core, the lower ones first, relative to one thread.
    fn added_work(&self) -> Vec<f64> {
        let mut met = vec![0_u32; self.cores.len()];
        self.core
            .iter()
            .map(|at| {
                let core = self.cores[*at];
                met[*at] += 1;
                core.work(met[*at]) - if met[*at] > 1 { core.work(met[*at] - 1) } else { 0.0 }
            })
            .collect()
    }

    /// The time of the slowest seat.
    pub fn cost(&self, pu_of: &[usize]) -> f64 {
        TimedPlacement::of(self, pu_of).score().most
    }
}

/// Two sleeping tasks take turns, so each waits for half a round trip per message.
fn distances(pus: &Pus) -> Cow<'_, Matrix> {
    match &pus.wakeup_ns {
        Some(ns) => {
            Cow::Owned(Matrix::from_fn(ns.n(), |i, j| if i == j { 0.0 } else { 0.5 * ns[(i, j)] }))
        }
        None => Cow::Borrowed(&pus.distance_ns),
    }
}

/// A message is half a round trip. Two sleeping tasks on one PU both charge it, so each charges
/// half of it.
fn same_ns(pus: &Pus, pu: usize) -> Option<f64> {
    pus.wakeup_ns.as_ref().map(|ns| 0.25 * ns[(pu, pu)])
}

/// A PU without a known core counts as one.
fn cores(request: &PlaceRequest, pus: &Pus) -> (Vec<usize>, Vec<Core>) {
    let topology = &request.profile.topology;
    let mut threads_of: HashMap<u32, Vec<u32>> = HashMap::new();
    for (core, os) in topology.pus.iter().filter_map(|pu| Some((pu.core?, pu.os))) {
        threads_of.entry(core).or_default().push(os);
    }
    let core: Vec<u32> =
        Level::Core.groups(topology, &pus.os).unwrap_or_else(|| (0..pus.os.len() as u32).collect());
    let mut cores = vec![Core { threads: 1, gain: 1.0 }; count(&core)];
    for (os, at) in pus.os.iter().zip(&core) {
        let threads =
            topology.pu(*os).and_then(|pu| pu.core).and_then(|core| threads_of.get(&core));
        cores[*at as usize] = core_of(request.profile, threads.map_or(&[], Vec::as_slice));
    }
    (core.into_iter().map(|at| at as usize).collect(), cores)
}

/// The part that the slowest of these threads keeps while all work.
fn core_of(profile: &Profile, threads: &[u32]) -> Core {
    if threads.len() < 2 {
        return Core { threads: 1, gain: 1.0 };
    }
    let measured = threads
        .iter()
        .map(|os| {
            let speed = profile.speed.as_ref()?;
            Some(speed.together_of(*os)? / speed.alone_of(*os)?)
        })
        .collect::<Option<Vec<f64>>>();
    let all = threads.len() as f64;
    let gain = measured.map_or(SMT_GAIN, |kept| all * least(kept));
    // Noise may exceed the limits.
    Core { threads: threads.len() as u32, gain: gain.clamp(1.0, all) }
}

/// The seat that the others wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowest {
    /// Its PU, by OS index.
    pub os: u32,
    /// Its tasks.
    pub tasks: Vec<usize>,
    /// The part of its time for work.
    pub work_ns: f64,
    /// The part of its time for messages.
    pub messages_ns: f64,
    /// The PU's speed with the other tasks on its core.
    pub speed: f64,
}

impl PlaceRequest<'_> {
    /// The slowest seat by [`Objective::Time`](seatmap_data::plan::Objective::Time).
    ///
    /// # Errors
    /// [`PlaceError`], as for the request itself.
    pub fn slowest(&self, placement: &[u32]) -> Result<Slowest, PlaceError> {
        let ground = PlaceGround::of(self)?;
        let model = TimeModel::new(&ground)?;
        let pu_of = ground.pus.rows(placement)?;
        let seating = TimedPlacement::of(&model, &pu_of);
        let at = seating.slowest();
        let (work_ns, messages_ns) = seating.parts(at);
        Ok(Slowest {
            os: ground.pus.os[at],
            tasks: (0..pu_of.len()).filter(|task| pu_of[*task] == at).collect(),
            work_ns,
            messages_ns,
            speed: seating.speed(at),
        })
    }
}

/// The fastest placement found; `floor` is a lower bound.
pub(crate) fn fastest(ground: &PlaceGround, model: &TimeModel, floor: f64) -> Found {
    let request = ground.request;
    let until = request.limit.until(floor * AS_GOOD);
    let is_small = model.tasks() <= MOST_TASKS;
    let part = if is_small { until.part(SMALL_PART) } else { until };
    let starts = start::starts(ground, model, &part);
    // A single tree proves few tasks.
    let threads = if is_small { 1 } else { request.threads };
    let (_, pu_of, name) = side_by_side(
        threads,
        request.seed,
        |seed| search::search(model, &starts, &part, seed),
        |a, b| a.0.is_better_than(b.0),
    );
    let method = format!("local search from {name}");
    let found = Found { cost: model.cost(&pu_of), pu_of, method, is_optimal: false };
    if found.cost <= floor * AS_GOOD || !is_small {
        return found;
    }
    match exact::exact(model, &found.pu_of, &request.limit) {
        Some(pu_of) if model.cost(&pu_of) < found.cost => Found {
            cost: model.cost(&pu_of),
            pu_of,
            method: "branch and bound".to_owned(),
            is_optimal: true,
        },
        Some(_) => Found { is_optimal: true, ..found },
        None => found,
    }
}

/// The search before a proof takes 1/`SMALL_PART` of the time.
const SMALL_PART: u32 = 9;
