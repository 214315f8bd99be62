//! A solved QAPLIB instance, for a terminal.

use crate::words::{joined, visible};
use seatmap_measure::appraise::QapSolution;

/// The cost, the bound, and the location of each item, in two lines.
pub fn text(file: &str, solution: &QapSolution) -> String {
    let QapSolution { n, cost, method, lower_bound, seconds, .. } = solution;
    let file = visible(file);
    let proven = if solution.optimal { ", optimal" } else { "" };
    let places = joined(&solution.permutation, " ");
    format!(
        "{file}: n = {n}, cost {cost}{proven} ({method}), lower bound {lower_bound}, \
         {seconds:.2} s\n{places}\n"
    )
}
