//! The page of an experiment with channels: its seats and result.

use crate::{channels, sentence, svg};
use maud::html;
use seatmap_experiments::channels::ChannelsResult;
use seatmap_report::floor::{self, SeatingComparison};
use seatmap_report::html::{document, head};

/// An experiment's result as one HTML file: its text, its curves, and the last comparison on the
/// machine.
pub fn channels(
    found: &ChannelsResult,
    machine: &str,
    comparison: Option<&SeatingComparison>,
) -> String {
    let title = format!("{} on {machine}", found.what);
    let body = html! {
        (head(&title, &sentence::of_channels(found), &html! {}))
        main {
            section.card {
                div.halves {
                    div { h2 { "Figures" } (svg::channels::picture(found)) }
                    div { h2 { "What was found" }
                        @for line in channels::text(found).lines() { p { (line) } } }
                }
            }
            @if let Some(comparison) = comparison {
                section.card { h2 { "Threads and lines of the last comparison" }
                    (floor::section(comparison)) }
            }
        }
        footer { "After Liu et al. 2015. A round trip is that of one cache line between two \
                  threads." }
    };
    document(&title, &body, "", "null")
}
