//! The heat map of a page: its controls, its legend, the canvas for the script, and a picture for
//! browsers without scripts.

use crate::palette::{UNKNOWN, VIRIDIS, hex};
use crate::reduced::Reduced;
use crate::words::joined;
use crate::{AxisUnit, Digits, Grid, GridOrder, Scale, svg};
use maud::{Markup, html};
use seatmap_data::machine::{HomeModel, Profile};

/// Larger matrices are reduced for browsers without scripts.
const STATIC_PUS: usize = 128;

/// A share of the width: four digits take a sixth of it.
const APART: f64 = 0.18;

pub fn map(profile: &Profile, scale: Scale, digits: Digits, beside: &Markup) -> Markup {
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
                        // Zero is the measurement, each further step a home.
                        input #home type="range" min="0" max=(homes) value="0"
                            aria-describedby="home-name";
                        output #home-name for="home" { "measured" }
                    }
                }
                (legend(scale, digits))
            }
            div.plot {
                div { (plot()) noscript { (static_map(profile)) } }
                aside { (cursor()) (beside) }
            }
        }
    }
}

fn plot() -> Markup {
    html! {
        div.canvas.js {
            // Keys move a cell in the canvas, so it takes the focus and announces itself as more
            // than a picture.
            canvas #map tabindex="0" role="application" aria-roledescription="heatmap"
                aria-describedby="keys"
                aria-label="Core distances of every pair of PUs" {}
            div #tip hidden {}
        }
    }
}

/// The script updates this for the cell under the pointer and the pinned row.
fn cursor() -> Markup {
    html! {
        div.js {
            div #pinned {
                p.hint #keys {
                    "Point at a square or use the arrow keys to see a pair's median, p10, MAD and \
                     95 % interval. "
                    "Click or press Enter to pin its row; Escape unpins it."
                }
            }
            // Screen readers cannot read the canvas.
            p.visually-hidden #spoken role="status" aria-live="polite" {}
        }
    }
}

fn legend(scale: Scale, digits: Digits) -> Markup {
    let stops = joined(VIRIDIS.map(hex), ",");
    html! {
        div.legend {
            div.scale {
                span.ramp
                    style=(format!("background:linear-gradient(to right,{stops})")) {}
                @for (position, text) in
                    svg::bar_ticks(scale, AxisUnit::Nanoseconds, |ns| digits.show(ns), APART)
                {
                    span.at style=(format!("left:{:.1}%", 100.0 * position)) { (text) }
                }
            }
            span.unit { "round trip, ns, " (scale.word()) }
            span.swatch style=(format!("background:{}", hex(UNKNOWN))) {}
            span.unit { "unknown" }
        }
    }
}

fn static_map(profile: &Profile) -> Markup {
    let grid = Grid::of(profile, GridOrder::Group, None);
    let small = grid.map(|grid| Reduced::new(&grid, STATIC_PUS).grid);
    svg::picture(profile, small.as_ref())
}
