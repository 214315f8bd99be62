//! Finds out how many colours and columns the terminal has.

use clap::ValueEnum;
use seatmap_report::terminal::{Colour, LEAST_COLUMNS};
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// When and how to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColourChoice {
    /// On a terminal, as many colours as it says it has.
    Auto,
    /// 24-bit colours.
    True,
    /// The 256 fixed colours.
    #[value(name = "256")]
    Ansi256,
    /// None.
    #[value(alias = "none")]
    Never,
}

/// Columns where the terminal does not say.
const USUAL_WIDTH: usize = 100;

/// Beyond this, cells only grow.
const WIDEST: usize = 200;

/// The colours to draw with on a stream that is, or is not, a terminal. NO_COLOR (no-color.org)
/// rules unless the command line asks for colours.
pub fn colour(choice: ColourChoice, stream: &impl IsTerminal) -> Colour {
    match choice {
        ColourChoice::True => Colour::True,
        ColourChoice::Ansi256 => Colour::Ansi256,
        ColourChoice::Never => Colour::None,
        ColourChoice::Auto if !stream.is_terminal() || set("NO_COLOR") => Colour::None,
        ColourChoice::Auto => offered(),
    }
}

fn set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// The colours that COLORTERM and TERM announce.
fn offered() -> Colour {
    match (variable("COLORTERM").as_str(), variable("TERM").as_str()) {
        // COLORTERM knows of 24-bit colours; TERM, which names a terminal's type, mostly does not.
        ("truecolor" | "24bit", _) => Colour::True,
        (_, "" | "dumb") => Colour::None,
        _ => Colour::Ansi256,
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Whether text stays as wide as it is, though a terminal is narrower.
static STAYS_WIDE: AtomicBool = AtomicBool::new(false);

/// Leaves lines and tables as wide as they are from now on, as `--wide` asks.
pub fn stay_wide() {
    STAYS_WIDE.store(true, Ordering::Relaxed);
}

/// The columns that `--width` asks for; 0 where it was not given.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Keeps pictures and text to so many columns from now on, where `--width` gives a number.
pub fn keep_to(columns: Option<u16>) {
    ASKED.store(columns.unwrap_or(0).into(), Ordering::Relaxed);
}

fn asked() -> Option<usize> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|columns| *columns > 0)
}

/// Columns to draw pictures in.
pub fn width() -> usize {
    let here = || columns_set().or_else(|| size().map(|(width, _)| width));
    asked().unwrap_or_else(|| here().map_or(USUAL_WIDTH, |width| width.min(WIDEST)))
}

/// The columns that text on a stream has to fit into: those that were asked for, those of its
/// terminal, or COLUMNS where that is set, as for ps(1). A file or pipe has none of its own, and
/// gets every line whole, so that grep(1) finds a sentence.
pub fn text_columns(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if STAYS_WIDE.load(Ordering::Relaxed) {
        return None;
    }
    let of_terminal = || {
        let size = terminal_size::terminal_size_of(stream).filter(|_| stream.is_terminal())?;
        Some(usize::from(size.0.0)).filter(|columns| *columns > 0)
    };
    asked().or_else(columns_set).or_else(of_terminal)
}

/// The columns that the environment names.
fn columns_set() -> Option<usize> {
    variable("COLUMNS").parse().ok().filter(|columns| *columns >= LEAST_COLUMNS)
}

/// Columns and lines of the terminal.
pub fn size() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size()?;
    Some((width.0.into(), height.0.into()))
}
