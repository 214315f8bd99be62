//! The least-squares fit of d(i, j, home) = B\[group(i), group(j)\] + a_i(home) + a_j(home).

use super::least_squares::{Equation, solve};
use super::linkage;
use seatmap_data::machine::Matrix;
use seatmap_data::statistics::median;

/// One distance to explain.
#[derive(Clone, Copy)]
pub struct HomeDistance {
    /// Row of one PU.
    pub i: usize,
    /// Row of the other PU.
    pub j: usize,
    /// Home of its line.
    pub home: usize,
    /// Round-trip nanoseconds.
    pub value: f64,
    /// Weight of this cell.
    pub weight: f64,
}

/// The fitted B and a, and their quality.
pub struct BlockStarFit {
    /// B: the typical distance inside and between groups, NaN without cells.
    pub between_ns: Matrix,
    /// B inside a group (row) for each home (column), NaN without cells; `None` with one home or
    /// few groups: the diagonal of B then suffices.
    pub inside_ns: Option<Vec<Vec<f64>>>,
    /// a: one row per PU, one column per home, with zero mean over each group and all homes.
    pub offset_ns: Vec<Vec<f64>>,
    /// Explained share of the variance; 1 if the distances do not vary.
    pub r2: f64,
    /// Root mean square of the residuals.
    pub residual_ns: f64,
}

/// The machine to explain.
struct Counted<'a> {
    group: &'a [usize],
    homes: usize,
    groups: usize,
}

impl HomeDistance {
    /// A distance on a machine with one home.
    pub fn of_one_home(i: usize, j: usize, value: f64) -> Self {
        HomeDistance { i, j, home: 0, value, weight: 1.0 }
    }
}

impl Counted<'_> {
    /// Pairs between groups then determine the offsets, which takes three groups.
    fn inside_by_home(&self) -> bool {
        self.homes > 1 && self.groups > 2
    }

    fn block(&self, cell: &HomeDistance) -> usize {
        let a = self.group[cell.i];
        let b = self.group[cell.j];
        if a == b && self.inside_by_home() {
            self.inside(a, cell.home)
        } else {
            a.min(b) * self.groups + a.max(b)
        }
    }

    fn inside(&self, group: usize, home: usize) -> usize {
        self.offset(self.group.len(), 0) + group * self.homes + home
    }

    fn unknowns(&self) -> usize {
        self.inside(self.groups, 0)
    }

    fn offset(&self, pu: usize, home: usize) -> usize {
        self.groups * self.groups + pu * self.homes + home
    }

    fn row(&self, cell: &HomeDistance) -> Equation {
        let offsets = [cell.i, cell.j].map(|pu| (self.offset(pu, cell.home), 1.0));
        Equation {
            terms: vec![(self.block(cell), 1.0), offsets[0], offsets[1]],
            value: cell.value,
            weight: cell.weight,
        }
    }
}

/// Fits the model, given the group of each PU, from 0 without gaps, and the number of homes. B
/// becomes the median residual of each block, so a few wrong cells do not shift it.
pub fn fit(group: &[usize], homes: usize, cells: &[HomeDistance]) -> BlockStarFit {
    let groups = linkage::count(group);
    let machine = &Counted { group, homes, groups };
    let rows: Vec<Equation> = cells.iter().map(|cell| machine.row(cell)).collect();
    // Without a ridge: `centre` settles the common constant.
    let unknowns = solve(&rows, &vec![0.0; machine.unknowns()]);
    let mut offset_ns: Vec<Vec<f64>> = (0..group.len())
        .map(|pu| (0..machine.homes).map(|home| unknowns[machine.offset(pu, home)]).collect())
        .collect();
    centre(machine, cells, &mut offset_ns);
    let mut left = vec![Vec::new(); machine.unknowns()];
    for cell in cells {
        left[machine.block(cell)]
            .push(cell.value - offset_ns[cell.i][cell.home] - offset_ns[cell.j][cell.home]);
    }
    let base: Vec<f64> = left.iter().map(|values| median(values).unwrap_or(f64::NAN)).collect();
    let inside_ns: Option<Vec<Vec<f64>>> = machine.inside_by_home().then(|| {
        (0..groups)
            .map(|group| (0..machine.homes).map(|home| base[machine.inside(group, home)]).collect())
            .collect()
    });
    let between_ns = Matrix::from_fn(groups, |a, b| match inside_ns.as_ref().filter(|_| a == b) {
        Some(inside) => median(&inside[a]).unwrap_or(f64::NAN),
        None => base[a.min(b) * groups + a.max(b)],
    });
    let (r2, residual_ns) = quality(cells, |cell| base[machine.block(cell)], &offset_ns);
    BlockStarFit { between_ns, inside_ns, offset_ns, r2, residual_ns }
}

/// Gives the offsets of each group zero mean over its PUs and homes; B absorbs the rest.
fn centre(machine: &Counted, cells: &[HomeDistance], offset_ns: &mut [Vec<f64>]) {
    let mut seen = vec![vec![false; machine.homes]; machine.group.len()];
    for cell in cells {
        seen[cell.i][cell.home] = true;
        seen[cell.j][cell.home] = true;
    }
    let known: Vec<Vec<usize>> =
        seen.iter().map(|homes| (0..machine.homes).filter(|home| homes[*home]).collect()).collect();
    let mut total = vec![(0.0, 0.0); machine.groups];
    for (pu, row) in offset_ns.iter().enumerate() {
        for &home in &known[pu] {
            total[machine.group[pu]].0 += row[home];
            total[machine.group[pu]].1 += 1.0;
        }
    }
    for (pu, row) in offset_ns.iter_mut().enumerate() {
        let (sum, count) = total[machine.group[pu]];
        for &home in &known[pu] {
            row[home] -= sum / count;
        }
    }
}

fn quality(
    cells: &[HomeDistance],
    base_ns: impl Fn(&HomeDistance) -> f64,
    offset_ns: &[Vec<f64>],
) -> (f64, f64) {
    let weight: f64 = cells.iter().map(|cell| cell.weight).sum();
    let mean = weighted_sum(cells, |cell| cell.value) / weight;
    let left = weighted_sum(cells, |cell| {
        let [a, b] = [cell.i, cell.j].map(|pu| offset_ns[pu][cell.home]);
        (cell.value - base_ns(cell) - a - b).powi(2)
    });
    let all = weighted_sum(cells, |cell| (cell.value - mean).powi(2));
    // Rounding leaves about 1e-12 of a zero variance.
    let r2 = if all > 1e-9 * weight * mean.abs().max(1.0) { 1.0 - left / all } else { 1.0 };
    (r2, if weight > 0.0 { (left / weight).sqrt() } else { 0.0 })
}

fn weighted_sum(cells: &[HomeDistance], term: impl Fn(&HomeDistance) -> f64) -> f64 {
    cells.iter().map(|cell| cell.weight * term(cell)).sum()
}
