//! Notes for the reader of an imported file.

use crate::statistics::words::{agreeing, counted};

/// A remark on an imported file for users of its figures.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProfileNote {
    /// The figures fall on multiples of a clock step too coarse for them.
    #[error(
        "the figures are multiples of {step_ns:.1} ns (round trip), the step of a coarse clock: \
         smaller differences mean nothing; measure again with a finer clock"
    )]
    Quantised {
        /// Step, round trip.
        step_ns: f64,
    },
    /// The file counts cycles without a clock frequency.
    #[error(
        "the file counts cycles without a clock frequency: {:.1} GHz was assumed, so only ratios \
         can be trusted; give the processor's nominal frequency with --frequency",
        .frequency_hz / 1e9
    )]
    AssumedFrequency {
        /// Assumed frequency.
        frequency_hz: f64,
    },
    /// The two directions of some pairs differ; a round trip has one of each, so they were added.
    #[error(
        "{} {} by direction, by up to {:.0} % of the round trip: both directions were added",
        counted(.pairs, "pair"),
        agreeing(*.pairs, "differs", "differ"),
        100.0 * .worst
    )]
    Asymmetric {
        /// Pairs.
        pairs: usize,
        /// Largest difference, relative to the pair's round trip.
        worst: f64,
    },
    /// The file does not name the CPUs of its rows; they were numbered from 0.
    #[error(
        "the rows have no CPU numbers: CPUs 0-{} were assumed; if the measurement left CPUs out, \
         name those of the rows with --cpus LIST",
        .rows.saturating_sub(1)
    )]
    RowsInOrder {
        /// Rows.
        rows: usize,
    },
    /// Pairs without a figure; they are `null` in the profile.
    #[error("no figure for {}: unknown in the profile", counted(.pairs, "pair"))]
    Unknown {
        /// Pairs.
        pairs: usize,
    },
    /// Two parts of the machine overlap without nesting; one was omitted.
    #[error(
        "the files contradict each other: the {left_out} and the {earlier} overlap; the first one \
         was left out"
    )]
    Contradiction {
        /// Omitted part, with its PUs.
        left_out: String,
        /// The other one.
        earlier: String,
    },
    /// Distances between PUs in an unknown unit; they were omitted.
    #[error(
        "the distances '{name}' between PUs were left out: their unit is unknown; only Seatmap's \
         own, in picoseconds, are read"
    )]
    ForeignDistances {
        /// Their name in the file.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_explain_the_remedy() {
        let note = ProfileNote::AssumedFrequency { frequency_hz: 2.5e9 };
        insta::assert_snapshot!(note, @"the file counts cycles without a clock frequency: 2.5 GHz was assumed, so only ratios can be trusted; give the processor's nominal frequency with --frequency");
        let note = ProfileNote::Asymmetric { pairs: 3, worst: 0.25 };
        insta::assert_snapshot!(note, @"3 pairs differ by direction, by up to 25 % of the round trip: both directions were added");
    }
}
