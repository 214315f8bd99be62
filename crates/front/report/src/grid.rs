//! A matrix in display order.

use crate::predicted::predicted;
use seatmap_data::machine::{Matrix, PairStatus, Profile, Square};
use seatmap_measure::classes::grouped_order;

/// The order of rows and columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum GridOrder {
    /// Group by group, with SMT siblings adjacent.
    #[default]
    Group,
    /// Ascending OS index.
    Os,
}

/// A matrix of distances in display order.
pub struct Grid {
    /// OS indices, in display order.
    pub os: Vec<u32>,
    /// A number that changes where a group ends; all equal without groups.
    pub group: Vec<usize>,
    /// Round-trip nanoseconds; the diagonal has no meaning.
    pub cells_ns: Matrix,
    /// How reliable each pair is; `None` for predictions and on the diagonal.
    pub status: Square<Option<PairStatus>>,
}

impl Grid {
    /// The measured medians of a profile or, for a given home, the distances that the model
    /// predicts for its lines. `None` if the profile has no distances or no such home.
    pub fn of(profile: &Profile, order: GridOrder, home: Option<usize>) -> Option<Self> {
        let distance = profile.core_distance.as_ref()?;
        let order_of_rows = positions(profile, order);
        let unsorted = match home {
            Some(home) => predicted(profile, home)?,
            None => distance.median_ns.clone(),
        };
        let n = order_of_rows.len();
        let group = match order {
            GridOrder::Group => {
                let groups = groups(profile);
                order_of_rows.iter().map(|at| groups[*at]).collect()
            }
            // Neighbours alternate between groups, so separators would be useless.
            GridOrder::Os => vec![0; n],
        };
        // The measurement's status does not apply to predictions.
        let status =
            |i, j| distance.status[(order_of_rows[i], order_of_rows[j])].filter(|_| home.is_none());
        Some(Grid {
            os: order_of_rows.iter().map(|at| distance.pus[*at]).collect(),
            group,
            cells_ns: Square::from_fn(n, |i, j| unsorted[(order_of_rows[i], order_of_rows[j])]),
            status: Square::from_fn(n, status),
        })
    }

    /// A matrix in its own order, without groups.
    pub fn plain(os: Vec<u32>, cells_ns: Matrix) -> Self {
        let status = Square::filled(os.len(), None);
        Grid { group: vec![0; os.len()], os, cells_ns, status }
    }

    /// The distances of all unordered pairs; unknown ones are NaN.
    pub fn values_ns(&self) -> impl Iterator<Item = f64> + '_ {
        self.cells_ns.pairs().map(|(_, _, value)| *value)
    }

    /// Whether a group ends after this row.
    pub fn ends_group(&self, row: usize) -> bool {
        row + 1 < self.group.len() && self.group[row] != self.group[row + 1]
    }
}

/// Rows of `core_distance.pus` in display order.
pub fn positions(profile: &Profile, order: GridOrder) -> Vec<usize> {
    let mut rows = grouped_order(profile);
    if let Some(distance) = profile.core_distance.as_ref().filter(|_| order == GridOrder::Os) {
        rows.sort_by_key(|at| distance.pus[*at]);
    }
    rows
}

/// The model's groups or, without a model, L3 caches or packages.
pub fn groups(profile: &Profile) -> Vec<usize> {
    let Some(distance) = &profile.core_distance else { return Vec::new() };
    if let Some(model) = &profile.home_model {
        return model
            .group_of(&distance.pus)
            .into_iter()
            // PUs outside all groups form a group that the model never uses.
            .map(|group| group.unwrap_or(usize::MAX))
            .collect();
    }
    let places =
        distance.pus.iter().map(|os| profile.topology.pu(*os).and_then(|pu| pu.l3.or(pu.package)));
    places.map(|place| place.map_or(usize::MAX, |place| place as usize)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::two_groups;

    #[test]
    fn os_order_sorts_without_groups() {
        let mut profile = two_groups();
        if let Some(distance) = &mut profile.core_distance {
            distance.pus.reverse();
        }
        let grid = Grid::of(&profile, GridOrder::Os, None).unwrap();
        assert_eq!(grid.os, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!((0..8).all(|row| !grid.ends_group(row)));
        let stored = profile.core_distance.as_ref().unwrap();
        assert_eq!(grid.cells_ns[(0, 5)], stored.median_ns[(7, 2)]);
    }

    #[test]
    fn group_order_ends_each_group() {
        let grid = Grid::of(&two_groups(), GridOrder::Group, None).unwrap();
        let ends = Vec::from_iter((0..8).filter(|row| grid.ends_group(*row)));
        assert_eq!(ends, [3]);
    }

    #[test]
    fn unknown_home_has_no_grid() {
        assert!(Grid::of(&two_groups(), GridOrder::Group, Some(1)).is_some());
        assert!(Grid::of(&two_groups(), GridOrder::Group, Some(9)).is_none());
    }
}
