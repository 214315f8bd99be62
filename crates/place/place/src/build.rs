//! Turns a request into a problem.

use crate::sections::sections;
use crate::time::TimeModel;
use crate::{
    Level, Links, PlaceError, PlaceRequest, Problem, Pus, Traffic, Zones, too_few_groups, unfit,
};
use seatmap_data::machine::{Profile, Square};
use seatmap_data::plan::Objective;
use seatmap_data::statistics::least;
use seatmap_data::statistics::words::counted;

/// A request with its PUs, their links, and the problem on them.
pub struct PlaceGround<'a> {
    pub request: &'a PlaceRequest<'a>,
    pub pus: Pus,
    pub problem: Problem,
    pub links: Links,
    /// The chip or section of each PU, if tasks are first divided over them.
    pub sections: Option<Vec<u32>>,
}

impl<'a> PlaceGround<'a> {
    pub fn of(request: &'a PlaceRequest) -> Result<Self, PlaceError> {
        PlaceGround::on(request, request.pus()?)
    }

    pub fn on(request: &'a PlaceRequest, pus: Pus) -> Result<Self, PlaceError> {
        Ok(PlaceGround {
            problem: problem(request, &pus)?,
            sections: sections(request, &pus)?,
            links: Links::new(request.profile, &pus),
            request,
            pus,
        })
    }

    /// The cost of tasks on these rows of PUs, by the request's objective.
    pub fn cost(&self, pu_of: &[usize]) -> f64 {
        self.cost_by(self.request.objective, pu_of)
    }

    pub fn cost_by(&self, objective: Objective, pu_of: &[usize]) -> f64 {
        let PlaceGround { problem, pus, .. } = self;
        if objective == Objective::Time {
            return TimeModel::new(self).map_or(f64::NAN, |model| model.cost(pu_of));
        }
        if objective == Objective::Congestion {
            return self.links.most(&problem.traffic, pu_of);
        }
        // The reported cost is in double precision.
        let cost = problem.traffic.cost(|task, with| match (pu_of[task], pu_of[with]) {
            // The diagonal has the cost of sharing a PU.
            (a, b) if a == b => f64::from(problem.distance[(a, a)]),
            (a, b) => pus.message_ns(a, b),
        });
        // The sum of an empty list is -0.
        cost + 0.0
    }
}

/// With more, quadratic tables fill a usual computer's memory.
const MOST_SLOTS: usize = 20_000;

/// The problem of a request: slots, zones, and fixed tasks.
///
/// Tasks share PUs evenly, up to a difference of one, unless more are fixed on one. Two on one PU
/// are as far apart as the nearest PUs, or a wakeup there if known.
fn problem(request: &PlaceRequest, pus: &Pus) -> Result<Problem, PlaceError> {
    let tasks = request.pattern.tasks;
    let n = pus.os.len();
    let shares = PuShares::of(request, pus);
    // All PUs have as many slots as the fullest needs; zones keep them even.
    let copies = shares.most.iter().max().map_or(1, |most| *most as usize);
    if n * copies > MOST_SLOTS {
        return unfit(format!(
            "{} on {}: this search handles at most {}; gather tasks first",
            counted(tasks, "task"),
            counted(n, "PU"),
            counted(MOST_SLOTS, "place")
        ));
    }
    let nearest = least(pus.distance_ns.pairs().map(|(_, _, ns)| ns));
    let same = if copies > 1 && nearest.is_finite() { nearest as f32 } else { 0.0 };
    // The natural order fills each PU once before any twice.
    let pu_of_slot: Vec<u32> = (0..n * copies).map(|slot| (slot % n) as u32).collect();
    let mut problem = Problem {
        traffic: Traffic::new(tasks, request.edges()),
        distance: Square::from_fn(n, |i, j| match &pus.wakeup_ns {
            _ if i != j => pus.message_ns(i, j) as f32,
            Some(ns) => ns[(i, i)] as f32,
            None => same,
        }),
        zones: zones(request, pus, &shares, &pu_of_slot)?,
        fixed: vec![None; tasks],
        pu_of_slot,
    };
    fix(request, pus, &mut problem)?;
    Ok(problem)
}

struct PuShares {
    least: Vec<u32>,
    most: Vec<u32>,
}

