//! Compares the groups in the distances with the levels of the topology.

use super::{ProfileFinding, View};
use crate::appraise::nested::word;
use crate::classes::LEVELS;
use crate::fit::linkage::{count, renumbered};
use seatmap_data::machine::Level;

/// Groups whose own pairs are not significantly nearer may be noise.
pub fn disagree(view: &View) -> Option<ProfileFinding> {
    let parts: Vec<(&str, Vec<usize>)> =
        LEVELS.into_iter().filter_map(|level| Some((word(level), parts(view, level)?))).collect();
    let group = renumbered(&view.relations.group);
    let are_shown = view.are_apart(|i, j| group[i] == group[j], |i, j| group[i] != group[j]);
    let is_known = parts.iter().any(|(_, parts)| *parts == group);
    if parts.is_empty() || is_known || !are_shown {
        return None;
    }
    let levels = parts.iter().map(|(name, parts)| ((*name).to_owned(), count(parts))).collect();
    Some(ProfileFinding::GroupsDisagree { groups: count(&group), levels })
}

fn parts(view: &View, level: Level) -> Option<Vec<usize>> {
    let pus = view.distance.pus.iter();
    let numbers: Option<Vec<u32>> =
        pus.map(|os| view.profile.topology.pu(*os).and_then(|pu| level.of(pu))).collect();
    numbers.map(|numbers| renumbered(&numbers))
}
