//! Blocks of the matrix that should be equal but differ.

use super::{ProfileFinding, View};
use seatmap_data::statistics::Ordered;
use std::collections::{BTreeMap, BTreeSet};

/// Two blocks of a class differ from this ratio on. The wires of a large package alone cause 1.15.
const UNEQUAL: f64 = 1.2;

type Block = (usize, usize, f64);

/// `None` if a far home already explains the difference.
pub fn asymmetric(view: &View, explained: bool) -> Option<ProfileFinding> {
    let mut of_class = BTreeMap::<String, Vec<Block>>::new();
    for (a, b, between) in
        view.model.between_ns.pairs().filter(|(_, _, between)| between.is_finite())
    {
        // All pairs between two groups have the same class, so one row represents each group.
        let i = first_row(view, a)?;
        let j = first_row(view, b)?;
        of_class.entry(view.relations.name(i, j)).or_default().push((i, j, *between));
    }
    let extremes = of_class.into_iter().filter_map(|(class, blocks)| {
        let nearest = *blocks.iter().min_by_key(|it| Ordered(it.2))?;
        let farthest = *blocks.iter().max_by_key(|it| Ordered(it.2))?;
        Some((class, nearest, farthest))
    });
    let (class, nearest, farthest) = extremes.max_by_key(|it| Ordered(it.2.2 / it.1.2))?;
    let [nearest_pus, farthest_pus] =
        [nearest, farthest].map(|(i, j, _)| [i, j].map(|row| view.distance.pus[row]));
    let group = &view.relations.group;
    let [near_groups, far_groups] =
        [nearest, farthest].map(|(i, j, _)| BTreeSet::from([group[i], group[j]]));
    let is_unequal = farthest.2 > UNEQUAL * nearest.2
        && view.are_apart(
            |i, j| BTreeSet::from([group[i], group[j]]) == near_groups,
            |i, j| BTreeSet::from([group[i], group[j]]) == far_groups,
        );
    if explained || !is_unequal {
        return None;
    }
    Some(ProfileFinding::AsymmetricBlocks {
        class,
        nearest: nearest_pus,
        nearest_ns: nearest.2,
        farthest: farthest_pus,
        farthest_ns: farthest.2,
    })
}

fn first_row(view: &View, group: usize) -> Option<usize> {
    view.relations.group.iter().position(|of| *of == group)
}