impl PuShares {
    /// Even shares. Fixed tasks may exceed them if tasks may share PUs; other PUs divide the rest.
    fn of(request: &PlaceRequest, pus: &Pus) -> Self {
        let n = pus.os.len();
        let mut rest = request.pattern.tasks;
        let is_short = rest > n;
        let knows_turns = request.objective == Objective::Time && pus.wakeup_ns.is_some();
        let may_share = is_short || knows_turns && request.one_per.is_none();
        let mut fixed = vec![0_usize; n];
        for row in request.fixed.iter().filter_map(|(_, os)| pus.index_of(*os)) {
            fixed[row] += usize::from(may_share);
        }
        let mut open: Vec<usize> = (0..n).collect();
        let mut shares = PuShares { least: vec![0; n], most: vec![0; n] };
        // An overfull PU reduces the share of the others.
        loop {
            let even = rest.div_ceil(open.len().max(1)).max(1);
            let Some(at) = open.iter().position(|row| fixed[*row] > even && fixed[*row] <= rest)
            else {
                break;
            };
            let row = open.swap_remove(at);
            (shares.least[row], shares.most[row]) = (fixed[row] as u32, fixed[row] as u32);
            rest -= fixed[row];
        }
        for row in &open {
            shares.least[*row] = if is_short { (rest / open.len()) as u32 } else { 0 };
            shares.most[*row] = rest.div_ceil(open.len()).max(1) as u32;
        }
        shares
    }
}

fn zones(
    request: &PlaceRequest,
    pus: &Pus,
    PuShares { least, most }: &PuShares,
    pu_of_slot: &[u32],
) -> Result<Zones, PlaceError> {
    let tasks = request.pattern.tasks;
    let Some(level) =
        request.one_per.filter(|level| *level != Level::Core && !request.has_sections())
    else {
        if most.iter().all(|most| *most <= 1) {
            return Ok(Zones::free(pu_of_slot.len()));
        }
        // Each PU is a zone, with the mean number of tasks rounded down or up.
        let zone_of_slot = pu_of_slot.to_vec();
        return Ok(Zones { zone_of_slot, least: least.clone(), most: most.clone() });
    };
    let groups = groups(level, request.profile, pus)?;
    let count = count(&groups);
    if tasks > count {
        return too_few_groups(tasks, count);
    }
    Ok(Zones { zone_of_slot: groups, least: vec![0; count], most: vec![1; count] })
}

/// The number of groups 0, 1, 2...
pub fn count(groups: &[u32]) -> usize {
    groups.iter().max().map_or(0, |last| *last as usize + 1)
}

/// SMT siblings known only by distance count as one core.
pub fn groups(level: Level, profile: &Profile, pus: &Pus) -> Result<Vec<u32>, PlaceError> {
    level.groups(&profile.topology, &pus.os).ok_or_else(|| {
        let name = level.name();
        PlaceError::Unfit(format!("the topology does not say which PUs share one {name}"))
    })
}

fn fix(request: &PlaceRequest, pus: &Pus, problem: &mut Problem) -> Result<(), PlaceError> {
    for (task, os) in &request.fixed {
        let fixed = problem.fixed.get(*task).ok_or_else(|| {
            let tasks = counted(request.pattern.tasks, "task");
            let what = format!("task {task} is fixed, but the pattern has {tasks}, counted from 0");
            PlaceError::Unfit(what)
        })?;
        if fixed.is_some() {
            return unfit(format!("task {task} is fixed twice"));
        }
        let pu = pus.index_of(*os).ok_or(PlaceError::NoSuchPu(*os))? as u32;
        let slot = (0..problem.slots() as u32)
            .find(|slot| problem.pu_of_slot[*slot as usize] == pu && is_free(problem, *slot))
            .ok_or_else(|| {
                let tasks = request.pattern.tasks;
                let pus = pus.os.len();
                PlaceError::Unfit(format!(
                    "too many tasks are fixed on PU {os}: with {} on {}, each PU takes at most {}; \
                     fix them on different PUs, or allow fewer CPUs than tasks (--cpus), so that \
                     tasks share them; sleeping tasks may share a CPU with --objective time \
                     --waiting",
                    counted(tasks, "task"),
                    counted(pus, "PU"),
                    counted(tasks.div_ceil(pus).max(1), "task")
                ))
            })?;
        problem.fixed[*task] = Some(slot);
    }
    Ok(())
}

fn is_free(problem: &Problem, slot: u32) -> bool {
    let zone = problem.zone(slot);
    let there = problem.fixed.iter().flatten().filter(|other| problem.zone(**other) == zone);
    !problem.fixed.contains(&Some(slot))
        && (there.count() as u32) < problem.zones.most[zone as usize]
}
