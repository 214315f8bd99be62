//! Draws a matrix as a picture: coloured squares, labels at both edges, and a legend.

use super::cells::{Fill, paths};
use super::number;
use crate::palette::{colour, hex};
use maud::{Markup, html};

const SIDE: f64 = 640.0;
const TITLE: f64 = 50.0;
/// Room for labels, left and above; names need more.
const LABELS: [f64; 2] = [56.0, 22.0];
/// Room for the legend at a telephone's font size.
const RIGHT: f64 = 132.0;
const BOTTOM: f64 = 24.0;
/// A wide letter, since the browser chooses the font.
const LETTER: f64 = 7.2;
const BAR: f64 = 240.0;
/// Room for a label, and for a rotated one.
const LABEL_ROOM: [f64; 2] = [32.0, 20.0];
/// More rows have no tooltips.
const MOST_TIPS: usize = 64;
/// Wider squares contain figures, with this margin.
const LEAST_SQUARE: f64 = 36.0;
const AIR: f64 = 12.0;

pub struct HeatMap<'a> {
    pub title: &'a str,
    pub about: &'a str,
    /// A description for screen readers; empty for none.
    pub desc: String,
    pub n: usize,
    /// `None` shows the background.
    pub fill: &'a dyn Fn(usize, usize) -> Option<Fill>,
    /// Background, if it has a meaning.
    pub ground: Option<&'static str>,
    /// Figure in a large square; empty for none.
    pub figure: &'a dyn Fn(usize, usize) -> String,
    /// Tooltip in a small matrix; empty for none.
    pub tip: &'a dyn Fn(usize, usize) -> String,
    pub label: &'a dyn Fn(usize) -> String,
    /// Rows at which a group begins, except the first.
    pub begins: Vec<usize>,
    /// Its upper left corner is at the origin.
    pub legend: Markup,
    pub below: String,
}

