//! Compares the groups in the distances with the levels of the topology.

use super::{ProfileFinding, View};
use crate::classes::{LEVELS, NamedLevel};
use crate::fit::linkage::{renumbered, sizes};

/// Groups whose own pairs are not significantly nearer may be noise.
pub fn disagree(view: &View) -> Option<ProfileFinding> {
    let parts: Vec<(&str, Vec<usize>)> =
        LEVELS.iter().filter_map(|level| Some((level.0, parts(view, level)?))).collect();
    let group = renumbered(&view.relations.group);
    let are_shown = view.are_apart(|i, j| group[i] == group[j], |i, j| group[i] != group[j]);
    let is_known = parts.iter().any(|(_, parts)| *parts == group);
    if parts.is_empty() || is_known || !are_shown {
        return None;
    }
    let levels =
        parts.iter().map(|(name, parts)| ((*name).to_owned(), sizes(parts).len())).collect();
    Some(ProfileFinding::GroupsDisagree { groups: sizes(&group).len(), levels })
}

fn parts(view: &View, level: &NamedLevel) -> Option<Vec<usize>> {
    view.distance
        .pus
        .iter()
        .map(|os| view.profile.topology.pu(*os).and_then(level.1).map(|number| number as usize))
        .collect::<Option<Vec<usize>>>()
        .map(|numbers| renumbered(&numbers))
}
