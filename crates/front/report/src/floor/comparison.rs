//! Compares one pattern on one floor plan before and after.

use super::draw::Drawing;
use super::flow::{Flow, parts};
use super::marks::Most;
use super::parts::FloorArea;
use super::{DrawnPlacement, FloorPlan};
use crate::alike::alike;
use crate::traffic::short;
use maud::Markup;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Plan;
use std::collections::BTreeMap;

/// Two placements of a pattern at one scale.
pub struct SeatingComparison<'a> {
    pub(super) title: String,
    pub(super) floor: FloorPlan,
    pub(super) seatings: [DrawnPlacement; 2],
    pub(super) flows: [Flow; 2],
    pub(super) most: Most,
    pub(super) parts: Vec<Option<usize>>,
    pattern: &'a Pattern,
    objective: &'static str,
    pub(super) weight: &'static str,
    pub(super) unit: &'static str,
}

/// Name, before, after, change.
type Row = [String; 4];

impl<'a> SeatingComparison<'a> {
    /// A plan compared with the placement without it, on a machine's floor plan.
    pub fn new(
        floor: FloorPlan,
        pattern: &'a Pattern,
        plan: &Plan,
        seatings: [DrawnPlacement; 2],
    ) -> Self {
        let flows = seatings.each_ref().map(|seating| Flow::of(&floor, pattern, seating));
        // Loads are divided by this: the minimum avoids 0 / 0.
        let most =
            |of: fn(&Flow) -> Vec<f64>| flows.iter().flat_map(of).fold(f64::MIN_POSITIVE, f64::max);
        let has_wires = !floor.wires.is_empty();
        let load = if has_wires {
            most(|flow| flow.wires.clone())
        } else {
            most(|flow| flow.borders.clone())
        };
        let pair = most(|flow| flow.pairs.iter().map(|pair| pair.bytes).collect());
        // Both or neither: bytes and a simulator's counts have no common scale.
        let is_counted = has_wires && seatings.iter().all(|seating| seating.counted.is_some());
        SeatingComparison {
            title: seatmap_data::document::visible(&crate::placement::title(plan)),
            most: Most { load, pair },
            parts: parts(pattern),
            objective: crate::placement::cost_words(plan)[2],
            weight: "byte",
            unit: if is_counted { "message" } else { "byte" },
            floor,
            seatings,
            flows,
            pattern,
        }
    }

    /// Sets the unit of a simulator's counts, by default messages.
    pub fn counting(mut self, unit: &'static str) -> Self {
        if self.unit == "message" {
            self.unit = unit;
        }
        self
    }

    /// Names the edges channels, for a pattern of channels.
    pub fn of_channels(mut self) -> Self {
        (self.weight, self.unit) = ("channel", "channel");
        self
    }

    /// Before (0) or after (1).
    pub(super) fn picture(&self, at: usize) -> Markup {
        let drawing = Drawing {
            floor: &self.floor,
            pattern: self.pattern,
            parts: &self.parts,
            seating: &self.seatings[at],
            flow: &self.flows[at],
            most: self.most,
            weight: self.weight,
            unit: self.unit,
        };
        drawing.markup()
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        if let [Some(before), Some(after)] = self.seatings.each_ref().map(|seating| seating.cost) {
            rows.push(row(self.objective.to_owned(), [before, after]));
        }
        let words =
            if self.floor.wires.is_empty() { "most crossed border" } else { "busiest link" };
        if let [Some(before), Some(after)] =
            self.flows.each_ref().map(|flow| flow.busiest(&self.floor))
        {
            let [what, _, _, change] = row(format!("{words}, {}s", self.unit), [before.1, after.1]);
            let [before, after] = [before, after].map(|(at, load)| {
                if load > 0.0 {
                    format!("{} ({})", short(load), self.name(at))
                } else {
                    short(load)
                }
            });
            rows.push([what, before, after, change]);
        }
        if !self.floor.wires.is_empty() {
            let all = self.flows.each_ref().map(|flow| flow.wires.iter().sum());
            rows.push(row(format!("all links together, {}s", self.unit), all));
        }
        rows.extend(self.levels());
        rows
    }

    /// Traffic that leaves the groups of each level.
    fn levels(&self) -> Vec<Row> {
        let boxes = self.floor.areas.iter().filter(|area| area.border > 0.0);
        let levels = alike(boxes, |a, b| level(a) == level(b)).into_iter();
        let levels = levels.map(|boxes| (level(boxes[0]), self.between(&boxes)));
        let moved = levels.filter(|(_, [before, after])| before + after > 0.0);
        moved
            .map(|(word, loads)| {
                let several = if word.ends_with('s') {
                    format!("groups of {word}")
                } else {
                    format!("{word}s")
                };
                row(format!("between {several}, {}s", self.weight), loads)
            })
            .collect()
    }

    /// Bytes between tasks in different boxes, before and after.
    fn between(&self, boxes: &[&FloorArea]) -> [f64; 2] {
        let mut box_of: BTreeMap<u32, usize> = BTreeMap::new();
        for (at, area) in boxes.iter().enumerate() {
            box_of.extend(area.pus.iter().map(|os| (*os, at)));
        }
        // Edge by edge, because a part with one CPU has no box and no border.
        self.seatings.each_ref().map(|seating| {
            self.pattern
                .edges
                .iter()
                .filter(|edge| {
                    seating.ends(edge).is_some_and(|[here, there]| {
                        let is_inside =
                            box_of.get(&here).is_some_and(|at| box_of.get(&there) == Some(at));
                        here != there && !is_inside
                    })
                })
                .map(|edge| edge.bytes)
                .sum()
        })
    }

    fn name(&self, at: usize) -> &str {
        match self.floor.wires.get(at) {
            Some(wire) => &wire.name,
            None => self.floor.areas.get(at).map_or("", |area| &area.names[0]),
        }
    }

    pub(super) fn talking_parts(&self) -> usize {
        self.parts.iter().flatten().max().map_or(0, |last| last + 1)
    }

    pub(super) fn has_lines(&self) -> bool {
        self.flows.iter().any(|flow| !flow.lines.is_empty())
    }
}

/// `core` of `core 3`.
fn level(area: &FloorArea) -> &str {
    // A box may be a package, a cache and a core at once.
    let core = area.names.iter().find(|name| name.starts_with("core "));
    core.unwrap_or(&area.names[0]).trim_end_matches(|c: char| c.is_ascii_digit()).trim_end()
}

fn row(what: String, [before, after]: [f64; 2]) -> Row {
    let percent = 100.0 * (after / before - 1.0);
    let change = if before > 0.0 && percent.abs() >= 0.05 {
        format!("{percent:+.1} %")
    } else {
        String::new()
    };
    [what, short(before), short(after), change]
}
