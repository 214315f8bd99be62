//! Tables of a profile, readable without a script.

use crate::page::{Table, TableCell, cells, draw};
use crate::{Digits, about};
use maud::Markup;
use seatmap_data::machine::{HomeModel, LoadedPoint, Profile};
use seatmap_measure::classes::DistanceClass;

/// A table of (name, value).
pub fn facts(rows: &[(String, String)]) -> Markup {
    draw::html_table(&Table::facts(rows.iter().map(|(name, value)| (name, value))))
}

pub fn classes(classes: &[DistanceClass], digits: Digits) -> Table {
    Table::new("class | pairs:> | median:> | p10:> | p90:>").rows(classes.iter().map(|class| {
        cells![
            &class.name,
            class.pairs,
            TableCell::strong(digits.show(class.median_ns)),
            digits.show(class.p10_ns),
            digits.show(class.p90_ns)
        ]
    }))
}

pub fn groups(model: &HomeModel, digits: Digits) -> Table {
    Table::new("group | inside:> | PUs").rows(model.groups.iter().enumerate().map(|(at, group)| {
        let inside = digits.show(model.between_ns[(at, at)]);
        let inside = if group.len() > 1 { inside } else { "alone".to_owned() };
        cells![at, inside, about::cpus(group)]
    }))
}

pub fn loaded(points: &[LoadedPoint], digits: Digits) -> Table {
    Table::new("pairs at once:> | median:> | p10:> | p90:>").rows(points.iter().map(|point| {
        cells![
            point.pairs,
            TableCell::strong(digits.show(point.median_ns)),
            digits.show(point.p10_ns),
            digits.show(point.p90_ns)
        ]
    }))
}

pub fn provenance(profile: &Profile) -> Vec<(&'static str, String)> {
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
    rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
