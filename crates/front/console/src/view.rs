//! Determines the terminal's colours and columns.

use clap::ValueEnum;
use seatmap_report::terminal::{Colour, LEAST_COLUMNS};
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// When and how to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColourChoice {
    /// On a terminal, the colours that it supports.
    Auto,
    /// 24-bit colours.
    True,
    /// The 256 fixed colours.
    #[value(name = "256")]
    Ansi256,
    /// No colours.
    #[value(alias = "none")]
    Never,
}

/// The width if the terminal reports none.
const USUAL_WIDTH: usize = 100;

/// Beyond this, cells only grow.
const WIDEST: usize = 200;

/// The value of `--colour`.
static COLOURS: OnceLock<ColourChoice> = OnceLock::new();

/// Sets the colours from now on. Only the first call has an effect.
pub fn choose_colours(choice: ColourChoice) {
    COLOURS.get_or_init(|| choice);
}

/// The colours for a stream. NO_COLOR (no-color.org) applies unless the command line requests
/// colours.
pub fn colour(stream: &impl IsTerminal) -> Colour {
    match COLOURS.get().unwrap_or(&ColourChoice::Auto) {
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

/// The colours from COLORTERM and TERM.
fn offered() -> Colour {
    match (variable("COLORTERM").as_str(), variable("TERM").as_str()) {
        // COLORTERM announces 24-bit colours; TERM, the terminal's type, usually does not.
        ("truecolor" | "24bit", _) => Colour::True,
        (_, "" | "dumb") => Colour::None,
        _ => Colour::Ansi256,
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Text is never wrapped, even on a narrow terminal.
static STAYS_WIDE: AtomicBool = AtomicBool::new(false);

/// Disables wrapping from now on, for `--wide`.
pub fn stay_wide() {
    STAYS_WIDE.store(true, Ordering::Relaxed);
}

/// The value of `--width`; 0 by default.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Sets the width of pictures and text from now on, if `--width` is given.
pub fn keep_to(columns: Option<u16>) {
    ASKED.store(columns.unwrap_or(0).into(), Ordering::Relaxed);
}

fn asked() -> Option<usize> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|columns| *columns > 0)
}

/// The width of pictures, in columns.
pub fn width() -> usize {
    let here = || columns_set().or_else(|| size().map(|(width, _)| width));
    asked().unwrap_or_else(|| here().map_or(USUAL_WIDTH, |width| width.min(WIDEST)))
}

/// The width of text on a stream: the value of `--width`, else COLUMNS as for ps(1), else the
/// terminal's. A file or pipe has none: its lines stay whole, so grep(1) finds a sentence.
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

fn columns_set() -> Option<usize> {
    variable("COLUMNS").parse().ok().filter(|columns| *columns >= LEAST_COLUMNS)
}

/// Columns and lines of the terminal.
pub fn size() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size()?;
    Some((width.0.into(), height.0.into()))
}
