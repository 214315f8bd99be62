//! Hardware threads listed as cores, as in many guests.

use super::{ProfileFinding, View};
use crate::fit::linkage::sizes;
use seatmap_data::machine::{OriginKind, Pu};
use seatmap_data::statistics::median;

/// The longest round trip between two hardware threads of one core on published machines, in
/// nanoseconds: the band of [`super::bands`].
const SIBLINGS_NS: f64 = 40.0;

/// The largest ratio of siblings' distances to others': 0.27 to 0.45 on published machines with
/// SMT.
const SHARE: f64 = 0.6;

/// Reports machines whose near PUs all form pairs as near as siblings, though the topology gives
/// each PU a separate core.
pub fn hidden(view: &View) -> Option<ProfileFinding> {
    let group = &view.relations.group;
    let pus: Vec<&Pu> =
        view.distance.pus.iter().map(|os| view.profile.topology.pu(*os)).collect::<Option<_>>()?;
    let (near, far): (Vec<_>, Vec<_>) =
        view.distance.median_ns.pairs().partition(|(i, j, _)| group[*i] == group[*j]);
    let sizes = sizes(group);
    let pairs_only = near.len() * 2 == pus.len() && group.iter().all(|own| sizes[*own] == 2);
    let are_other_cores = near.iter().all(|(i, j, _)| {
        pus[*i].core.is_some() && pus[*j].core.is_some() && pus[*i].core != pus[*j].core
    });
    let measured = view.profile.origin.kind != OriginKind::Model;
    let near_ns = median_of(&near)?;
    let far_ns = median_of(&far)?;
    let (i, j, _) = *near.first()?;
    (measured
        && pairs_only
        && are_other_cores
        && near_ns <= SIBLINGS_NS
        && near_ns <= SHARE * far_ns
        && view.are_apart(|i, j| group[i] == group[j], |i, j| group[i] != group[j]))
    .then(|| ProfileFinding::HiddenSiblings {
        pairs: near.len(),
        example: [pus[i].os, pus[j].os],
        near_ns,
        far_ns,
    })
}

fn median_of(pairs: &[(usize, usize, &f64)]) -> Option<f64> {
    median(pairs.iter().map(|pair| *pair.2))
}
