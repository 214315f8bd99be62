//! The line that each communicating pair should use.

use crate::build::PlaceGround;
use crate::pus::Predictions;
use crate::{PlaceError, PlaceMethod, PlaceRequest, Traffic, unfit};
use seatmap_data::machine::OriginKind;
use seatmap_data::plan::Channel;
use seatmap_data::statistics::Ordered;
use std::cmp::Reverse;

impl PlaceGround<'_> {
    /// The heaviest pair first, with unused candidate lines while they last; empty if not wanted.
    pub fn channels(&self, placement: &[u32]) -> Result<Vec<Channel>, PlaceError> {
        let request = self.request;
        let uses_homes = matches!(request.method, PlaceMethod::Pizza(_) | PlaceMethod::GetCore);
        let homes = match homes(request) {
            Ok(homes) if request.homes || uses_homes => homes,
            Err(error) if request.homes => return Err(error),
            _ => return Ok(Vec::new()),
        };
        let known = request.profile.core_distance.as_ref();
        let lines = request.profile.home_model.as_ref().and_then(|model| model.lines.as_ref());
        let mut free: Vec<Vec<usize>> = vec![Vec::new(); homes];
        // In reverse, so that `pop` returns the lowest numbers first.
        for (line, home) in
            lines.iter().flat_map(|lines| lines.home_of_line.iter().enumerate()).rev()
        {
            free.get_mut(*home as usize).into_iter().for_each(|free| free.push(line));
        }
        let predictions = Predictions::new(request.profile);
        let mut chosen = Vec::new();
        for (from, to) in heaviest_first(&self.problem.traffic) {
            let seats = [placement[from], placement[to]];
            let rows = seats.map(|os| known.and_then(|known| known.index_of(os)));
            let [Some(i), Some(j)] = rows else { continue };
            let best = predictions
                .iter()
                .flat_map(|all| all.each_home(i, j))
                // Prefers homes in the slice, then unused, then near ones. Without candidate lines
                // every home is usable, and the program finds a line.
                .min_by_key(|(home, distance_ns)| {
                    let at = lines.and_then(|lines| lines.nearest_pu.get(*home).copied());
                    let is_used_up = lines.is_some() && free[*home].is_empty();
                    (self.leaves_section(seats, at), is_used_up, Ordered(*distance_ns))
                });
            if let Some((home, distance_ns)) = best {
                chosen.push(Channel { from, to, home, line: free[home].pop(), distance_ns });
            }
        }
        Ok(chosen)
    }

    /// Whether traffic between seats of one section passes a home in another one.
    fn leaves_section(&self, seats: [u32; 2], home: Option<u32>) -> bool {
        let Some(sections) = &self.sections else { return false };
        let section_of = |os: u32| self.pus.index_of(os).map(|at| sections[at]);
        let [own, other] = seats.map(section_of);
        let at_home = home.and_then(section_of);
        own == other && at_home.is_some() && at_home != own
    }
}

pub fn homes(request: &PlaceRequest) -> Result<usize, PlaceError> {
    let profile = request.profile;
    let model = profile.home_model.as_ref();
    let homes = model.map_or(0, |model| model.homes());
    if homes >= 2 {
        return Ok(homes);
    }
    // Measuring helps only if the profile is a measurement without homes.
    let were_tried = model.is_some_and(|model| model.lines.is_some());
    let is_measurable = profile.origin.kind == OriginKind::Measured && !were_tried;
    unfit(format!(
        "the profile of {} does not distinguish homes of lines; place without homes{}",
        profile.name,
        if is_measurable { ", or measure them with 'seatmap measure --homes 64'" } else { "" }
    ))
}

pub fn heaviest_first(traffic: &Traffic) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize, f64)> = traffic.edges().collect();
    pairs.sort_by_key(|(from, to, weight)| (Reverse(Ordered(*weight)), *from, *to));
    pairs.into_iter().map(|(from, to, _)| (from, to)).collect()
}
