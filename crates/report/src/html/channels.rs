//! The page of an experiment with channels: who sat where, and what came of it.

use super::document;
use crate::floor::{self, Comparison};
use crate::{channels, svg};
use maud::{Markup, PreEscaped, html};
use seatmap_measure::channels::Found;

/// What an experiment found as one HTML file: its text, its curves, and the last comparison on the machine.
#[must_use]
pub fn channels(found: &Found, machine: &str, comparison: Option<&Comparison>) -> String {
    let title = format!("{} on {machine}", found.what);
    let body = html! {
        header {
            div.title {
                h1 { (title) }
                button.js #theme type="button" aria-label="Switch between light and dark" { "Light / dark" }
            }
        }
        main {
            section.card { h2 { "What was found" } @for line in channels::text(found).lines() { p { (line) } } }
            @if let Some(comparison) = comparison {
                section.card { h2 { "Threads and lines of the last comparison" } (floor::section(comparison)) }
            }
            section.card { h2 { "Figures" } (curves(found)) }
        }
        footer { "After Liu et al. 2015." }
    };
    document(&title, &body, "", "null")
}

/// The picture is this program's own: nothing in it comes from a file.
fn curves(found: &Found) -> Markup {
    PreEscaped(svg::channels(found))
}
