//! Coloured text with as few escape sequences as possible.

use super::Colour;
use crate::palette::{Rgb, ansi256};
use anstyle::{Ansi256Color, Color, RgbColor, Style};

impl Colour {
    /// A style reduced to the terminal's colours.
    pub(super) fn style(self, foreground: Option<Rgb>, background: Option<Rgb>) -> Style {
        Style::new()
            .fg_color(foreground.and_then(|rgb| self.of(rgb)))
            .bg_color(background.and_then(|rgb| self.of(rgb)))
    }

    /// Bold text, if the terminal supports styles.
    pub(crate) fn bold(self, text: &str) -> String {
        match self {
            Colour::None => text.to_owned(),
            _ => format!("{style}{text}{style:#}", style = Style::new().bold()),
        }
    }

    fn of(self, rgb: Rgb) -> Option<Color> {
        match self {
            Colour::True => Some(RgbColor(rgb[0], rgb[1], rgb[2]).into()),
            Colour::Ansi256 => Some(Ansi256Color(ansi256(rgb)).into()),
            Colour::None => None,
        }
    }
}

/// Escape sequences occur only where the style changes.
#[derive(Default)]
pub struct PaintedLine {
    text: String,
    style: Style,
}

impl PaintedLine {
    pub fn push(&mut self, style: Style, text: &str) {
        if style != self.style {
            self.text += &format!("{:#}{style}", self.style);
            self.style = style;
        }
        self.text += text;
    }

    /// The line without trailing blanks.
    pub fn end(mut self) -> String {
        // Reset first: blanks on a coloured background belong to the picture and must stay.
        self.push(Style::new(), "");
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_styles_share_one_escape_sequence() {
        let style = Colour::True.style(Some([1, 2, 3]), None);
        let mut line = PaintedLine::default();
        line.push(style, "a");
        line.push(style, "b");
        line.push(Style::new(), "c  ");
        assert_eq!(line.end(), "\u{1b}[38;2;1;2;3mab\u{1b}[0mc\n");
    }

    #[test]
    fn colourless_text_has_no_escape_sequences() {
        let mut line = PaintedLine::default();
        line.push(Colour::None.style(Some([1, 2, 3]), Some([4, 5, 6])), "ab");
        assert_eq!(line.end() + &Colour::None.bold("c"), "ab\nc");
    }
}
