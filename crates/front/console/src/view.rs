//! Finds out how many colours and columns the terminal has.

use clap::ValueEnum;
use seatmap_report::terminal::Colour;
use std::io::IsTerminal;

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

/// Columns to draw in.
pub fn width(columns: Option<u16>) -> usize {
    columns
        .map(usize::from)
        .unwrap_or_else(|| size().map_or(USUAL_WIDTH, |(width, _)| width.min(WIDEST)))
}

/// Columns and lines of the terminal.
pub fn size() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size()?;
    Some((width.0.into(), height.0.into()))
}
