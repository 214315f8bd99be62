//! Whether tasks may share a core.

use crate::args::{ObjectiveChoice, Place};
use seatmap_place::search::Limit;
use seatmap_place::{Answer, Level, PlaceError, PlaceMethod, PlaceRequest};

/// The part of the time, or of the kicks, that looking at the other way may take.
const PART: u32 = 5;

/// The groups that hold at most one task each: those that the user typed, else cores where there
/// are enough. Distances alone would put two tasks on a core, because its hardware threads are
/// nearest to each other; no distance shows how much they slow each other down.
///
/// A time knows how much they slow each other down, and needs no such rule; `have_cores` says that
/// the tasks were promised equal seats with a core each.
pub(super) fn one_per(typed: &Place, request: &PlaceRequest, have_cores: bool) -> Option<Level> {
    if typed.avoid_smt || typed.one_per.is_some() {
        return typed.one_per.map(Level::from).or(Some(Level::Core));
    }
    if typed.objective == ObjectiveChoice::Time {
        return (have_cores && request.smt_cores().is_some() && !typed.use_smt)
            .then_some(Level::Core);
    }
    let has_room = request.smt_cores().is_some_and(|cores| request.pattern.tasks <= cores);
    (has_room && !typed.use_smt && !request.fixes_share_a_core()).then_some(Level::Core)
}

/// The limit that is left for the search itself where the other use of SMT is looked at too.
pub(super) fn limit(typed: &Place, request: &PlaceRequest) -> Limit {
    match (typed.kicks, is_looked_at(typed, request)) {
        (Some(kicks), _) => Limit::kicks(kicks),
        (None, true) => Limit::seconds(typed.seconds * f64::from(PART - 1) / f64::from(PART)),
        (None, false) => Limit::seconds(typed.seconds),
    }
}

/// The answer where tasks may share cores if they may not now, and the other way round; `None`
/// where there is nothing to choose.
///
/// # Errors
/// [`PlaceError`], as for the request itself.
pub(super) fn other_way(
    typed: &Place,
    request: &PlaceRequest,
) -> Result<Option<Answer>, PlaceError> {
    if !is_looked_at(typed, request) {
        return Ok(None);
    }
    let mut other = request.clone();
    other.one_per = if request.one_per.is_some() { None } else { Some(Level::Core) };
    other.limit = match typed.kicks {
        Some(kicks) => Limit::kicks(kicks / u64::from(PART)),
        None => Limit::seconds(typed.seconds / f64::from(PART)),
    };
    other.place().map(Some)
}

/// Whether the other use of SMT is looked at too: only for people, who see the remark, and only
/// where both are possible.
fn is_looked_at(typed: &Place, request: &PlaceRequest) -> bool {
    let is_free = request.smt_cores().is_some_and(|cores| request.pattern.tasks <= cores);
    let is_sum =
        typed.objective != ObjectiveChoice::Simulated && request.method == PlaceMethod::Auto;
    !typed.json && typed.one_per.is_none() && is_free && is_sum && !request.fixes_share_a_core()
}
