//! The line that each communicating pair should use.

use crate::pus::Predictions;
use crate::{PlaceError, PlaceRequest, Traffic};
use seatmap_data::machine::OriginKind;
use seatmap_data::plan::Channel;

/// The heaviest pair first, with unused candidate lines while there are any. `allowed` may forbid a
/// home.
pub fn choose(
    request: &PlaceRequest,
    traffic: &Traffic,
    placement: &[u32],
    allowed: impl Fn(u32, u32, usize) -> bool,
) -> Result<Vec<Channel>, PlaceError> {
    let known = request.profile.core_distance.as_ref();
    let homes = homes(request)?;
    let lines = request.profile.home_model.as_ref().and_then(|model| model.lines.as_ref());
    let mut free: Vec<Vec<usize>> = vec![Vec::new(); homes];
    // In reverse, so that `pop` returns the lowest numbers first.
    for (line, home) in lines.iter().flat_map(|lines| lines.home_of_line.iter().enumerate()).rev() {
        free.get_mut(*home as usize).into_iter().for_each(|free| free.push(line));
    }
    let pairs = heaviest_first(traffic);
    let predictions = Predictions::new(request.profile);
    let mut chosen = Vec::new();
    for (from, to) in pairs {
        let rows = [from, to].map(|task| known.and_then(|known| known.index_of(placement[task])));
        let [Some(i), Some(j)] = rows else { continue };
        let best = predictions
            .iter()
            .flat_map(|all| all.each_home(i, j))
            .map(|(home, distance_ns)| {
                let is_forbidden = !allowed(placement[from], placement[to], home);
                // Without candidate lines every home is usable, and the program finds a line.
                let is_used_up = lines.is_some() && free[home].is_empty();
                ((is_forbidden, is_used_up), home, distance_ns)
            })
            // Prefers allowed homes, then unused ones, then near ones.
            .min_by(|a, b| a.0.cmp(&b.0).then(a.2.total_cmp(&b.2)));
        if let Some((_, home, distance_ns)) = best {
            chosen.push(Channel { from, to, home, line: free[home].pop(), distance_ns });
        }
    }
    Ok(chosen)
}

pub fn homes(request: &PlaceRequest) -> Result<usize, PlaceError> {
    let profile = request.profile;
    let model = request.profile.home_model.as_ref();
    let homes = model.map_or(0, |model| model.homes());
    if homes >= 2 {
        return Ok(homes);
    }
    // Measuring helps only if the profile is a measurement without homes so far.
    let were_tried = model.is_some_and(|model| model.lines.is_some());
    Err(PlaceError::NoHomes {
        machine: profile.name.clone(),
        is_measurable: profile.origin.kind == OriginKind::Measured && !were_tried,
    })
}

pub fn heaviest_first(traffic: &Traffic) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize, f64)> = traffic.edges().collect();
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    pairs.into_iter().map(|(from, to, _)| (from, to)).collect()
}
