//! The caption below a picture: the legend, and the number of PUs in a cell.

use super::paint::PaintedLine;
use super::{Colour, DrawOptions};
use crate::palette::colour;
use crate::reduced::Reduced;
use crate::words::joined;
use crate::{Digits, Scale};
use anstyle::Style;

pub const LINES: usize = 2;
const BAR: usize = 30;

/// The legend, in [`LINES`] lines.
pub fn legend(scale: Option<Scale>, digits: Digits, options: &DrawOptions) -> String {
    let Some(scale) = scale else { return note(None, options) + "\n" };
    match options.colour {
        Colour::None => steps(scale, digits, options.width) + "\n" + &note(Some(scale), options),
        _ => bar(scale, digits, options) + &note(Some(scale), options),
    }
}

pub fn note(scale: Option<Scale>, options: &DrawOptions) -> String {
    let Some(scale) = scale else { return "no distance known\n".to_owned() };
    let what = match options.home {
        Some(home) => format!("predicted round trip in ns, home {home}, {} scale", scale.word()),
        None => format!("round trip in ns, {} scale", scale.word()),
    };
    let unknown = if options.colour == Colour::None { "? is unknown" } else { "grey is unknown" };
    cut(&format!("{what}; {unknown}"), options.width) + "\n"
}

fn bar(scale: Scale, digits: Digits, options: &DrawOptions) -> String {
    let (low, high) = ends(scale, digits);
    let length = BAR.min(options.width.saturating_sub(low.len() + high.len() + 2));
    // If there is room for only one, figures matter more than colours.
    if length == 0 {
        return cut(&format!("{low} {high}"), options.width) + "\n";
    }
    let mut line = PaintedLine::default();
    line.push(Style::new(), &format!("{low} "));
    for at in 0..length {
        let position = at as f64 / (length - 1).max(1) as f64;
        line.push(options.colour.style(Some(colour(position)), None), "█");
    }
    line.push(Style::new(), &format!(" {high}"));
    line.end()
}

/// The distance at which each digit begins.
fn steps(scale: Scale, digits: Digits, width: usize) -> String {
    let line = |at: &[u32]| {
        let steps = at
            .iter()
            .map(|at| format!("{at}: {}", digits.show(scale.value_ns(f64::from(*at) / 10.0))));
        format!("from {}", joined(steps, "  "))
    };
    let lines = [line(&[0, 2, 4, 6, 8, 9]), line(&[0, 3, 6, 9]), line(&[0, 9])];
    // The most steps that fit: the legend has a fixed number of lines.
    let fits = lines.iter().find(|line| line.len() <= width);
    fits.cloned().unwrap_or_else(|| cut(&lines[2], width))
}

fn ends(scale: Scale, digits: Digits) -> (String, String) {
    let sign = |outside: bool, sign: &str| if outside { sign.to_owned() } else { String::new() };
    let low = format!("{}{} ns", sign(scale.below, "<="), digits.show(scale.low_ns));
    let high = format!("{}{} ns", sign(scale.above, ">="), digits.show(scale.high_ns));
    (low, high)
}

pub fn reduction(small: &Reduced) -> String {
    match small.largest() {
        1 => String::new(),
        // Plural: one is omitted.
        size => format!("each cell: median of {size} x {size} PUs\n"),
    }
}

pub fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}
