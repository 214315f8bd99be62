//! A model of distances: groups of PUs, and the offset that the home of a line adds.

use crate::machine::nanoseconds::{optional_rows, rows};
use crate::machine::{HomesChecked, Matrix};
use serde::{Deserialize, Serialize};

/// The model d(i, j, home) = between\[group(i), group(j)\] + a_i(home) + a_j(home), in round-trip
/// nanoseconds.
///
/// It costs O(N x H) numbers instead of O(N^2 x H), and on most machines it explains more than the
/// matrix of pairs does: on Intel rings and meshes a single line's matrix is a_i + a_j to a
/// fraction of a nanosecond. The model leaves SMT siblings out; their distance stands beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HomeModel {
    /// OS indices that share the nearest distance class above SMT siblings: core complex, cluster
    /// or socket.
    pub groups: Vec<Vec<u32>>,
    /// Typical distance inside (diagonal) and between groups: the median of the distances without
    /// the offsets; `null` inside a group of one core.
    pub between_ns: Matrix,
    /// Typical distance inside each group (row) for lines of each home (column), where several
    /// homes were told apart and there are three groups or more; it stands in for the diagonal of
    /// `between_ns`. PUs that share a cache settle a line between them whatever its home, while
    /// their offsets tell how far they are from it.
    #[serde(default, deserialize_with = "optional_rows")]
    pub inside_ns: Option<Vec<Vec<f64>>>,
    /// The offset a_i(home) of each PU, in nanoseconds and of either sign: rows in the order of
    /// `core_distance.pus`, one column a home.
    #[serde(deserialize_with = "rows")]
    pub offset_ns: Vec<Vec<f64>>,
    /// The share of the variance over pairs that the model explains.
    pub r2: f64,
    /// Root mean square of the part that it does not explain, in nanoseconds.
    pub residual_ns: f64,
    /// Inside the groups a star a_i + a_j explains more than 95 % of the variance: which of two PUs
    /// is near the home is all that such a matrix tells.
    pub pair_view_empty: bool,
    /// The share of the variance inside the groups that the star a_i + a_j explains; `null` where
    /// nothing varies.
    #[serde(default)]
    pub star_r2: Option<f64>,
    /// The median distance of SMT siblings, where there are any.
    #[serde(default)]
    pub smt_ns: Option<f64>,
    /// How the candidate lines fell into homes, where several were tried.
    #[serde(default)]
    pub lines: Option<HomeLines>,
}

/// Candidate lines sorted by home, without privileges: lines whose distances agree from everywhere
/// share one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HomeLines {
    /// For each candidate line the column of `offset_ns` it belongs to.
    pub home_of_line: Vec<u32>,
    /// The PU nearest to each home.
    pub nearest_pu: Vec<u32>,
    /// Probability that two lines said to share a home do, estimated from the separation of the
    /// clusters; 0 to 1.
    pub confidence: f64,
    /// False where the differences between lines drown in noise; then there is one home and
    /// `confidence` is 0.
    pub resolvable: bool,
    /// Number of visits to pairs that it rests on; 0 where they were not measured, or not counted.
    #[serde(default)]
    pub samples: u64,
    /// How much of it is right, where a model was measured, which knows.
    #[serde(default)]
    pub checked: Option<HomesChecked>,
}

impl HomeModel {
    /// Whether there are more pairs than ways to the home: as many ways fit as many pairs, whatever
    /// these are, and explain nothing.
    #[must_use]
    pub fn is_overdetermined(&self) -> bool {
        let pus = self.offset_ns.len();
        pus * pus.saturating_sub(1) / 2 > pus
    }

    /// The group of each PU, in the order of `pus`.
    #[must_use]
    pub fn group_of(&self, pus: &[u32]) -> Vec<Option<usize>> {
        // A map, because a search for each PU would take the square of their number.
        let place: std::collections::HashMap<u32, usize> = self
            .groups
            .iter()
            .enumerate()
            .flat_map(|(at, group)| group.iter().map(move |os| (*os, at)))
            .collect();
        pus.iter().map(|os| place.get(os).copied()).collect()
    }

    /// B for two PUs of these groups and a line of this home, in nanoseconds; NaN where it is not
    /// known.
    #[must_use]
    pub fn base_ns(&self, from: usize, to: usize, home: usize) -> f64 {
        // Within a group, the base may depend on the home.
        let inside = self.inside_ns.as_ref().filter(|_| from == to);
        match inside {
            Some(inside) => {
                inside.get(from).and_then(|homes| homes.get(home)).copied().unwrap_or(f64::NAN)
            }
            None => self.between_ns[(from, to)],
        }
    }

    /// The round trip between the PUs in rows `i` and `j` of `pus` over a line of this home, in ns:
    /// B + a_i + a_j. `None` where it is not known. SMT siblings are left out of the model, so that
    /// it says nothing of them.
    #[must_use]
    pub fn round_trip_ns(&self, pus: &[u32], i: usize, j: usize, home: usize) -> Option<f64> {
        let groups = [self.group_of_pu(*pus.get(i)?)?, self.group_of_pu(*pus.get(j)?)?];
        self.of_groups_ns(groups, [i, j], home)
    }

    /// The same for two rows whose groups are known: where many pairs are asked for,
    /// [`HomeModel::group_of`] tells the groups once.
    #[must_use]
    pub fn of_groups_ns(&self, groups: [usize; 2], rows: [usize; 2], home: usize) -> Option<f64> {
        let ns = self.base_ns(groups[0], groups[1], home)
            + self.offset_ns.get(rows[0])?.get(home).copied()?
            + self.offset_ns.get(rows[1])?.get(home).copied()?;
        ns.is_finite().then_some(ns)
    }

    fn group_of_pu(&self, os: u32) -> Option<usize> {
        self.groups.iter().position(|group| group.contains(&os))
    }

    /// The number of homes that the offsets tell apart.
    #[must_use]
    pub fn homes(&self) -> usize {
        self.offset_ns.first().map_or(0, Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_a_group_each_home_has_its_own_base() {
        let mut model = HomeModel {
            groups: vec![vec![0, 1], vec![2, 3]],
            between_ns: Matrix::from_fn(2, |a, b| if a == b { 40.0 } else { 200.0 }),
            inside_ns: None,
            offset_ns: vec![vec![0.0, 0.0]; 4],
            r2: 1.0,
            residual_ns: 0.0,
            pair_view_empty: false,
            star_r2: None,
            smt_ns: None,
            lines: None,
        };
        assert_eq!((model.base_ns(1, 1, 1), model.base_ns(0, 1, 1)), (40.0, 200.0));
        model.inside_ns = Some(vec![vec![41.0, 42.0], vec![43.0, 44.0]]);
        assert_eq!((model.base_ns(1, 1, 1), model.base_ns(0, 1, 1)), (44.0, 200.0));
        assert!(model.base_ns(1, 1, 2).is_nan());
    }
}
