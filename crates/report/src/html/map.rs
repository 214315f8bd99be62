//! The heatmap of a page: its controls, its legend, the canvas that the script draws on, and a picture for those
//! without scripts.

use crate::palette::{UNKNOWN, VIRIDIS, hex};
use crate::reduced::Reduced;
use crate::{Digits, Grid, Order, Scale, svg};
use maud::{Markup, html};
use seatmap_machine::{HomeModel, Profile};

/// PUs in the picture for browsers without scripts; larger matrices are reduced to it.
const STATIC_PUS: usize = 128;

/// The whole section.
pub(super) fn map(profile: &Profile, scale: Scale, digits: Digits) -> Markup {
    let homes = profile.home_model.as_ref().map_or(0, HomeModel::homes);
    html! {
        section.card.map {
            div.controls.js {
                fieldset {
                    legend { "Order" }
                    label { input type="radio" name="order" value="group" checked; "Group" }
                    label { input type="radio" name="order" value="os"; "OS index" }
                }
                @if homes > 1 {
                    label.home {
                        "Home"
                        input #home type="range" min="0" max=(homes) value="0" aria-describedby="home-name";
                        output #home-name for="home" { "measured" }
                    }
                }
                (legend(scale, digits))
            }
            (plot())
            noscript { (static_map(profile)) }
        }
    }
}

/// What the script fills.
fn plot() -> Markup {
    html! {
        div.plot.js {
            div.canvas {
                canvas #map tabindex="0" role="application" aria-roledescription="heatmap" aria-describedby="keys"
                    aria-label="Core distances of every pair of PUs" {}
                div #tip hidden {}
            }
            aside {
                div #pinned {
                    p.hint #keys {
                        "Point at a cell, or move with the arrow keys. "
                        "Click or press Enter to pin its row; Escape lets go."
                    }
                }
            }
            p.visually-hidden #spoken role="status" aria-live="polite" {}
        }
    }
}

fn legend(scale: Scale, digits: Digits) -> Markup {
    let stops: Vec<String> = VIRIDIS.iter().map(|rgb| hex(*rgb)).collect();
    html! {
        div.legend {
            span { @if scale.below { "≤ " } (digits.show(scale.low_ns)) }
            span.ramp style=(format!("background:linear-gradient(to right,{})", stops.join(","))) {}
            span { @if scale.above { "≥ " } (digits.show(scale.high_ns)) " ns" }
            span.unit { (scale.word()) }
            span.swatch style=(format!("background:{}", hex(UNKNOWN))) {}
            span.unit { "not known" }
        }
    }
}

/// The heatmap as a picture, reduced where its cells could not be told apart anyway.
fn static_map(profile: &Profile) -> Markup {
    let grid = Grid::of(profile, Order::Group, None);
    let small = grid.map(|grid| {
        let reduced = Reduced::new(&grid, STATIC_PUS);
        let os: Vec<u32> = reduced.blocks.iter().map(|block| grid.os[block.start]).collect();
        Grid { group: reduced.group, ..Grid::plain(&os, &reduced.cells_ns) }
    });
    svg::picture(profile, small.as_ref())
}
