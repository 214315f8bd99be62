//! The starts of searches for the fastest slowest seat.

use super::exact::weights_ns;
use super::placement::NOWHERE;
use super::search::NamedStart;
use super::{TimeModel, TimedPlacement};
use crate::build::problem;
use crate::portfolio::portfolio;
use crate::search::SearchLimit;
use crate::{PlaceRequest, Problem, Pus, baselines};

/// Each start by distance takes 1/`DISTANCE_PART` of the time.
const DISTANCE_PART: u32 = 10;

/// Heavy tasks first; the best by distance on all and on the fastest seats; the usual placements.
pub fn starts(
    request: &PlaceRequest,
    model: &TimeModel,
    all: &Problem,
    pus: &Pus,
    limit: &SearchLimit,
) -> Vec<NamedStart> {
    let mut starts = vec![(heavy_first(model), "heavy tasks first")];
    starts.push((by_distance(all, limit, request.seed), "nearest seats"));
    if let Some((fast, problem)) = fastest(request, model, pus) {
        starts.push((
            by_distance(&problem, limit, request.seed)
                .into_iter()
                .map(|at| pus.index_of(fast.os[at]).unwrap_or(0))
                .collect(),
            "fastest seats",
        ));
    }
    starts.extend(baselines::named(request, model.tasks(), pus));
    let first = starts.swap_remove(0);
    starts.retain(|(pu_of, _)| model.allows(pu_of));
    starts.insert(0, first);
    starts
}

fn by_distance(problem: &Problem, limit: &SearchLimit, seed: u64) -> Vec<usize> {
    problem.pus_of(&portfolio(problem, &limit.part(DISTANCE_PART), seed).solution.slot_of)
}

fn heavy_first(model: &TimeModel) -> Vec<usize> {
    let weights = weights_ns(model);
    let mut order: Vec<usize> = (0..model.tasks()).collect();
    order.sort_by(|a, b| {
        let fixed = model.fixed[*b].is_some().cmp(&model.fixed[*a].is_some());
        fixed.then(weights[*b].total_cmp(&weights[*a])).then(a.cmp(b))
    });
    let mut seating = TimedPlacement::empty(model);
    for task in order {
        let to = model.fixed[task].or_else(|| soonest(&mut seating, model, task));
        // Building the problem checked that there is room.
        seating.put(task, to.unwrap_or(0));
    }
    debug_assert!(!seating.pu_of().contains(&NOWHERE));
    seating.pu_of().to_vec()
}

fn soonest(seating: &mut TimedPlacement, model: &TimeModel, task: usize) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for pu in 0..model.pus() {
        if seating.has_room(task, pu) {
            seating.put(task, pu);
            let time_ns = seating.time_ns(pu);
            seating.lift(task);
            if best.is_none_or(|(least, _)| time_ns < least) {
                best = Some((time_ns, pu));
            }
        }
    }
    best.map(|(_, pu)| pu)
}

/// `None` if all seats are needed or the constraints forbid it.
fn fastest(request: &PlaceRequest, model: &TimeModel, pus: &Pus) -> Option<(Pus, Problem)> {
    let tasks = model.tasks();
    let n = model.pus();
    if tasks >= n || model.group.is_some() {
        return None;
    }
    let mut gains: Vec<(f64, usize)> = model
        .added_work()
        .into_iter()
        .enumerate()
        .map(|(pu, more)| (model.speed[pu] * more, pu))
        .collect();
    gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<usize> = gains.into_iter().take(tasks).map(|(_, pu)| pu).collect();
    chosen.sort_unstable();
    let fast = Pus::new(request.profile, Some(&pus.os_of(&chosen)), request.homes).ok()?;
    let fast = request.costed(fast);
    let problem = problem(request, &fast).ok()?;
    Some((fast, problem))
}
