//! Fits that explain distances: d(i, j, home) = B\[group(i), group(j)\] + a_i(home) + a_j(home).
//!
//! Every transfer goes to the home and back. With distributed tag directories a PU's distance to
//! any other is therefore, up to a constant, its distance to the home (Liu et al. 2015). B depends
//! only on the groups of the two PUs: core complexes, clusters or sockets.
//!
//! | module | does |
//! |---|---|
//! | [`siblings`] | which PUs are hardware threads of one core |
//! | [`groups`], [`linkage`] | which cores form a group |
//! | [`block_star`], [`least_squares`] | B and a by least squares |
//! | [`quantile`] | the same without the delays from other load |
//! | [`star`] | the share of distances that the home explains |
//! | [`hubs`] | all distances from the rows of a few PUs |

pub mod block_star;
pub mod groups;
pub mod hubs;
pub mod least_squares;
pub mod linkage;
pub mod quantile;
pub mod siblings;
pub mod star;

use block_star::{GroupedMachine, HomeDistance};
use seatmap_data::machine::{CoreDistance, HomeModel, Matrix, Profile, Topology};
use seatmap_data::statistics::median;

const EMPTY_FROM: f64 = 0.95;

/// Explains the median distances; `None` without distances.
///
/// The groups come from the distances alone, SMT siblings from the topology if known. The fit
/// excludes siblings; only their median is kept. All distances are for one line, so there is one
/// home.
pub fn explain(distance: &CoreDistance, topology: &Topology) -> Option<HomeModel> {
    let d = &distance.median_ns;
    d.pairs().find(|(_, _, cell)| cell.is_finite())?;
    let core = siblings::cores(distance, topology);
    let group = groups::find(d, &core);
    let machine = GroupedMachine { group: &group, n: d.n(), homes: 1 };
    // Siblings share a first-level cache, so their distance does not depend on the home.
    let cells: Vec<HomeDistance> = apart(d, &core)
        .map(|(i, j, value)| HomeDistance { i, j, home: 0, value, weight: 1.0 })
        .collect();
    let fit = block_star::fit(&machine, &cells);
    let star_r2 = star::r2(d, &core, &group);
    Some(HomeModel {
        groups: members(&group, &distance.pus),
        between_ns: fit.between_ns,
        inside_ns: None,
        offset_ns: fit.offset_ns,
        r2: fit.r2,
        residual_ns: fit.residual_ns,
        pair_view_empty: star_r2.is_some_and(|r2| r2 > EMPTY_FROM),
        star_r2,
        smt_ns: median(
            d.pairs()
                .filter_map(|(i, j, cell)| (core[i] == core[j]).then_some(*cell))
                .collect::<Vec<_>>(),
        ),
        lines: None,
    })
}

/// A profile's model, or else an explanation of its distances, if it has any.
pub fn model_of(profile: &Profile) -> Option<HomeModel> {
    profile
        .home_model
        .clone()
        .or_else(|| explain(profile.core_distance.as_ref()?, &profile.topology))
}

fn apart<'a>(d: &'a Matrix, core: &'a [usize]) -> impl Iterator<Item = (usize, usize, f64)> + 'a {
    d.pairs()
        .filter(|(i, j, cell)| core[*i] != core[*j] && cell.is_finite())
        .map(|(i, j, cell)| (i, j, *cell))
}

fn members(group: &[usize], pus: &[u32]) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); linkage::count(group)];
    for (pu, group) in pus.iter().zip(group) {
        members[*group].push(*pu);
    }
    members
}

/// The model's round trip between the PUs in rows `i` and `j` of `pus`, in nanoseconds; meaningless
/// for SMT siblings. `None` for a PU with itself, or if unknown.
pub fn predict(model: &HomeModel, pus: &[u32], i: usize, j: usize, home: usize) -> Option<f64> {
    model.round_trip_ns(pus, i, j, home).filter(|_| i != j)
}

#[cfg(test)]
mod tests;