impl HeatMap<'_> {
    pub fn picture(&self) -> Markup {
        let longest = (0..self.n).map(|row| (self.label)(row).chars().count()).max().unwrap_or(0);
        let names = longest as f64 * LETTER + 10.0;
        let cell = SIDE / self.n.max(1) as f64;
        let left = names.max(LABELS[0]);
        let is_turned = names > LABELS[0] && self.n > 1;
        // A label is rotated by 60 degrees; the sine is 0.87.
        let top = TITLE + if is_turned { 0.87 * names } else { LABELS[1] };
        let width = number(left + SIDE + RIGHT);
        let height = number(top + SIDE + BOTTOM);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" class="picture"
                viewBox=(format!("0 0 {width} {height}")) width=(width)
                height=(height) role="img" font-family="system-ui, sans-serif" font-size="11" {
                title { (self.title) }
                @if !self.desc.is_empty() { desc { (self.desc) } }
                rect.paper width=(width) height=(height) fill="#fff" {}
                text.ink x=(number(left)) y="20" font-size="16" font-weight="600"
                    fill="#1b1f24" { (self.title) }
                text.quiet x=(number(left)) y="40" fill="#57606a" { (self.about) }
                g transform=(format!("translate({} {})", number(left), number(top))) {
                    (self.squares(cell))
                    (self.names(cell, is_turned))
                    g transform=(format!("translate({} 0)", SIDE + 24.0)) { (self.legend) }
                    text.quiet x="0" y=(SIDE + 16.0) fill="#57606a" { (self.below) }
                }
            }
        }
    }

    fn squares(&self, cell: f64) -> Markup {
        let n = self.n;
        html! {
            @if let Some(ground) = self.ground { rect width=(SIDE) height=(SIDE) fill=(ground) {} }
            // Crisp edges: with smoothing, the background would show between equal neighbours.
            g transform=(format!("scale({cell:.6})")) shape-rendering="crispEdges" {
                @for (fill, path) in paths(n, self.fill) {
                    path fill=(fill.hex()) fill-opacity=[fill.opacity()] d=(path) {}
                }
                g.cuts[self.ground.is_none()] stroke=(self.ground.map_or("#fff", |_| "#8b949e"))
                    stroke-width=(number(2.0 / cell)) {
                    @for end in &self.begins { path d=(format!("M{end} 0v{n}M0 {end}h{n}")) {} }
                }
                @if n <= MOST_TIPS {
                    // Painted squares receive the pointer even if invisible.
                    g fill-opacity="0" {
                        @for row in 0..n { @for column in 0..n {
                            @let tip = (self.tip)(row, column);
                            @if !tip.is_empty() { rect x=(column) y=(row) width="1"
                                height="1" { title { (tip) } } }
                        } } }
                }
            }
            @if cell > LEAST_SQUARE {
                // The pointer passes through the figures to the squares with tooltips.
                g.figure font-size="13" text-anchor="middle" pointer-events="none" {
                    @for row in 0..n { @for column in 0..n { (self.in_square(row, column, cell)) } }
                }
            }
        }
    }

    fn in_square(&self, row: usize, column: usize, cell: f64) -> Markup {
        let figure = (self.figure)(row, column);
        let has_room = figure.chars().count() as f64 * LETTER + AIR < cell;
        html! {
            @if let Some(fill) =
                (self.fill)(row, column).filter(|_| has_room && !figure.is_empty())
            {
                // A pale square may have a dark background.
                text.ink[fill.opacity().is_some()] x=(number((column as f64 + 0.5) * cell))
                    y=(number((row as f64 + 0.5) * cell + 4.5))
                    fill=(fill.ink()) { (figure) }
            }
        }
    }

    fn names(&self, cell: f64, is_turned: bool) -> Markup {
        html! {
            g.quiet fill="#57606a" {
                @for at in
                    self.labelled(cell, if is_turned { LABEL_ROOM[1] } else { LABEL_ROOM[0] })
                {
                    @let middle = (at as f64 + 0.5) * cell;
                    @let name = (self.label)(at);
                    text x="-6" y=(number(middle + 4.0)) text-anchor="end" { (name) }
                    @if is_turned {
                        text transform=(
                            format!("translate({} -6) rotate(-60)", number(middle + 4.0))
                        ) { (name) }
                    } @else {
                        text x=(number(middle)) y="-8" text-anchor="middle" { (name) }
                    }
                }
            }
        }
    }

    /// The first row of each group, and between them rows a power of two apart. Siblings are
    /// adjacent, two or four a core: other steps would label the first of one core and the second
    /// of the next, whose numbers are far apart.
    fn labelled(&self, cell: f64, room: f64) -> Vec<usize> {
        let apart = (room / cell).ceil().max(1.0) as usize;
        let step = apart.next_power_of_two();
        let firsts = Vec::from_iter(std::iter::once(0).chain(self.begins.iter().copied()));
        let others = firsts.iter().enumerate().flat_map(|(at, first)| {
            (*first..firsts.get(at + 1).copied().unwrap_or(self.n)).step_by(step)
        });
        let mut taken: Vec<usize> = Vec::new();
        // Place the first rows of groups before others can block them.
        for row in firsts.iter().copied().chain(others) {
            if row < self.n && taken.iter().all(|other| other.abs_diff(row) >= apart) {
                taken.push(row);
            }
        }
        taken.sort_unstable();
        taken
    }
}

/// A colour bar with its ticks, and the unit below. `from_dark`: the low end is dark.
pub fn bar(ticks: &[(f64, String)], unit: &str, from_dark: bool) -> Markup {
    let name = if from_dark { "ramp" } else { "traffic" };
    html! {
        defs {
            linearGradient id=(name) x1="0" y1="1" x2="0" y2="0" {
                @for at in 0..=10 {
                    @let share = f64::from(at) / 10.0;
                    stop offset=(format!("{}%", at * 10))
                        stop-color=(hex(colour(if from_dark { share } else { 1.0 - share }))) {}
                }
            }
        }
        rect width="14" height=(BAR) fill=(format!("url(#{name})")) {}
        g.quiet fill="#57606a" {
            @for (position, text) in ticks {
                text x="20" y=(number(BAR * (1.0 - position) + 4.0)) { (text) }
            }
            text x="0" y=(BAR + 20.0) { (unit) }
        }
    }
}

/// A colour and its meaning, below `place` others.
pub fn swatch(place: usize, below_bar: bool, fill: &str, text: &str) -> Markup {
    let y = 22.0 * place as f64 + if below_bar { BAR + 32.0 } else { 0.0 };
    html! {
        rect x="0" y=(y) width="14" height="14" fill=(fill) {}
        text.quiet x="20" y=(y + 11.0) fill="#57606a" { (text) }
    }
}
