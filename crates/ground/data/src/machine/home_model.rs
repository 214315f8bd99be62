//! A model of distances: groups of PUs, and the offset that the home of a line adds.

use crate::machine::nanoseconds::{optional_rows, rows};
use crate::machine::{HomesChecked, Matrix};
use serde::{Deserialize, Serialize};

/// The model d(i, j, home) = between\[group(i), group(j)\] + a_i(home) + a_j(home), in round-trip
/// nanoseconds.
///
/// It needs O(N x H) numbers in place of O(N^2 x H), and on most machines it explains more than the
/// matrix of pairs: on Intel rings and meshes the matrix of a single line is a_i + a_j to a
/// fraction of a nanosecond. SMT siblings are not part of the model; `smt_ns` has their distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HomeModel {
    /// OS indices of PUs of the nearest distance class above SMT siblings: core complex, cluster or
    /// socket.
    pub groups: Vec<Vec<u32>>,
    /// Typical distance inside (diagonal) and between groups: the median distance without the
    /// offsets; `null` inside a group of one core.
    pub between_ns: Matrix,
    /// Typical distance inside each group (row) for lines of each home (column), in place of the
    /// diagonal of `between_ns`. Present for several homes and at least three groups. PUs with a
    /// common cache exchange a line through it whatever its home, although their offsets show how
    /// far away the home is.
    #[serde(default, deserialize_with = "optional_rows")]
    pub inside_ns: Option<Vec<Vec<f64>>>,
    /// The offset a_i(home) of each PU, positive or negative, in nanoseconds: one row for each PU
    /// of `core_distance.pus`, one column for each home.
    #[serde(deserialize_with = "rows")]
    pub offset_ns: Vec<Vec<f64>>,
    /// The share of the variance over pairs that the model explains.
    pub r2: f64,
    /// Root mean square of the unexplained part, in nanoseconds.
    pub residual_ns: f64,
    /// Whether a star a_i + a_j explains more than 95 % of the variance inside the groups. Such a
    /// matrix only shows which PUs are near the home.
    pub pair_view_empty: bool,
    /// The share of the variance inside the groups that the star a_i + a_j explains; `null` without
    /// variance.
    #[serde(default)]
    pub star_r2: Option<f64>,
    /// The median distance of SMT siblings, if the machine has any.
    #[serde(default)]
    pub smt_ns: Option<f64>,
    /// The homes of the candidate lines, if several lines were measured.
    #[serde(default)]
    pub lines: Option<HomeLines>,
}

/// Candidate lines grouped by home, without privileges. Lines with equal distances from all PUs
/// share a home.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HomeLines {
    /// The column of `offset_ns` for each candidate line.
    pub home_of_line: Vec<u32>,
    /// The PU nearest to each home.
    pub nearest_pu: Vec<u32>,
    /// The probability that two lines of the same group share a home, from the separation of the
    /// groups; 0 to 1.
    pub confidence: f64,
    /// Whether lines differ by more than noise. If not, there is one home and `confidence` is 0.
    pub resolvable: bool,
    /// Visits to pairs of CPUs; 0 if they were not measured or not counted.
    #[serde(default)]
    pub samples: u64,
    /// The share of correct results, if a model with known homes was measured.
    #[serde(default)]
    pub checked: Option<HomesChecked>,
}

impl HomeModel {
    /// Whether there are more pairs than offsets. With fewer pairs a fit is always perfect, and
    /// explains nothing.
    pub fn is_overdetermined(&self) -> bool {
        let pus = self.offset_ns.len();
        pus * pus.saturating_sub(1) / 2 > pus
    }

    /// The group of each PU, in the order of `pus`.
    pub fn group_of(&self, pus: &[u32]) -> Vec<Option<usize>> {
        // A map, because searching for each PU would take quadratic time.
        let place: std::collections::HashMap<u32, usize> = self
            .groups
            .iter()
            .enumerate()
            .flat_map(|(at, group)| group.iter().map(move |os| (*os, at)))
            .collect();
        pus.iter().map(|os| place.get(os).copied()).collect()
    }

    /// The base for two PUs of these groups and a line of this home, in nanoseconds; NaN if
    /// unknown.
    pub fn base_ns(&self, from: usize, to: usize, home: usize) -> f64 {
        let inside = self.inside_ns.as_ref().filter(|_| from == to);
        match inside {
            Some(inside) => {
                inside.get(from).and_then(|homes| homes.get(home)).copied().unwrap_or(f64::NAN)
            }
            None => self.between_ns[(from, to)],
        }
    }

    /// The round trip between the PUs in rows `i` and `j` of `pus` over a line of this home, in ns:
    /// base + a_i + a_j. `None` if unknown, as for SMT siblings.
    pub fn round_trip_ns(&self, pus: &[u32], i: usize, j: usize, home: usize) -> Option<f64> {
        let groups = [self.group_of_pu(*pus.get(i)?)?, self.group_of_pu(*pus.get(j)?)?];
        self.of_groups_ns(groups, [i, j], home)
    }

    /// [`HomeModel::round_trip_ns`] for rows of known groups, which [`HomeModel::group_of`] finds
    /// once for many pairs.
    pub fn of_groups_ns(&self, groups: [usize; 2], rows: [usize; 2], home: usize) -> Option<f64> {
        let ns = self.base_ns(groups[0], groups[1], home)
            + self.offset_ns.get(rows[0])?.get(home).copied()?
            + self.offset_ns.get(rows[1])?.get(home).copied()?;
        ns.is_finite().then_some(ns)
    }

    fn group_of_pu(&self, os: u32) -> Option<usize> {
        self.groups.iter().position(|group| group.contains(&os))
    }

    /// Counts homes with their own offsets.
    pub fn homes(&self) -> usize {
        self.offset_ns.first().map_or(0, Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_home_has_its_own_base_within_a_group() {
        let text = r#"{ "groups": [[0, 1], [2, 3]], "between_ns": [[40.0, 200.0], [200.0, 40.0]],
            "inside_ns": null, "offset_ns": [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
            "r2": 1.0, "residual_ns": 0.0, "pair_view_empty": false, "star_r2": null,
            "smt_ns": null }"#;
        let mut model: HomeModel = serde_json::from_str(text).unwrap();
        assert_eq!((model.base_ns(1, 1, 1), model.base_ns(0, 1, 1)), (40.0, 200.0));
        model.inside_ns = Some(vec![vec![41.0, 42.0], vec![43.0, 44.0]]);
        assert_eq!((model.base_ns(1, 1, 1), model.base_ns(0, 1, 1)), (44.0, 200.0));
        assert!(model.base_ns(1, 1, 2).is_nan());
    }
}
