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
//! | [`hubs`] | the few PUs from which lines are measured |

pub mod block_star;
pub mod groups;
pub mod hubs;
pub mod least_squares;
pub mod linkage;
pub mod quantile;
pub mod siblings;
pub mod star;

use block_star::HomeDistance;
use seatmap_data::machine::{CoreDistance, HomeModel, Profile, Topology};
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
    // Siblings share a first-level cache, so their distance does not depend on the home.
    let apart = d.pairs().filter(|(i, j, cell)| core[*i] != core[*j] && cell.is_finite());
    let cells: Vec<HomeDistance> =
        apart.map(|(i, j, value)| HomeDistance::of_one_home(i, j, *value)).collect();
    let fit = block_star::fit(&group, 1, &cells);
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
        smt_ns: median(d.pairs().filter_map(|(i, j, cell)| (core[i] == core[j]).then_some(*cell))),
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

fn members(group: &[usize], pus: &[u32]) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); linkage::count(group)];
    for (pu, group) in pus.iter().zip(group) {
        members[*group].push(*pu);
    }
    members
}
