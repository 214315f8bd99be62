//! Sorts candidate lines by home, without privileges.
//!
//! FindTD of Liu et al. searches for the PU nearest to a line, because its tag directory is there.
//! Lines with the same home are equally far from everywhere, so measuring from a few hubs to all
//! PUs reveals the homes without the hash, physical addresses or floor plan: compute the offsets
//! a_i without the common part ([`features`]), and group lines with equal offsets ([`grouping`]).
//! On a busy machine all pairs are measured simultaneously ([`crowd`]).

mod checked;
pub mod crowd;
pub mod features;
pub mod grouping;
mod principal;
mod samples;
mod ward;

pub use checked::checked;
pub use grouping::{Grouping, group_lines};
pub use samples::LineSamples;

use crate::fit::block_star::{BlockStarFit, HomeDistance, fit};
use seatmap_data::machine::{HomeLines, HomeModel};
use seatmap_data::statistics::{Ordered, median};

/// Sorts the lines by home and gives the model a column of offsets per home; refits B as far as the
/// samples allow.
///
/// `r2` and `residual_ns` then describe the medians over the lines of each home. If the homes
/// cannot be distinguished, the model keeps its single home.
pub fn fit_homes(model: &mut HomeModel, samples: &LineSamples) {
    let group: Option<Vec<usize>> = model.group_of(&samples.pus).into_iter().collect();
    let grouping = match &group {
        Some(group) => group_lines(&between_groups(samples, group)),
        None => group_lines(samples),
    };
    if let Some(group) = group.filter(|_| grouping.resolvable) {
        let cells = cells(samples, &grouping);
        take(model, fit(&group, grouping.homes(), &cells), &group);
    }
    let known = samples.median_ns.iter().flatten().flatten().filter(|ns| ns.is_finite());
    set_lines(model, &samples.pus, grouping, known.count());
}

fn set_lines(model: &mut HomeModel, pus: &[u32], grouping: Grouping, samples: usize) {
    model.lines = Some(HomeLines {
        nearest_pu: nearest_pus(model, pus),
        home_of_line: grouping.home_of_line,
        confidence: grouping.confidence,
        resolvable: grouping.resolvable,
        samples: samples as u64,
        checked: None,
    });
}

/// Without pairs inside groups, which do not depend on the home. Two groups are too few, because
/// pairs between them do not show to which a home is nearer.
fn between_groups(samples: &LineSamples, group: &[usize]) -> LineSamples {
    let mut between = samples.clone();
    if group.iter().max().is_none_or(|last| *last < 2) {
        return between;
    }
    for (at, hub) in samples.hub_rows() {
        let inside = (0..group.len()).filter(|pu| group[*pu] == group[hub]);
        for pu in inside {
            let of_line =
                between.median_ns.iter_mut().filter_map(|hubs| hubs.get_mut(at)?.get_mut(pu));
            of_line.for_each(|cell| *cell = f64::NAN);
        }
    }
    between
}

/// Keeps B if the hubs' rows do not determine it.
fn take(model: &mut HomeModel, fit: BlockStarFit, group: &[usize]) {
    let old = model.clone();
    for (a, b, new) in fit.between_ns.pairs().filter(|(_, _, new)| new.is_finite()) {
        model.between_ns.set_both(a, b, *new);
    }
    model.inside_ns = fit.inside_ns.map(|inside| filled(inside, &old, &fit.offset_ns, group));
    for a in 0..model.between_ns.n() {
        let new = model
            .inside_ns
            .as_ref()
            .map_or(Some(fit.between_ns[(a, a)]), |inside| median(&inside[a]));
        model.between_ns[(a, a)] =
            new.filter(|new| new.is_finite()).unwrap_or(old.between_ns[(a, a)]);
    }
    model.offset_ns = fit.offset_ns;
    model.r2 = fit.r2;
    model.residual_ns = fit.residual_ns;
}

/// Groups without a hub are assumed to change with the home like the others.
fn filled(
    mut inside: Vec<Vec<f64>>,
    old: &HomeModel,
    offset_ns: &[Vec<f64>],
    group: &[usize],
) -> Vec<Vec<f64>> {
    for home in 0..inside.first().map_or(0, Vec::len) {
        let changes = inside.iter().enumerate().map(|(at, homes)| {
            let level = homes[home] + 2.0 * mean_of_group(offset_ns, group, at, home);
            level - level_before(old, group, at)
        });
        let change_ns = median(changes).unwrap_or(0.0);
        for (at, homes) in
            inside.iter_mut().enumerate().filter(|(_, homes)| !homes[home].is_finite())
        {
            homes[home] = level_before(old, group, at) + change_ns
                - 2.0 * mean_of_group(offset_ns, group, at, home);
        }
    }
    inside
}

fn level_before(old: &HomeModel, group: &[usize], at: usize) -> f64 {
    old.between_ns[(at, at)] + 2.0 * mean_of_group(&old.offset_ns, group, at, 0)
}

fn mean_of_group(offsets: &[Vec<f64>], group: &[usize], at: usize, home: usize) -> f64 {
    let of_group: Vec<f64> =
        offsets.iter().zip(group).filter(|(_, of)| **of == at).map(|(row, _)| row[home]).collect();
    of_group.iter().sum::<f64>() / of_group.len().max(1) as f64
}

fn nearest_pus(model: &HomeModel, pus: &[u32]) -> Vec<u32> {
    (0..model.homes())
        .filter_map(|home| {
            let offsets = pus
                .iter()
                .zip(&model.offset_ns)
                .filter_map(|(pu, row)| Some((*pu, *row.get(home)?)));
            offsets.min_by_key(|it| Ordered(it.1)).map(|(pu, _)| pu)
        })
        .collect()
}

fn cells(samples: &LineSamples, grouping: &Grouping) -> Vec<HomeDistance> {
    let mut cells = Vec::new();
    for (home, lines) in grouping.lines_of_homes().iter().enumerate() {
        for (at, hub) in samples.hub_rows() {
            for pu in (0..samples.pus.len()).filter(|pu| *pu != hub) {
                // Lines of a home repeat one distance.
                let values = lines.iter().map(|line| samples.ns(*line, at, pu));
                let Some(value) = median(values) else { continue };
                cells.push(HomeDistance { i: hub, j: pu, home, value, weight: lines.len() as f64 });
            }
        }
    }
    cells
}
