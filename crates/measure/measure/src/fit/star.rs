//! The share of distances that the home explains.

use super::block_star::{HomeDistance, fit};
use super::groups::between_cores;
use super::linkage;
use seatmap_data::machine::Matrix;
use seatmap_data::statistics::{MAD_TO_SIGMA, mad, mean, median};

/// A good measurement repeats to this share of the median.
const NOTHING_VARIES: f64 = 0.005;

/// The share of the variance inside the groups that a star a_i + a_j per group explains.
///
/// Cores count instead of PUs, because siblings repeat each other. A star of n cores is charged for
/// its n unknowns (adjusted R2); it fits groups of up to three exactly, so these are excluded.
/// `None` without a large enough group, or if the distances do not vary.
pub fn r2(d: &Matrix, core: &[usize], group: &[usize]) -> Option<f64> {
    let between = between_cores(d, core);
    let mut group_of_core = vec![0; between.n()];
    core.iter().zip(group).for_each(|(core, group)| group_of_core[*core] = *group);
    let mut pooled = Pooled::default();
    for at in 0..linkage::count(group) {
        let members: Vec<usize> =
            (0..between.n()).filter(|core| group_of_core[*core] == at).collect();
        pooled.add(&Matrix::from_fn(members.len(), |i, j| between[(members[i], members[j])]));
    }
    pooled.r2()
}

#[derive(Default)]
struct Pooled {
    all: f64,
    left: f64,
    freedom: f64,
    freedom_left: f64,
    varies: bool,
}

impl Pooled {
    fn add(&mut self, inside: &Matrix) {
        let known = inside.pairs().filter(|(_, _, value)| value.is_finite());
        let cells: Vec<HomeDistance> =
            known.map(|(i, j, value)| HomeDistance::of_one_home(i, j, *value)).collect();
        if cells.len() <= inside.n() {
            return;
        }
        let values: Vec<f64> = cells.iter().map(|cell| cell.value).collect();
        let middle = mean(&values);
        let fit = fit(&vec![0; inside.n()], 1, &cells);
        self.all += values.iter().map(|value| (value - middle).powi(2)).sum::<f64>();
        self.left += fit.residual_ns.powi(2) * values.len() as f64;
        // The mean takes one degree of freedom, the star one per PU.
        self.freedom += values.len() as f64 - 1.0;
        self.freedom_left += (values.len() - inside.n()) as f64;
        let scatter = MAD_TO_SIGMA * mad(&values).unwrap_or_default();
        self.varies |= scatter > NOTHING_VARIES * median(&values).unwrap_or_default();
    }

    fn r2(&self) -> Option<f64> {
        let r2 = 1.0 - (self.left / self.freedom_left) / (self.all / self.freedom);
        (self.varies && r2.is_finite()).then_some(r2.max(0.0))
    }
}
