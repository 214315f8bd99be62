//! The times between named things: figures in a terminal, a heat map on a page.

use super::{Medium, Table};
use crate::svg::cells::Fill;
use crate::svg::heat::{HeatMap, bar, swatch};
use crate::svg::{APART, bar_ticks};
use crate::words::time;
use crate::{AxisUnit, Scale};
use maud::{Markup, html};
use seatmap_data::machine::{Matrix, Square};

/// As many rows as fit on a screen.
const MOST_ROWS: usize = 24;
/// With more rows, squares would be smaller than a dot.
const MOST_DRAWN: usize = 256;

/// The middle of the scale, pale.
const PALE: &str = "#218f8d73";

/// A time for each pair.
pub struct PairTimes {
    pub title: &'static str,
    /// Meaning of brackets in a terminal.
    pub brackets: &'static str,
    pub short: Vec<String>,
    pub names: Vec<String>,
    /// Rows at which a group begins.
    pub begins: Vec<usize>,
    pub times_ns: Matrix,
    /// The others are predicted.
    pub is_measured: Square<bool>,
}

impl PairTimes {
    pub fn fits(&self, medium: Medium) -> bool {
        let most = if medium == Medium::Html { MOST_DRAWN } else { MOST_ROWS };
        (2..=most).contains(&self.short.len())
    }

    pub fn heading(&self) -> String {
        format!("{}, ms{}", self.title, self.brackets)
    }

    /// Milliseconds; predicted times are in brackets.
    pub fn table(&self) -> Table {
        let n = self.short.len();
        // Seven letters for a predicted time, '(12.34)'.
        let width = self.short.iter().map(|name| name.chars().count()).fold(7, usize::max);
        let names = self.short.iter().map(String::as_str);
        Table::default()
            .figures(std::iter::once("").chain(names))
            .dense()
            .least(std::iter::repeat(width))
            .rows((0..n).map(|row| {
                let times = (0..n).map(move |column| self.cell(row, column));
                std::iter::once(self.short[row].clone()).chain(times)
            }))
    }

    fn cell(&self, row: usize, column: usize) -> String {
        let ms = format!("{:.2}", self.times_ns[(row, column)] / 1e6);
        if row == column {
            ".".to_owned()
        } else if self.is_measured[(row, column)] {
            ms
        } else {
            format!("({ms})")
        }
    }

    /// Predicted squares are pale.
    pub fn picture(&self) -> Markup {
        let n = self.short.len();
        let Some(scale) = Scale::of(self.times_ns.pairs().map(|(_, _, ns)| *ns)) else {
            return html! {};
        };
        let is_whole = self.is_measured.pairs().all(|(_, _, measured)| *measured);
        // The ticks include the unit, so only a logarithmic scale needs a note.
        let unit = if scale.log { "log" } else { "" };
        let map = HeatMap {
            title: self.title,
            about: "Rows and columns: nodes",
            desc: String::new(),
            n,
            fill: &|row, column| self.fill(scale, row, column),
            ground: None,
            figure: &|row, column| time(self.times_ns[(row, column)]),
            tip: &|row, column| self.tip(row, column),
            label: &|row| self.short[row].clone(),
            begins: self.begins.clone(),
            legend: html! {
                (bar(&bar_ticks(scale, AxisUnit::Time, time, APART), unit, true))
                @if !is_whole { (swatch(0, true, PALE, "predicted")) }
            },
            below: String::new(),
        };
        map.picture()
    }

    fn fill(&self, scale: Scale, row: usize, column: usize) -> Option<Fill> {
        let fill = Fill::at(scale.position(self.times_ns[(row, column)]));
        // The diagonal stays empty: a node has no path to itself.
        (row != column).then(|| if self.is_measured[(row, column)] { fill } else { fill.pale() })
    }

    fn tip(&self, row: usize, column: usize) -> String {
        if row == column {
            return String::new();
        }
        let how = if self.is_measured[(row, column)] { "" } else { ", predicted" };
        let time = time(self.times_ns[(row, column)]);
        format!("{} and {}: {time}{how}", self.names[row], self.names[column])
    }
}
