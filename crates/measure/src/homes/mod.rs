//! Candidate lines sorted by home, without privileges.
//!
//! Liu et al.'s FindTD looks for the PU from which one line is nearest, for that is where its tag directory is. Two
//! lines with the same home are equally far from everywhere, so with N candidate lines the homes can be found without
//! knowing the hash, the physical address or the floor plan: measure each line from a few hubs to all PUs, take the
//! offsets a_i that are left when what all lines share is gone ([`features`]), and gather the lines whose offsets agree
//! ([`grouping`]). One 4 KiB page has a line at every home on the processors whose hashes are published.

pub mod features;
pub mod grouping;
mod principal;
mod samples;
mod ward;

pub use grouping::{Grouping, group_lines};
pub use samples::LineSamples;

use crate::fit::block_star::{Cell, Fit, Machine, fit};
use crate::statistics::median;
use seatmap_machine::{HomeLines, HomeModel};

/// Sorts the lines by home and gives the model one column of offsets a home, refitting B where the samples reach.
///
/// `r2` and `residual_ns` then speak of the medians over the lines of each home. Where the homes cannot be told apart,
/// the model keeps its single home, and says so in `lines`.
pub fn fit_homes(model: &mut HomeModel, samples: &LineSamples) {
    let grouping = group_lines(samples);
    let group: Option<Vec<usize>> = model.group_of(&samples.pus).into_iter().collect();
    if let Some(group) = group.filter(|_| grouping.resolvable) {
        let machine = Machine { group: &group, n: samples.pus.len(), homes: grouping.homes() };
        take(model, fit(&machine, &cells(samples, &grouping)));
    }
    model.lines = Some(HomeLines {
        nearest_pu: (0..model.homes()).filter_map(|home| nearest(model, samples, home)).collect(),
        home_of_line: grouping.home_of_line,
        confidence: grouping.confidence,
        resolvable: grouping.resolvable,
    });
}

/// Puts a fit into the model. B stays where the hubs' rows say nothing.
fn take(model: &mut HomeModel, fit: Fit) {
    let (groups, old) = (fit.between_ns.n(), model.between_ns.clone());
    for a in 0..groups.min(old.n()) {
        for b in a..groups.min(old.n()) {
            let new = fit.between_ns[(a, b)];
            model.between_ns.set_both(a, b, if new.is_finite() { new } else { old[(a, b)] });
        }
    }
    model.offset_ns = fit.offset_ns;
    model.r2 = fit.r2;
    model.residual_ns = fit.residual_ns;
}

/// The PU with the smallest offset towards a home.
fn nearest(model: &HomeModel, samples: &LineSamples, home: usize) -> Option<u32> {
    let offsets = samples.pus.iter().zip(&model.offset_ns).filter_map(|(pu, row)| Some((*pu, *row.get(home)?)));
    offsets.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(pu, _)| pu)
}

/// The median over the lines of each home, from each hub to each PU.
fn cells(samples: &LineSamples, grouping: &Grouping) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (home, lines) in grouping.lines_of_homes().iter().enumerate() {
        for (at, hub) in samples.hub_rows() {
            for pu in (0..samples.pus.len()).filter(|pu| *pu != hub) {
                let values: Vec<f64> = lines.iter().map(|line| samples.ns(*line, at, pu)).collect();
                let Some(value) = median(&values) else { continue };
                cells.push(Cell { i: hub, j: pu, home, value, weight: lines.len() as f64 });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests;
