//! Draws before and after side by side, for papers and slides, and for pages.

use super::legend::{self, legend};
use super::{FloorPlan, SeatingComparison};
use crate::page::{Table, draw};
use crate::svg::frame::{standalone, title_of};
use crate::svg::number;
use maud::{Markup, html};
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Plan;
use seatmap_os::CpuList;

/// The gap around the halves of a standalone picture.
const MARGIN: f64 = 24.0;
/// Room for the title and the words above the halves.
const TOP: f64 = 72.0;
const ROW: f64 = 18.0;
const COLUMNS: [f64; 4] = [0.0, 250.0, 480.0, 720.0];
const HEADS: [&str; 4] = ["", "before", "after", ""];
const FIGURES: f64 = 800.0;

/// Both placements with their figures as a standalone picture.
pub fn svg(comparison: &SeatingComparison) -> String {
    let floor = &comparison.floor;
    let rows = comparison.rows();
    // A small machine's halves are narrower than the table of figures below them.
    let width = (2.0 * floor.width + 3.0 * MARGIN).max(FIGURES + 2.0 * MARGIN);
    let below = TOP + floor.height + MARGIN;
    let figures = ROW * (rows.len() as f64 + 1.0);
    let height = below + figures + legend::HEIGHT + 1.5 * MARGIN;
    let halves = [MARGIN, (width + MARGIN) / 2.0];
    let drawn = html! {
        (title_of(&comparison.title, [MARGIN, 30.0]))
        @for (at, x) in halves.into_iter().enumerate() {
            text x=(number(x)) y="56" font-weight="600"
                fill="#57606a" { (comparison.seatings[at].title) }
            g transform=(format!("translate({} {TOP})", number(x))) { (comparison.picture(at)) }
        }
        g transform=(format!("translate({MARGIN} {})", number(below))) { (figures_of(comparison)) }
        g transform=(format!("translate({MARGIN} {})", number(below + figures + MARGIN / 2.0))) {
            (legend(comparison)) }
    };
    standalone([width, height], &drawn)
}

fn figures_of(comparison: &SeatingComparison) -> Markup {
    let heads = std::iter::once(HEADS.map(str::to_owned));
    html! {
        @for (at, cells) in heads.chain(comparison.rows()).enumerate() {
            @for (cell, x) in cells.into_iter().zip(COLUMNS).filter(|(cell, _)| !cell.is_empty()) {
                text x=(x) y=(number(ROW * (at as f64 + 0.75)))
                    fill=(if at == 0 { "#57606a" } else { "#1b1f24" }) { (cell) }
            }
        }
    }
}

/// Both placements for a page, next to or below each other. The reader can choose the drawing
/// without a script.
pub fn section(comparison: &SeatingComparison) -> Markup {
    let has_wires = !comparison.floor.wires.is_empty();
    let figures = Table::new("| before:> | after:> | :>").rows(comparison.rows());
    html! {
        div.seating {
            fieldset.shown {
                legend { "Show" }
                label { input.wires-on type="checkbox" checked; @if has_wires { "Links" }
                    @else { "Borders" } }
                label { input.pairs-on type="checkbox" checked; "Pairs" }
                @if comparison.has_lines() {
                    label { input.homes-on type="checkbox" checked; "Lines" } }
            }
            div.halves {
                @for at in 0..2 {
                    figure {
                        figcaption { (comparison.seatings[at].title) }
                        (inline(
                            &comparison.floor,
                            &comparison.seatings[at].title,
                            &comparison.picture(at)
                        ))
                    }
                }
            }
            (draw::html_table(&figures))
            svg.floor.key viewBox=(format!("0 0 {} {}", super::SIDE, legend::HEIGHT)) role="img"
                aria-label="Legend" {
                (legend(comparison))
            }
            p.hint { "Point at a mark for its name and load. Wider marks carry more; both pictures \
                      have the same scale." }
        }
    }
}

/// The CPUs in the colours of their groups. `owners`: CPUs with the index of their group.
pub fn coloured(floor: &FloorPlan, names: &[String], owners: &[(u32, usize)]) -> Markup {
    let mut pattern = Pattern::silent("", owners.len());
    pattern.names = owners.iter().map(|(_, group)| names[*group].clone()).collect();
    let parts = Vec::from_iter(owners.iter().map(|(_, group)| Some(*group)));
    let plan = Plan::new("", owners.iter().map(|(cpu, _)| *cpu).collect());
    html! {
        (inline(floor, "The services on the machine", &silent(floor, &pattern, &parts, &plan)))
        p.hint {
            @for (at, name) in names.iter().enumerate() {
                span style=(format!("color:{}", super::marks::part(Some(at)).0)) { "\u{25a0} " }
                (name) " "
            }
        }
    }
}

pub fn machine(floor: &FloorPlan) -> Markup {
    html! {
        (inline(floor, "The machine", &seated(floor, &Plan::new("", Vec::new()))))
        @if !floor.homes.is_empty() { p.hint { "Diamonds are homes of lines." } }
        @if !floor.isolated.is_empty() {
            p.hint {
                "CPUs with a dashed edge are isolated: " (CpuList(floor.isolated.clone()))
                    ". The kernel moves no thread there by itself."
            }
        }
    }
}

/// The plan's tasks, without messages.
pub fn tasks(floor: &FloorPlan, plan: &Plan) -> Markup {
    inline(floor, "The tasks on the machine", &seated(floor, plan))
}

/// The plan's tasks as a standalone picture.
pub fn tasks_svg(floor: &FloorPlan, plan: &Plan, title: &str) -> String {
    let drawn = html! {
        (title_of(title, [MARGIN, 30.0]))
        g transform=(format!("translate({MARGIN} {TOP})")) { (seated(floor, plan)) }
    };
    // On a machine with few CPUs, the title is wider than the floor plan.
    let width = floor.width.max(super::SIDE) + 2.0 * MARGIN;
    standalone([width, TOP + floor.height + MARGIN], &drawn)
}

fn seated(floor: &FloorPlan, plan: &Plan) -> Markup {
    let mut pattern = Pattern::silent("", plan.placement.len());
    pattern.names.clone_from(&plan.names);
    silent(floor, &pattern, &[], plan)
}

fn silent(floor: &FloorPlan, pattern: &Pattern, parts: &[Option<usize>], plan: &Plan) -> Markup {
    let seating = super::DrawnPlacement::planned(pattern, plan);
    let drawing = super::draw::Drawing {
        floor,
        pattern,
        parts,
        seating: &seating,
        flow: &super::flow::Flow::of(floor, pattern, &seating),
        most: super::marks::Most { load: 1.0, pair: 1.0 },
        weight: "",
        unit: "",
    };
    drawing.markup()
}

fn inline(floor: &FloorPlan, title: &str, inside: &Markup) -> Markup {
    html! {
        svg.floor xmlns="http://www.w3.org/2000/svg"
            viewBox=(format!("0 0 {} {}", number(floor.width), number(floor.height))) role="img"
                aria-label=(title)
            style=(format!("max-width:{}px", number(floor.width))) { (inside) }
    }
}
