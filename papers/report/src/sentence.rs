//! The first sentence of each page, which interprets the figures.

use seatmap_data::statistics::words::counted_figure;
use seatmap_experiments::channels::slices::Slices;
use seatmap_experiments::channels::{ChannelsResult, ExperimentFigures, SeatGain};
use seatmap_experiments::rank::Ranking;
use seatmap_report::counted;

/// A speed-up that differs from 1 by less is not worth a move.
const NO_GAIN: f64 = 0.02;

pub fn of_ranking(ranking: &Ranking) -> String {
    let found = format!(
        "{} is the fastest of {}; a random one takes {:.2} times as long on average, the worst \
         {:.2} times",
        ranking.best,
        counted(ranking.mappings, "mapping"),
        ranking.mean_to_best,
        ranking.best_to_worst
    );
    match ranking.may_be_best {
        Some(set) if set.mappings == 1 => {
            format!(
                "{found}, and no other may be the best ({:.0} % confidence).",
                100.0 * set.confidence
            )
        }
        Some(set) => format!(
            "{found}, but {} of them may be the best ({:.0} % confidence).",
            set.mappings,
            100.0 * set.confidence
        ),
        None => format!("{found}; one run cannot show which others may be the best."),
    }
}

pub fn of_channels(found: &ChannelsResult) -> String {
    match &found.figures {
        ExperimentFigures::Curve(figures) => format!(
            "Over this line CPU {} is nearest to CPU {}, {}, and the farthest takes {:.1} times as \
             long: seat the partner near the line's home.",
            figures.nearest,
            figures.from,
            counted_figure(figures.least_cycles, 0, "cycle"),
            figures.most_cycles / figures.least_cycles
        ),
        ExperimentFigures::Slices(figures) => of_slices(figures),
        ExperimentFigures::Gain(figures) => of_gain(figures),
    }
}

fn of_slices(figures: &Slices) -> String {
    let percent = 100.0 * (1.0 - figures.sliced.median_cycles / figures.random.median_cycles);
    let word = if percent < 0.0 { "more" } else { "fewer" };
    let advice = if percent > 100.0 * NO_GAIN {
        "keep pairs in separate slices"
    } else {
        "slices gain nothing here"
    };
    // Plural: a share of cycles.
    format!(
        "In slices the median pair takes {:.0} % {word} cycles than at random: {advice}.",
        percent.abs()
    )
}

fn of_gain(figures: &SeatGain) -> String {
    let advice = match figures.median {
        gain if gain > 1.0 + NO_GAIN => {
            "search for the homes of the lines before seating the threads"
        }
        gain if gain < 1.0 - NO_GAIN => "the search for homes costs more than it gains",
        _ => "the search for homes only breaks even",
    };
    let comparisons = counted(figures.speed_ups.len(), "comparison");
    format!(
        "Seated near the homes of its lines a run is {:.2} times as fast as usual (median of \
         {comparisons}, the search included): {advice}.",
        figures.median
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn ranking_sentence_compares_best_and_random() {
        let all = [1, 2].map(|runs| of_ranking(&samples::ranking(runs)));
        insta::assert_snapshot!(all.join("\n"), @"
        [0321] is the fastest of 6 mappings; a random one takes 1.25 times as long on average, the worst 1.50 times; one run cannot show which others may be the best.
        [0321] is the fastest of 6 mappings; a random one takes 1.25 times as long on average, the worst 1.49 times, and no other may be the best (95 % confidence).
        ");
    }

    #[test]
    fn gains_and_losses_get_different_advice() {
        let gain = |median| SeatGain {
            speed_ups: vec![median; 3],
            mean: median,
            median,
            least: median,
            most: median,
            slower: 0,
            search_seconds: 0.0,
            search_share: 0.0,
            mean_without_search: median,
            least_without_search: median,
            most_without_search: median,
            seated: None,
        };
        insta::assert_snapshot!([1.5, 1.0, 0.7].map(|median| of_gain(&gain(median))).join("\n"), @"
        Seated near the homes of its lines a run is 1.50 times as fast as usual (median of 3 comparisons, the search included): search for the homes of the lines before seating the threads.
        Seated near the homes of its lines a run is 1.00 times as fast as usual (median of 3 comparisons, the search included): the search for homes only breaks even.
        Seated near the homes of its lines a run is 0.70 times as fast as usual (median of 3 comparisons, the search included): the search for homes costs more than it gains.
        ");
    }
}
