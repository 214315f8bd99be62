//! Busy pairs at random, and in slices.

use super::{ChannelRuns, ChannelSeating, ChannelsError, Chip, FIRST_LINE, round_trips};
use crate::channels::find_td::find_td;
use fastrand::Rng;
use seatmap_data::port::Testbed;
use seatmap_data::statistics::{median, quantile};
use serde::Serialize;
use std::collections::BTreeSet;

/// The options of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct SlicesOptions {
    /// Pairs at once.
    pub pairs: usize,
    /// Slices of the ring.
    pub sections: usize,
    /// Candidate lines, from which each slice takes those with their home in it; the paper has a
    /// quarter more lines than pairs.
    pub lines: usize,
    /// Draws of seats and lines.
    pub runs: u32,
    /// Timed batches.
    pub batches: u32,
    /// The seed of the draws.
    pub seed: u64,
}

/// Distances of many pairs at once, at random and in slices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slices {
    /// Pairs at once.
    pub pairs: usize,
    /// Slices.
    pub sections: usize,
    /// The times with seats and lines at random.
    pub random: RoundTripSpread,
    /// The times in the Pizza Slice algorithm's placement.
    pub sliced: RoundTripSpread,
    /// The share of pairs whose line has its home in their slice; null if the same core is nearest
    /// to all lines, because then lines have no homes.
    pub at_home_share: Option<f64>,
    /// The seats in the last run.
    #[serde(skip)]
    pub seated: Option<ChannelRuns>,
}

/// Round trips of all pairs in all runs, in cycles of the machine's clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundTripSpread {
    /// The median.
    pub median_cycles: f64,
    /// The time that a tenth of the pairs exceeds.
    pub p90_cycles: f64,
    /// The largest mean of a pair.
    pub most_cycles: f64,
    /// The slowest batch of all pairs.
    pub slowest_cycles: f64,
}

/// Compares random seats with those of the Pizza Slice algorithm.
///
/// # Errors
/// More pairs than lines or than PUs, sections that do not divide the cores, or the testbed's
/// error.
pub fn slices<T: Testbed>(
    bed: &mut T,
    chip: &Chip,
    options: &SlicesOptions,
) -> Result<Slices, ChannelsError> {
    let sections = chip.sections(options.sections)?;
    enough(options.pairs, options.lines)?;
    let mut rng = Rng::with_seed(options.seed);
    let mut random = Vec::new();
    let mut sliced = Vec::new();
    let mut at_home = 0;
    let mut last = None;
    let mut nearest = BTreeSet::new();
    for _ in 0..options.runs {
        let lines: Vec<u32> =
            (0..options.lines as u32).map(|at| FIRST_LINE + 64 * at + rng.u32(..64)).collect();
        let usual = ChannelSeating {
            pus: chip.pairs(options.pairs, &[], &mut rng)?,
            lines: lines[..options.pairs].to_vec(),
        };
        // The usual run has the first lines as drawn.
        random.extend(round_trips(bed, &usual.pus, &usual.lines, options.batches)?.0);
        let homes = lines.iter().map(|line| Ok((*line, find_td(bed, chip, *line, 1)?.core)));
        let homes = homes.collect::<Result<Vec<(u32, usize)>, ChannelsError>>()?;
        nearest.extend(homes.iter().map(|(_, core)| *core));
        let (chosen, found) = in_slices(&homes, options.pairs, &sections);
        at_home += found;
        let placed = ChannelSeating {
            pus: seated(chip, options.pairs, &sections, &mut rng)?,
            lines: chosen,
        };
        sliced.extend(round_trips(bed, &placed.pus, &placed.lines, options.batches)?.0);
        last = Some(ChannelRuns::pairs(usual, placed));
    }
    Ok(Slices {
        pairs: options.pairs,
        sections: options.sections,
        random: spread(&random),
        sliced: spread(&sliced),
        at_home_share: (nearest.len() > 1)
            .then(|| at_home as f64 / (options.pairs * options.runs as usize).max(1) as f64),
        seated: last,
    })
}

/// Checks that there are enough lines.
///
/// # Errors
/// There are fewer lines than channels.
pub(super) fn enough(channels: usize, lines: usize) -> Result<(), ChannelsError> {
    if channels <= lines {
        Ok(())
    } else {
        Err(ChannelsError::Unfit(format!(
            "{channels} channels need a line each, but there are {lines}"
        )))
    }
}

/// A line for each pair, with the pairs distributed over the sections, and the number of lines with
/// their home in the pair's section. If none is left, any other line is used (footnote 3 of the
/// paper).
pub(super) fn in_slices(
    homes: &[(u32, usize)],
    pairs: usize,
    sections: &[std::ops::Range<usize>],
) -> (Vec<u32>, usize) {
    let mut free = homes.to_vec();
    let mut chosen = vec![None; pairs];
    for pair in 0..pairs {
        let at = free.iter().position(|(_, core)| sections[pair % sections.len()].contains(core));
        chosen[pair] = at.map(|at| free.remove(at).0);
    }
    let at_home = chosen.iter().flatten().count();
    let mut rest = free.into_iter().map(|(line, _)| line);
    (chosen.into_iter().filter_map(|line| line.or_else(|| rest.next())).collect(), at_home)
}

fn seated(
    chip: &Chip,
    pairs: usize,
    sections: &[std::ops::Range<usize>],
    rng: &mut Rng,
) -> Result<Vec<u32>, ChannelsError> {
    let each = sections
        .iter()
        .enumerate()
        .map(|(at, cores)| {
            let pus = chip.cores[cores.clone()].concat();
            chip.pairs_of(pus, (at..pairs).step_by(sections.len()).count(), rng)
        })
        .collect::<Result<Vec<Vec<u32>>, _>>()?;
    Ok((0..pairs)
        .flat_map(|pair| {
            // This is the pair's position in its section.
            let at = 2 * (pair / sections.len());
            each[pair % sections.len()][at..at + 2].to_vec()
        })
        .collect())
}

fn spread(pairs: &[super::RoundTrips]) -> RoundTripSpread {
    let means: Vec<f64> = pairs.iter().map(|pair| pair.mean).collect();
    RoundTripSpread {
        median_cycles: median(&means).unwrap_or(f64::NAN),
        p90_cycles: quantile(&means, 0.9).unwrap_or(f64::NAN),
        most_cycles: means.iter().copied().fold(0.0, f64::max),
        slowest_cycles: pairs.iter().map(|pair| pair.slowest).fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_to_the_section_of_their_home() {
        let homes = [(10, 3), (11, 0), (12, 1), (13, 3), (14, 3)];
        // Sections 0 and 1 have two lines each at home.
        assert_eq!(in_slices(&homes, 4, &[0..2, 2..4]), (vec![11, 10, 12, 13], 4));
        // The third pair of a section takes a remaining line.
        assert_eq!(in_slices(&homes, 5, &[0..2, 2..4]), (vec![11, 10, 12, 13, 14], 4));
        assert!(enough(6, 5).is_err());
    }
}
