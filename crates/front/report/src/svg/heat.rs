//! A matrix as a picture: coloured squares, labels at both edges, and the meaning of the colours.

use super::cells::{Fill, paths};
use super::number;
use crate::palette::{colour, hex};
use maud::{Markup, html};

/// Side of the square of cells, in user units.
const SIDE: f64 = 640.0;
/// Room for the title, above.
const TITLE: f64 = 50.0;
/// Room for labels of CPUs or tasks: left, and above. Names need more.
const LABELS: [f64; 2] = [56.0, 22.0];
/// Room for the legend, right, with the letters of a telephone.
const RIGHT: f64 = 132.0;
/// Room below.
const BOTTOM: f64 = 24.0;
/// The width of a letter: a wide one, since the page's font is the reader's own.
const LETTER: f64 = 7.2;
/// Height of the bar of colours.
const BAR: f64 = 240.0;
/// Room that a label needs, and a turned one, in user units.
const LABEL_ROOM: [f64; 2] = [32.0, 20.0];
/// Up to so many rows, each square has its tip.
const MOST_TIPS: usize = 64;
/// Squares wider than this hold figures, with some air beside these.
const LEAST_SQUARE: f64 = 36.0;
const AIR: f64 = 12.0;

/// All that one picture shows.
pub(crate) struct HeatMap<'a> {
    /// Its title.
    pub title: &'a str,
    /// The things that rows and columns stand for.
    pub about: &'a str,
    /// A description for those who do not see the picture; empty for none.
    pub desc: String,
    /// Rows and columns.
    pub n: usize,
    /// The colour of a square; `None` on the ground.
    pub fill: &'a dyn Fn(usize, usize) -> Option<Fill>,
    /// The ground, where it means something.
    pub ground: Option<&'static str>,
    /// The figure in a square, where squares are large enough; empty for none.
    pub figure: &'a dyn Fn(usize, usize) -> String,
    /// The words about a square of a small matrix that somebody points at; empty for none.
    pub tip: &'a dyn Fn(usize, usize) -> String,
    /// The label of a row and column; not all have room.
    pub label: &'a dyn Fn(usize) -> String,
    /// The rows at which a group begins, but for the first.
    pub begins: Vec<usize>,
    /// The scale, drawn with its upper left corner at the origin.
    pub legend: Markup,
    /// The line below.
    pub below: String,
}

impl HeatMap<'_> {
    /// The whole picture.
    pub fn picture(&self) -> Markup {
        let longest = (0..self.n).map(|row| (self.label)(row).chars().count()).max().unwrap_or(0);
        let names = longest as f64 * LETTER + 10.0;
        let cell = SIDE / self.n.max(1) as f64;
        let left = names.max(LABELS[0]);
        // Names that are wider than a column are turned.
        let is_turned = names > LABELS[0] && self.n > 1;
        // Labels turned by 60 degrees are as high as the sine of that, 0.87, times their length.
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
            // Crisp edges: smoothed ones would let the ground shine through between equal
            // neighbours.
            g transform=(format!("scale({cell:.6})")) shape-rendering="crispEdges" {
                @for (fill, path) in paths(n, self.fill) {
                    path fill=(fill.hex()) fill-opacity=[fill.opacity()] d=(path) {}
                }
                // Two units wide, whatever the squares are scaled by. White lines would vanish on a
                // light ground.
                g.cuts[self.ground.is_none()] stroke=(self.ground.map_or("#fff", |_| "#8b949e"))
                    stroke-width=(number(2.0 / cell)) {
                    @for end in &self.begins { path d=(format!("M{end} 0v{n}M0 {end}h{n}")) {} }
                }
                @if n <= MOST_TIPS {
                    // Squares that are painted, if invisibly, receive the pointer; a path of many
                    // squares has one tip.
                    g fill-opacity="0" {
                        @for row in 0..n { @for column in 0..n { (self.tipped(row, column)) } } }
                }
            }
            @if cell > LEAST_SQUARE {
                // The pointer passes through the figures to the squares with the tips.
                g.figure font-size="13" text-anchor="middle" pointer-events="none" {
                    @for row in 0..n { @for column in 0..n { (self.in_square(row, column, cell)) } }
                }
            }
        }
    }

    fn tipped(&self, row: usize, column: usize) -> Markup {
        let tip = (self.tip)(row, column);
        html! {
            @if !tip.is_empty() { rect x=(column) y=(row) width="1" height="1" { title { (tip) } } }
        }
    }

    fn in_square(&self, row: usize, column: usize, cell: f64) -> Markup {
        let figure = (self.figure)(row, column);
        let has_room = figure.chars().count() as f64 * LETTER + AIR < cell;
        html! {
            @if let Some(fill) =
                (self.fill)(row, column).filter(|_| has_room && !figure.is_empty())
            {
                // On a pale square the page's own ink is used, since its ground may be dark.
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

    /// The rows that get a label, from the first to the last: the first of each group, and in
    /// between rows that are a power of two apart, none too near another. Siblings stand side by
    /// side, two or four a core: other steps would name the first of one core and the second of the
    /// next, which are numbered far apart.
    fn labelled(&self, cell: f64, room: f64) -> Vec<usize> {
        let apart = (room / cell).ceil().max(1.0) as usize;
        let step = apart.next_power_of_two();
        let firsts: Vec<usize> = std::iter::once(0).chain(self.begins.iter().copied()).collect();
        let others = firsts.iter().enumerate().flat_map(|(at, first)| {
            (*first..firsts.get(at + 1).copied().unwrap_or(self.n)).step_by(step)
        });
        let mut taken: Vec<usize> = Vec::new();
        // Firsts of groups take their places before others can be too near.
        for row in firsts.iter().copied().chain(others) {
            if row < self.n && taken.iter().all(|other| other.abs_diff(row) >= apart) {
                taken.push(row);
            }
        }
        taken.sort_unstable();
        taken
    }
}

/// A bar of colours with (position, text) beside it, and the unit below. `from_dark` says which end
/// is the low one.
pub(crate) fn bar(ticks: &[(f64, String)], unit: &str, from_dark: bool) -> Markup {
    let name = if from_dark { "ramp" } else { "traffic" };
    html! {
        defs {
            // From the bottom to the top, where the far end or the largest stands.
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

/// A colour and its meaning, below so many others and a bar.
pub(crate) fn swatch(place: usize, below_bar: bool, fill: &str, text: &str) -> Markup {
    let y = 22.0 * place as f64 + if below_bar { BAR + 32.0 } else { 0.0 };
    html! {
        rect x="0" y=(y) width="14" height="14" fill=(fill) {}
        text.quiet x="20" y=(y + 11.0) fill="#57606a" { (text) }
    }
}
