//! The colours of the screen, legible on dark and on light backgrounds.
//!
//! Programs use the 256 fixed colours: of the sixteen named ones, many terminals' blue is illegible
//! on black, and their yellow on white. Red is reserved for faults.

use ratatui::style::{Color, Modifier, Style};

/// Colours of the 6 x 6 x 6 cube: teal, green, ochre, light blue, violet, brown, magenta.
const PROGRAMS: [u8; 7] = [30, 64, 136, 69, 97, 130, 133];

const WRONG: u8 = 160;

/// A program has the same colour in every sample.
pub fn program(name: &str) -> Color {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        // FNV-1a (Fowler, Noll, Vo), 64 bits.
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Color::Indexed(PROGRAMS[(hash % PROGRAMS.len() as u64) as usize])
}

/// Faulty, idle, or in the program's colour; possibly selected.
pub fn row(name: &str, is_wrong: bool, rests: bool, is_selected: bool) -> Style {
    let style: Style = match (is_wrong, rests) {
        // A fault is visible even in an idle thread.
        (true, _) => Color::Indexed(WRONG).into(),
        (false, true) => Modifier::DIM.into(),
        (false, false) => program(name).into(),
    };
    // Some terminals dim both colours of dim text with swapped background.
    let selected =
        || style.remove_modifier(Modifier::DIM).add_modifier(Modifier::REVERSED | Modifier::BOLD);
    if is_selected { selected() } else { style }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2.1).
    fn luminance(number: u8) -> f64 {
        let level =
            |step: u8| if step == 0 { 0.0 } else { (55.0 + 40.0 * f64::from(step)) / 255.0 };
        let linear = |level: f64| {
            if level <= 0.04045 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
        };
        let steps = [(number - 16) / 36, (number - 16) / 6 % 6, (number - 16) % 6];
        let [red, green, blue] = steps.map(level).map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn colours_contrast_with_black_and_white() {
        for number in PROGRAMS.into_iter().chain([WRONG]) {
            let light = luminance(number);
            let on_black = (light + 0.05) / 0.05;
            let on_white = 1.05 / (light + 0.05);
            // The least contrast for large text and pictures (WCAG 2.1, 1.4.11).
            assert!(
                on_black >= 3.0 && on_white >= 3.0,
                "{number}: {on_black:.1} and {on_white:.1}"
            );
        }
    }

    #[test]
    fn only_wrong_things_are_red() {
        let is_red = |number: u8| {
            let red = (number - 16) / 36;
            let green = (number - 16) / 6 % 6;
            let blue = (number - 16) % 6;
            red > green + 2 && red > blue + 2
        };
        assert!(is_red(WRONG) && !PROGRAMS.into_iter().any(is_red));
        assert_eq!(row("a", true, true, false).fg, Some(Color::Indexed(WRONG)));
    }

    #[test]
    fn a_selected_line_is_never_dim() {
        for (is_wrong, rests) in [(false, false), (false, true), (true, false)] {
            let style = row("a", is_wrong, rests, true);
            assert!(
                style.add_modifier.contains(Modifier::REVERSED)
                    && !style.add_modifier.contains(Modifier::DIM)
            );
        }
    }
}
