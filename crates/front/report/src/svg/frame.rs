//! The frame of a chart: grid, ticks, and the titles of both axes.

use super::number;
use crate::axis::{Axis, AxisUnit};
use maud::{Markup, html};

/// A horizontal tick's text with a margin, in user units.
const TICK_WIDTH: f64 = 62.0;
const TICK_HEIGHT: f64 = 30.0;

pub struct ChartFrame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Axis,
    pub y: Axis,
}

/// The title of an axis.
#[derive(Clone, Copy)]
pub struct Title<'a> {
    /// Text.
    pub text: &'a str,
    /// Unit of its ticks.
    pub unit: AxisUnit,
}

/// The page's style sets the colours.
pub fn chart(size: [f64; 2], label: &str, inside: &Markup) -> Markup {
    let [width, height] = size.map(number);
    html! {
        // A view box without width and height: the page decides the picture's width.
        svg.chart xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}"))
            role="img"
            aria-label=(label) font-family="system-ui, sans-serif" font-size="12" { (inside) }
    }
}

/// A picture for papers and slides, on a white background.
pub fn standalone(size: [f64; 2], inside: &Markup) -> String {
    let [width, height] = size.map(number);
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}"))
            width=(width)
            height=(height) role="img" font-family="system-ui, sans-serif" font-size="12" {
            rect width=(width) height=(height) fill="#fff" {}
            (inside)
        }
    };
    picture.into_string() + "\n"
}

pub fn title_of(text: &str, [x, y]: [f64; 2]) -> Markup {
    html! {
        // Screen readers read the title element; the text is for sighted readers.
        title { (text) }
        text x=(x) y=(y) font-size="16" font-weight="600" fill="#1b1f24" { (text) }
    }
}

/// Horizontal ticks that fit.
pub fn across_most(width: f64) -> usize {
    (width / TICK_WIDTH) as usize
}

/// Vertical ticks that fit.
pub fn up_most(height: f64) -> usize {
    // One tick more than intervals.
    (height / TICK_HEIGHT) as usize + 1
}

impl ChartFrame {
    pub fn x(&self, value: f64) -> f64 {
        self.left + self.width * self.x.position(value)
    }

    pub fn y(&self, value: f64) -> f64 {
        self.bottom() - self.height * self.y.position(value)
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn ticks_up(&self) -> Markup {
        html! {
            @for tick in self.y.ticks(up_most(self.height)) {
                @let y = self.y(tick.value);
                line.rule x1=(number(self.left)) x2=(number(self.right())) y1=(number(y))
                    y2=(number(y)) stroke="#d0d7de" {}
                // The baseline a third of the font size below the line centres the text on it.
                text.tick x=(number(self.left - 6.0)) y=(number(y + 4.0)) text-anchor="end"
                    fill="#57606a" { (tick.text) }
            }
        }
    }

    pub fn ticks_across(&self) -> Markup {
        let bottom = self.bottom();
        html! {
            @for tick in self.x.ticks(across_most(self.width)) {
                @let x = number(self.x(tick.value));
                line.rule x1=(x) x2=(x) y1=(number(bottom)) y2=(number(bottom + 4.0))
                    stroke="#d0d7de" {}
                text.tick x=(x) y=(number(bottom + 17.0)) text-anchor="middle"
                    fill="#57606a" { (tick.text) }
            }
        }
    }

    /// Text above the vertical axis.
    pub fn title_up(&self, text: &str) -> Markup {
        html! { text.axis x="0" y=(number(self.top - 10.0))
        fill="#57606a" { (text) (scaling(&self.y)) } }
    }

    /// Text below the horizontal axis, at its right end.
    pub fn title_across(&self, text: &str) -> Markup {
        html! {
            text.axis x=(number(self.right())) y=(number(self.bottom() + 34.0)) text-anchor="end"
                fill="#57606a" {
                (text) (scaling(&self.x))
            }
        }
    }
}

fn scaling(axis: &Axis) -> &'static str {
    if axis.is_unexpectedly_log() { " (log scale)" } else { "" }
}
