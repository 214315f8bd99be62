//! Reports the gain of seats near the homes of lines.

use seatmap_experiments::channels::slices::Spread;
use seatmap_experiments::channels::{Figures, Found, Run, Seated};
use seatmap_machine::Profile;
use seatmap_pattern::{Edge, Pattern};
use seatmap_plan::Plan;
use seatmap_report::counted;
use seatmap_report::floor::{Comparison, DrawnPlacement};
use seatmap_sim::catalog::Model;
use seatmap_statistics::words::counted_figure;

/// The channels of a comparison as a pattern, in their order and alike.
#[must_use]
pub fn pattern(seated: &Seated) -> Pattern {
    let edge =
        |(from, to): &(usize, usize)| Edge { from: *from, to: *to, bytes: 1.0, messages: 1.0 };
    let mut pattern = Pattern::gathered("channels", seated.usual.pus.len(), []);
    pattern.edges = seated.channels.iter().map(edge).collect();
    pattern
}

/// The last comparison on the machine: threads, and lines at their homes where a model knows them.
#[must_use]
pub fn comparison<'a>(
    found: &Found,
    seated: &Seated,
    pattern: &'a Pattern,
    profile: &Profile,
    model: Option<&Model>,
) -> Comparison<'a> {
    let titles = match found.figures {
        Figures::Curve(_) => ["to the farthest core", "to the nearest core"],
        Figures::Slices(_) => ["at random", "in slices"],
        Figures::Gain(_) => ["at random", "near the homes"],
    };
    let home = |line: &u32| match model {
        Some(Model::Coherent(model)) => model.home_of(*line).map(|home| home as usize),
        _ => None,
    };
    let seating = |title: &str, run: &Run| DrawnPlacement {
        title: title.to_owned(),
        placement: run.pus.clone(),
        cost: None,
        homes: run.lines.iter().map(home).collect(),
        counted: None,
    };
    let plan = Plan {
        pattern: Some(found.what.to_owned()),
        ..Plan::new(profile.name.clone(), seated.placed.pus.clone())
    };
    let seatings = [seating(titles[0], &seated.usual), seating(titles[1], &seated.placed)];
    Comparison::new(profile, model, pattern, &plan, seatings).of_channels()
}

/// An experiment's result, as text.
#[must_use]
pub fn text(found: &Found) -> String {
    let mut text = match &found.figures {
        Figures::Curve(told) => {
            let mut text = format!(
                "From CPU {} over line {}, {} at once: {:.0} to {}, median {:.0}, slowest batch {:.0}.\nThe nearest CPU on another core is {}.\n",
                told.from,
                told.line,
                counted(told.pairs, "pair"),
                told.least_cycles,
                counted_figure(told.most_cycles, 0, "cycle"),
                told.median_cycles,
                told.slowest_cycles,
                told.nearest
            );
            if let Some(same) = &told.same_core {
                text += &format!(
                    "On the same core, CPU {}: {}.\n",
                    same.pu,
                    counted_figure(same.cycles, 0, "cycle")
                );
            }
            text
        }
        Figures::Slices(told) => format!(
            "{} at once, cycles of a round trip:\n{}{}{}\n",
            counted(told.pairs, "pair"),
            spread("at random", &told.random),
            spread(&counted(told.sections, "slice"), &told.sliced),
            match told.at_home_share {
                Some(share) => format!(
                    "{:.0} % of the pairs in slices have a line at home there.",
                    100.0 * share
                ),
                None =>
                    "All lines are nearest to the same core: no homes are told apart.".to_owned(),
            }
        ),
        Figures::Gain(told) => format!(
            "{}, speed-up with the search for homes: mean {:.2}, median {:.2}, {:.2} to {:.2}.\nThe search takes {:.3} ms, {:.1} % of the placed run; without it the mean is {:.2}.\n",
            counted(told.speed_ups.len(), "comparison"),
            told.mean,
            told.median,
            told.least,
            told.most,
            1e3 * told.search_seconds,
            100.0 * told.search_share,
            told.mean_without_search
        ),
    };
    if let Some(load) = &found.load {
        text += &format!(
            "In the last run links were busy for {:.0} % of the time, and the busiest directory for {:.0} %.\n",
            100.0 * load.link_share,
            100.0 * load.directory_share
        );
    }
    text
}

fn spread(name: &str, spread: &Spread) -> String {
    format!(
        "{name:<10} median {:>6.0}, of a tenth above {:>6.0}, worst pair {:>6.0}, slowest batch {:>6.0}\n",
        spread.median_cycles, spread.p90_cycles, spread.most_cycles, spread.slowest_cycles
    )
}
