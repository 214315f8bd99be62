//! Reports the gain of seats near the homes of lines.

use seatmap_data::machine::Profile;
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_data::plan::Plan;
use seatmap_data::statistics::words::counted_figure;
use seatmap_experiments::channels::slices::RoundTripSpread;
use seatmap_experiments::channels::{
    ChannelRuns, ChannelSeating, ChannelsResult, ExperimentFigures,
};
use seatmap_report::counted;
use seatmap_report::floor::{DrawnPlacement, FloorPlan, SeatingComparison};
use seatmap_sim::CoherentModel;

/// A comparison's channels as a pattern, in order and with equal weights.
pub fn pattern(seated: &ChannelRuns) -> Pattern {
    // Equal weights, because messages were not counted.
    let mut pattern = Pattern::gathered("channels", seated.usual.pus.len(), []);
    pattern.edges = seated
        .channels
        .iter()
        .map(|(from, to)| Edge { from: *from, to: *to, bytes: 1.0, messages: 1.0 })
        .collect();
    pattern
}

/// The last comparison on the machine: threads, and lines at their homes if a model knows them.
pub fn comparison<'a>(
    found: &ChannelsResult,
    seated: &ChannelRuns,
    pattern: &'a Pattern,
    profile: &Profile,
    model: Option<&CoherentModel>,
) -> SeatingComparison<'a> {
    // Each experiment's usual seats, and those that Liu et al. propose.
    let titles = match found.figures {
        ExperimentFigures::Curve(_) => ["to the farthest core", "to the nearest core"],
        ExperimentFigures::Slices(_) => ["at random", "in slices"],
        ExperimentFigures::Gain(_) => ["at random", "near the homes"],
    };
    let plan = Plan {
        pattern: Some(found.what.to_owned()),
        ..Plan::new(profile.name.clone(), seated.placed.pus.clone())
    };
    let seatings =
        [seating(model, titles[0], &seated.usual), seating(model, titles[1], &seated.placed)];
    SeatingComparison::new(FloorPlan::of(profile, model), pattern, &plan, seatings).of_channels()
}

fn seating(model: Option<&CoherentModel>, title: &str, run: &ChannelSeating) -> DrawnPlacement {
    DrawnPlacement {
        title: title.to_owned(),
        placement: run.pus.clone(),
        // A run's cycles are not a placement's cost, so they cannot be compared with other costs.
        cost: None,
        homes: run
            .lines
            .iter()
            // Only a model knows a line's home from its number.
            .map(|line| match model {
                Some(model) => model.home_of(*line).map(|home| home as usize),
                _ => None,
            })
            .collect(),
        counted: None,
    }
}

/// An experiment's result as text.
pub fn text(found: &ChannelsResult) -> String {
    let mut text = match &found.figures {
        ExperimentFigures::Curve(figures) => {
            let mut text = format!(
                "From CPU {} over line {}, {} at once: {:.0} to {}, median {:.0}, slowest batch \
                 {:.0}.\nThe nearest CPU on another core is {}.\n",
                figures.from,
                figures.line,
                counted(figures.pairs, "pair"),
                figures.least_cycles,
                counted_figure(figures.most_cycles, 0, "cycle"),
                figures.median_cycles,
                figures.slowest_cycles,
                figures.nearest
            );
            if let Some(same) = &figures.same_core {
                text += &format!(
                    "On the same core, CPU {}: {}.\n",
                    same.pu,
                    counted_figure(same.cycles, 0, "cycle")
                );
            }
            text
        }
        ExperimentFigures::Slices(figures) => format!(
            "{} at once, cycles of a round trip:\n{}{}{}\n",
            counted(figures.pairs, "pair"),
            spread("at random", &figures.random),
            spread(&counted(figures.sections, "slice"), &figures.sliced),
            match figures.at_home_share {
                Some(share) => format!(
                    "{:.0} % of the pairs in slices have a line at home there.",
                    100.0 * share
                ),
                None => "All lines are nearest to the same core: no homes are found.".to_owned(),
            }
        ),
        ExperimentFigures::Gain(figures) => format!(
            "{}, speed-up with the search for homes: mean {:.2}, median {:.2}, {:.2} to \
             {:.2}.\nThe search takes {:.3} ms, {:.1} % of the placed run; without it the mean is \
             {:.2}.\n",
            counted(figures.speed_ups.len(), "comparison"),
            figures.mean,
            figures.median,
            figures.least,
            figures.most,
            1e3 * figures.search_seconds,
            100.0 * figures.search_share,
            figures.mean_without_search
        ),
    };
    if let Some(load) = &found.load {
        text += &format!(
            "In the last run links were busy for {:.0} % of the time, and the busiest directory \
             for {:.0} %.\n",
            100.0 * load.link_share,
            100.0 * load.directory_share
        );
    }
    text
}

fn spread(name: &str, spread: &RoundTripSpread) -> String {
    format!(
        "{name:<10} median {:>6.0}, of a tenth above {:>6.0}, worst pair {:>6.0}, slowest batch \
         {:>6.0}\n",
        spread.median_cycles, spread.p90_cycles, spread.most_cycles, spread.slowest_cycles
    )
}
