//! Draws one placement on a floor plan, as SVG.

use super::flow::{Flow, TaskPair};
use super::marks::{HOME, Most, part};
use super::pack::LETTER;
use super::parts::{FloorArea, FloorSeat, Point};
use super::{DrawnPlacement, FloorPlan};
use crate::svg::{number, point};
use crate::traffic::counted;
use crate::words::joined;
use maud::{Markup, html};
use seatmap_data::pattern::Pattern;

/// The deviation of a curve without a hub, as a share of its length.
const BEND: f64 = 0.12;
/// How far a curve between opposite ends of a ring is pulled to the hub.
const PULL: f64 = 0.75;
/// More pairs are drawn fainter.
const FEW_PAIRS: f64 = 40.0;
const SMALLEST: f64 = 6.0;
/// Half the diagonal, with and without lines.
const HOMES: [f64; 2] = [6.5, 3.0];

pub struct Drawing<'a> {
    pub floor: &'a FloorPlan,
    pub pattern: &'a Pattern,
    pub parts: &'a [Option<usize>],
    pub seating: &'a DrawnPlacement,
    pub flow: &'a Flow,
    pub most: Most,
    pub weight: &'a str,
    pub unit: &'a str,
}

impl Drawing<'_> {
    /// The picture, from background to labels.
    pub fn markup(&self) -> Markup {
        html! {
            g { @for (at, area) in self.floor.areas.iter().enumerate() { (self.area(at, area)) } }
            g.wires fill="none" { @for at in 0..self.floor.wires.len() { (self.wire(at)) } }
            g { @for seat in self.seats(false) { (self.seat(seat)) } }
            g.pairs fill="none" stroke-opacity=(number(self.opacity())) {
                @for pair in &self.flow.pairs { (self.pair(pair)) }
            }
            g { @for seat in self.seats(true) { (self.seat(seat)) } }
            g.word fill="#57606a" font-size="10" pointer-events="none" {
                @for area in &self.floor.areas { (Self::caption(area)) }
            }
            // Pairs may cross a seat but not its number.
            g { @for seat in &self.floor.seats { (self.number(seat)) } }
            g.homes { @for at in 0..self.floor.homes.len() { (self.home(at)) } }
            g.word fill="#57606a" text-anchor="middle" font-size="9" pointer-events="none" {
                @for label in &self.floor.labels {
                    text x=(number(label.at.0)) y=(number(label.at.1 + 3.0)) { (label.text) }
                }
            }
        }
    }

    fn seats(&self, taken: bool) -> impl Iterator<Item = &FloorSeat> {
        self.floor.seats.iter().filter(move |seat| self.tasks(seat.os).is_empty() != taken)
    }

    fn opacity(&self) -> f64 {
        // Square root: many faint curves still show where they are dense.
        (0.6 * (FEW_PAIRS / self.flow.pairs.len().max(1) as f64).sqrt()).clamp(0.15, 0.6)
    }

    fn area(&self, at: usize, area: &FloorArea) -> Markup {
        let [x, y, width, height] =
            [area.corner.0, area.corner.1, area.width, area.height].map(number);
        let load = if area.border > 0.0 { self.flow.borders[at] } else { 0.0 };
        html! {
            g {
                title { (area.names.join(", "))
                    @if load > 0.0 { ": " (counted(load, self.weight)) " cross its border" } }
                rect.area x=(x) y=(y) width=(width) height=(height) rx="3" fill="#57606a"
                    fill-opacity="0.06"
                    stroke="#c4cad1" {}
                @if let Some((class, colour)) = self.most.step(load) {
                    rect.load.(class) x=(x) y=(y) width=(width) height=(height) rx="3" fill="none"
                        stroke=(colour)
                        stroke-width=(number(self.most.width(load, area.border))) {}
                }
            }
        }
    }

    /// The names that fit; in the middle if the box has no threads.
    fn caption(area: &FloorArea) -> Markup {
        let room = (area.width / LETTER) as usize;
        // In a narrow box, the names of inner levels are dropped.
        let shown = (1..=area.names.len())
            .rev()
            .map(|count| area.names[..count].join(", "))
            .find(|names| names.chars().count() <= room)
            .unwrap_or_default();
        let (x, y) = area.corner;
        html! {
            @if area.caption > 0.0 {
                // An outline in the background colour, since pairs may cross the text.
                text.caption x=(number(x + 6.0)) y=(number(y + area.caption - 3.0)) stroke="#fff"
                    stroke-width="2.5"
                    paint-order="stroke" { (shown) }
            } @else if area.pus.is_empty() {
                text x=(number(x + area.width / 2.0)) y=(number(y + area.height / 2.0 + 3.5))
                    text-anchor="middle" { (shown) }
            }
        }
    }

    fn wire(&self, at: usize) -> Markup {
        let wire = &self.floor.wires[at];
        let load = self.flow.wires[at];
        html! {
            @for track in &wire.tracks { path.track d=(track) stroke="#c4cad1" stroke-width="1" {} }
            @if let Some((class, colour)) = self.most.step(load) {
                path.load.(class) d=(wire.path) stroke=(colour)
                    stroke-width=(number(self.most.width(load, self.floor.lane))) {
                    title { (wire.name) ": " (counted(load, self.unit)) }
                }
            }
        }
    }

    fn seat(&self, seat: &FloorSeat) -> Markup {
        // A seat with tasks of several parts has the colour of the first.
        let tasks = self.tasks(seat.os);
        let fill = tasks.first().map(|task| self.colours(*task).0);
        let class = if tasks.is_empty() { "free" } else { "taken" };
        let half = seat.size / 2.0;
        let size = number(seat.size);
        let round = number(if seat.is_round { half } else { (seat.size / 8.0).min(3.0) });
        let is_isolated = self.floor.isolated.contains(&seat.os);
        html! {
            rect.(class) x=(number(seat.at.0 - half)) y=(number(seat.at.1 - half)) width=(size)
                height=(size) rx=(round)
                fill=(fill.as_deref().unwrap_or("#ffffff")) stroke="#c4cad1" stroke-width="0.8"
                stroke-dasharray=[is_isolated.then_some("2 1.5")] {
                title { (self.named(tasks)) (seat.name) @if is_isolated { ", isolated" } }
            }
        }
    }

    fn colours(&self, task: usize) -> (String, &'static str) {
        part(self.parts.get(task).copied().flatten())
    }

    fn tasks(&self, os: u32) -> &[usize] {
        self.flow.tasks.get(&os).map_or(&[], Vec::as_slice)
    }

    /// `tasks 3, 5 (name) on `, or an empty string.
    fn named(&self, tasks: &[usize]) -> String {
        let names = tasks.iter().map(|task| match self.pattern.names.get(*task) {
            Some(name) => format!("{task} ({})", seatmap_data::document::visible(name)),
            None => task.to_string(),
        });
        let names = joined(names, ", ");
        match tasks.len() {
            0 => names,
            1 => format!("task {names} on "),
            _ => format!("tasks {names} on "),
        }
    }

    /// `T3` if there is room; without a task, the CPU's number in grey.
    fn number(&self, seat: &FloorSeat) -> Markup {
        let tasks = self.tasks(seat.os);
        let plain = match tasks {
            [] => seat.os.to_string(),
            [task] => task.to_string(),
            [first, others @ ..] => format!("{first}+{}", others.len()),
        };
        // Letters are about 0.7 times as wide as high, the inverse of 1.45. The T must leave at
        // least the smallest font size.
        let has_mark = !tasks.is_empty() && 1.45 * seat.size >= SMALLEST * (plain.len() + 1) as f64;
        let text = if has_mark { format!("T{plain}") } else { plain };
        let widest = if tasks.is_empty() { 9.0 } else { 13.0 };
        let size = (1.45 * seat.size / text.len().max(2) as f64).min(0.6 * seat.size).min(widest);
        let [class, fill, weight] = match tasks.first() {
            Some(task) => ["task", self.colours(*task).1, "600"],
            None => ["cpu", "#8b949e", "400"],
        };
        // On a ring, pairs bend to its middle and cross no seat.
        let is_crossed = tasks.is_empty() && seat.hub.is_none();
        let (x, y) = seat.at;
        let lower = if seat.element.is_empty() { 0.0 } else { 0.16 * seat.size };
        html! {
            @if size >= SMALLEST {
                g.(class).crossed[is_crossed] fill=(fill) stroke=[is_crossed.then_some("#fff")]
                    stroke-width="3"
                    paint-order="stroke" font-weight=(weight)
                    text-anchor="middle" pointer-events="none" {
                    text x=(number(x)) y=(number(y + lower + 0.35 * size))
                        font-size=(number(size)) { (text) }
                    @if lower > 0.0 { text x=(number(x)) y=(number(y - lower))
                        font-size="8" { (seat.element) } }
                }
            }
        }
    }

    fn pair(&self, pair: &TaskPair) -> Markup {
        let colour = self.colours(pair.from).0;
        html! {
            @if let Some(path) = self.bow(pair) {
                path d=(path) stroke=(colour) stroke-width=(number(self.most.bow(pair.bytes))) {
                    title { "task " (pair.from) " and task " (pair.to) ": "
                        (counted(pair.bytes, self.weight)) }
                }
            }
        }
    }

    /// A curve through the line's home, if known; `None` within one seat.
    fn bow(&self, pair: &TaskPair) -> Option<String> {
        let from = self.seat_of(pair.from)?;
        let to = self.seat_of(pair.to)?;
        if from.os == to.os {
            return None;
        }
        let start = format!("M{}", point(from.anchor));
        // Without a hub, many curves through homes would overlap.
        let home =
            pair.home.filter(|_| from.hub.is_some() || self.flow.pairs.len() <= FEW_PAIRS as usize);
        Some(match home.and_then(|home| self.floor.homes.get(home)) {
            Some(home) => {
                start
                    + &bend(from.anchor, home.at, [from.hub, home.hub])
                    + &bend(home.at, to.anchor, [home.hub, to.hub])
            }
            None => start + &bend(from.anchor, to.anchor, [from.hub, to.hub]),
        })
    }

    fn seat_of(&self, task: usize) -> Option<&FloorSeat> {
        self.floor.seat(*self.seating.placement.get(task)?)
    }

    fn home(&self, at: usize) -> Markup {
        let home = &self.floor.homes[at];
        let lines = self.flow.lines.get(&at).map_or(&[][..], Vec::as_slice);
        let half = HOMES[usize::from(lines.is_empty())];
        let (x, y) = home.at;
        let [left, right, upper, lower] = [x - half, x + half, y - half, y + half].map(number);
        let [x, middle] = [x, y].map(number);
        let ends = lines.iter().take(8).map(|(from, to)| format!("{from} to {to}"));
        let class = if lines.is_empty() { "home" } else { "line" };
        html! {
            path.(class) d=(format!("M{x} {upper}L{right} {middle}L{x} {lower}L{left} {middle}Z"))
                fill=(if lines.is_empty() { "#c4cad1" } else { HOME }) {
                title { (home.name)
                    @if !lines.is_empty() { ": the lines of " (joined(ends, ", "))
                        @if lines.len() > 8 { " ..." } } }
            }
            @if lines.len() > 1 {
                text x=(x) y=(number(home.at.1 + 2.6)) font-size="7.5" fill="#ffffff"
                    text-anchor="middle"
                    pointer-events="none" { (lines.len()) }
            }
        }
    }
}

/// A curve towards the hubs or, without hubs, to one side.
fn bend(from: Point, to: Point, hubs: [Option<Point>; 2]) -> String {
    let (x, y) = middle(from, to);
    let over = match hubs {
        [Some(a), Some(b)] => {
            let (hub_x, hub_y) = middle(a, b);
            // A diameter has the full pull; short chords stay near the rim.
            let pull = PULL * (distance(from, to) / (2.0 * distance(from, a)).max(1.0)).min(1.0);
            (x + pull * (hub_x - x), y + pull * (hub_y - y))
        }
        _ => (x - BEND * (to.1 - from.1), y + BEND * (to.0 - from.0)),
    };
    format!("Q{} {}", point(over), point(to))
}

fn middle((x, y): Point, (to_x, to_y): Point) -> Point {
    ((x + to_x) / 2.0, (y + to_y) / 2.0)
}

fn distance((x, y): Point, (to_x, to_y): Point) -> f64 {
    (to_x - x).hypot(to_y - y)
}
