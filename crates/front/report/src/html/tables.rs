//! Tables of a profile, readable without a script.

use crate::{Digits, about};
use maud::{Markup, html};
use seatmap_machine::{HomeModel, Loaded, Profile};
use seatmap_measure::classes::DistanceClass;

/// A table of (what, value).
#[must_use]
pub fn facts(rows: &[(String, String)]) -> Markup {
    html! {
        table.facts {
            tbody {
                @for (name, value) in rows {
                    tr { th scope="row" { (name) } td { (value) } }
                }
            }
        }
    }
}

/// The classes with their medians.
pub(super) fn classes(classes: &[DistanceClass], digits: Digits) -> Markup {
    html! {
        table.figures {
            thead { tr { th { "Class" } th { "Pairs" } th { "Median" } th { "p10" } th { "p90" } } }
            tbody {
                @for class in classes {
                    tr {
                        th scope="row" { (class.name) }
                        td { (class.pairs) }
                        td { strong { (digits.show(class.median_ns)) } }
                        td { (digits.show(class.p10_ns)) }
                        td { (digits.show(class.p90_ns)) }
                    }
                }
            }
        }
    }
}

/// The groups, their PUs and the distance inside.
pub(super) fn groups(model: &HomeModel, digits: Digits) -> Markup {
    html! {
        table.figures {
            thead { tr { th { "Group" } th { "Inside" } th.wide { "PUs" } } }
            tbody {
                @for (at, group) in model.groups.iter().enumerate() {
                    tr {
                        th scope="row" { (at) }
                        td { @if group.len() > 1 { (digits.show(model.between_ns[(at, at)])) } @else { "alone" } }
                        td.wide { (about::cpus(group)) }
                    }
                }
            }
        }
    }
}

/// The loaded curve in figures.
pub(super) fn loaded(points: &[Loaded], digits: Digits) -> Markup {
    html! {
        table.figures {
            thead { tr { th { "Pairs at once" } th { "Median" } th { "p10" } th { "p90" } } }
            tbody {
                @for point in points {
                    tr {
                        th scope="row" { (point.pairs) }
                        td { strong { (digits.show(point.median_ns)) } }
                        td { (digits.show(point.p10_ns)) }
                        td { (digits.show(point.p90_ns)) }
                    }
                }
            }
        }
    }
}

/// Where the figures come from: origin, clock and protocol.
pub(super) fn provenance(profile: &Profile) -> Vec<(String, String)> {
    let origin = &profile.origin;
    let clock = &profile.clock;
    let protocol = profile.core_distance.as_ref().and_then(|distance| distance.protocol.as_ref());
    let quantised = if clock.quantised { ", too coarse for the figures" } else { "" };
    let rows = [
        ("Kind", Some(origin.kind.word().to_owned())),
        ("Source", Some(origin.source.clone())),
        ("Date", origin.date.clone()),
        ("Tool", origin.tool.clone()),
        ("Clock", clock.source.clone()),
        ("Clock step", clock.step_ns.map(|step| format!("{step:.3} ns{quantised}"))),
        ("Protocol", protocol.map(about::protocol)),
        ("Format", Some(profile.format.clone())),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
