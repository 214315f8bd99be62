//! Compares the found homes with a model that knows them.

use crate::schedule::all_pairs;
use crate::testbed_probe::candidate;
use seatmap_data::machine::{HomeLines, HomesChecked, Rate};
use seatmap_sim::CoherentModel;

/// Counts correct pairs of lines and nearest PUs; none if homes are not resolvable. `candidates`
/// are the probe's lines, in the order of `lines.home_of_line`.
pub fn checked(
    lines: &HomeLines,
    model: &CoherentModel,
    candidates: &[u32],
    pus: &[u32],
) -> HomesChecked {
    let simulated: Vec<u32> = candidates.iter().map(|line| candidate(*line).line_index()).collect();
    let mut found = Rate::default();
    let mut said = Rate::default();
    let mut nearest = Rate::default();
    for (a, b) in all_pairs(simulated.len().min(lines.home_of_line.len())) {
        let together = lines.resolvable && lines.home_of_line[a] == lines.home_of_line[b];
        let truly = model.home_of(simulated[a]) == model.home_of(simulated[b]);
        // Recall: of pairs that share a home. Precision: of pairs reported to share one.
        if truly {
            found.count(together);
        }
        if together {
            said.count(truly);
        }
    }
    for (line, home) in simulated.iter().zip(&lines.home_of_line) {
        let pu = lines.nearest_pu.get(*home as usize).filter(|_| lines.resolvable);
        let least = pus.iter().filter_map(|pu| model.ways_to_home(*pu, *line)).min();
        nearest.count(pu.is_some_and(|pu| model.ways_to_home(*pu, *line) == least));
    }
    HomesChecked { found, said, nearest }
}
