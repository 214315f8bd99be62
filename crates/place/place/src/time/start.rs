//! The starts of searches for the fastest slowest seat.

use super::exact::weights_ns;
use super::placement::NOWHERE;
use super::search::NamedStart;
use super::{TimeModel, TimedPlacement};
use crate::Pus;
use crate::build::PlaceGround;
use crate::portfolio::portfolio;
use crate::search::SearchLimit;
use seatmap_data::statistics::Ordered;
use std::cmp::Reverse;

/// Each takes 1/`DISTANCE_PART` of the time.
const DISTANCE_PART: u32 = 10;

/// Heavy tasks first; the best by distance on all and on the fastest seats; the usual placements.
pub fn starts(ground: &PlaceGround, model: &TimeModel, limit: &SearchLimit) -> Vec<NamedStart> {
    let mut starts = vec![(by_distance(ground, limit), "nearest seats")];
    if let Some(fast) = fastest(ground, model) {
        let rows = by_distance(&fast, limit).into_iter();
        let all = rows.map(|at| ground.pus.index_of(fast.pus.os[at]).unwrap_or(0));
        starts.push((all.collect(), "fastest seats"));
    }
    starts.extend(ground.named());
    // The last one comes second.
    starts.rotate_right(1);
    starts.retain(|(pu_of, _)| model.allows(pu_of));
    starts.insert(0, (heavy_first(model), "heavy tasks first"));
    starts
}

fn by_distance(ground: &PlaceGround, limit: &SearchLimit) -> Vec<usize> {
    let found = portfolio(&ground.problem, &limit.part(DISTANCE_PART), ground.request.seed);
    ground.problem.pus_of(&found.solution.slot_of)
}

fn heavy_first(model: &TimeModel) -> Vec<usize> {
    let weights = weights_ns(model);
    let mut order: Vec<usize> = (0..model.tasks()).collect();
    order.sort_by_key(|task| Reverse((model.fixed[*task].is_some(), Ordered(weights[*task]))));
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

/// The ground of the fastest seats; `None` if all seats are needed or the constraints forbid it.
fn fastest<'a>(ground: &PlaceGround<'a>, model: &TimeModel) -> Option<PlaceGround<'a>> {
    let tasks = model.tasks();
    if tasks >= model.pus() || model.group.is_some() {
        return None;
    }
    let mut gains: Vec<(f64, usize)> = model
        .added_work()
        .into_iter()
        .enumerate()
        .map(|(pu, more)| (model.speed[pu] * more, pu))
        .collect();
    gains.sort_by_key(|(gain, _)| Reverse(Ordered(*gain)));
    let mut chosen: Vec<usize> = gains.into_iter().take(tasks).map(|(_, pu)| pu).collect();
    chosen.sort_unstable();
    let request = ground.request;
    let os = ground.pus.os_of(&chosen);
    let fast = Pus::new(request.profile, Some(&os), request.homes).ok()?;
    PlaceGround::on(request, request.costed(fast)).ok()
}
