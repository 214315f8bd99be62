//! Predicts all distances from rows of hubs.
//!
//! A machine of 512 PUs has 130 816 pairs; a row has 511 cells. If this model holds, one hub per
//! group and a second in one group determine every block.
//!
//! The prediction is the best linear unbiased one (Henderson 1975; Robinson 1991) of d(i, j) =
//! B\[g, g'\] + a_i + a_j + e_i(g') + e_j(g) + noise, where e is the deviation of a PU's offset
//! towards each group. B is free; a and e are random with the sizes below. If hubs do not determine
//! an offset, the PU's offsets towards other groups replace it.

use super::least_squares::{Equation, solve};
use super::linkage;
use seatmap_data::machine::Matrix;

/// Standard deviation of a relative to the noise, and of e in the next constant: 6 and 1.5 ns
/// against 0.4 ns on a two-socket Xeon 8375C.
const OFFSET_SIZE: f64 = 16.0;
/// See [`OFFSET_SIZE`].
const GROUP_OFFSET_SIZE: f64 = 4.0;

/// The rows of `count` good hubs, the most helpful first. They alternate between the groups, from
/// the last: the line's home is usually in the first, so the last group's rows agree least and most
/// need a second hub. Inside a group, hubs are evenly spread over the cores; none are siblings.
pub fn choose(group: &[usize], core: &[usize], count: usize) -> Vec<usize> {
    let groups = linkage::count(group);
    let mut seen = std::collections::HashSet::new();
    let mut members = vec![Vec::new(); groups];
    for (pu, (group, core)) in group.iter().zip(core).enumerate() {
        if seen.insert(core) {
            members[groups - 1 - group].push(pu);
        }
    }
    let spread: Vec<Vec<usize>> = members
        .iter()
        .enumerate()
        .map(|(at, pus)| {
            let share = count / groups + usize::from(at < count % groups);
            (0..share.min(pus.len())).map(|k| pus[(k + 1) * pus.len() / (share + 1)]).collect()
        })
        .collect();
    let rounds = spread.iter().map(Vec::len).max().unwrap_or(0);
    (0..rounds)
        .flat_map(|round| spread.iter().filter_map(move |hubs| hubs.get(round).copied()))
        .collect()
}

/// The whole matrix from the rows of `hubs`. NaN on the diagonal, for SMT siblings, and between
/// groups without information from a hub.
pub fn predict(measured: &Matrix, hubs: &[usize], group: &[usize], core: &[usize]) -> Matrix {
    let unknowns = Unknowns { group, groups: linkage::count(group) };
    let mut determined = vec![false; unknowns.groups * unknowns.groups];
    let mut rows = Vec::new();
    for (i, j) in cells(measured, hubs, core) {
        determined[unknowns.block(i, j)] = true;
        rows.push(Equation { terms: unknowns.terms(i, j), value: measured[(i, j)], weight: 1.0 });
    }
    let solution = solve(&rows, &unknowns.ridge());
    Matrix::from_fn(measured.n(), |i, j| {
        if core[i] != core[j] && determined[unknowns.block(i, j)] {
            unknowns.terms(i, j).iter().map(|(at, coefficient)| coefficient * solution[*at]).sum()
        } else {
            f64::NAN
        }
    })
}

/// The root mean square error over pairs without hubs; `None` without such pairs.
pub fn rmse_ns(predicted: &Matrix, measured: &Matrix, hubs: &[usize]) -> Option<f64> {
    let fresh = measured.pairs().filter(|(i, j, _)| !hubs.contains(i) && !hubs.contains(j));
    rms(fresh.map(|(i, j, value)| predicted[(i, j)] - value).filter(|error| error.is_finite()))
}

pub(crate) fn rms(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (squares, count) =
        values.fold((0.0, 0.0), |(squares, count), value| (squares + value * value, count + 1.0));
    (count > 0.0).then(|| f64::sqrt(squares / count))
}

fn cells<'a>(
    measured: &'a Matrix,
    hubs: &'a [usize],
    core: &'a [usize],
) -> impl Iterator<Item = (usize, usize)> + 'a {
    hubs.iter().enumerate().flat_map(move |(rank, hub)| {
        let earlier = &hubs[..rank];
        (0..measured.n())
            .filter(move |j| {
                core[*hub] != core[*j] && measured[(*hub, *j)].is_finite() && !earlier.contains(j)
            })
            .map(move |j| (*hub, j))
    })
}

struct Unknowns<'a> {
    group: &'a [usize],
    groups: usize,
}

impl Unknowns<'_> {
    fn block(&self, i: usize, j: usize) -> usize {
        let a = self.group[i];
        let b = self.group[j];
        a.min(b) * self.groups + a.max(b)
    }

    fn terms(&self, i: usize, j: usize) -> Vec<(usize, f64)> {
        let first_offset = self.groups * self.groups;
        let first_of_group = first_offset + self.group.len();
        vec![
            (self.block(i, j), 1.0),
            (first_offset + i, OFFSET_SIZE),
            (first_offset + j, OFFSET_SIZE),
            (first_of_group + i * self.groups + self.group[j], GROUP_OFFSET_SIZE),
            (first_of_group + j * self.groups + self.group[i], GROUP_OFFSET_SIZE),
        ]
    }

    /// B is free; the offsets, in units of their sizes, are tied to zero like one observation each.
    fn ridge(&self) -> Vec<f64> {
        let mut ridge = vec![0.0; self.groups * self.groups];
        ridge.resize(ridge.len() + self.group.len() * (1 + self.groups), 1.0);
        ridge
    }
}
