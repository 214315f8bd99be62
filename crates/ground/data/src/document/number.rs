//! Numbers as programs print them, and as in files and documents.

use std::str::FromStr;

/// A number in decimal digits; commas may separate thousands, in groups of three. `None` for
/// decimal commas ("1.234,5", "1,5"), which would be misread without commas, and for infinity, NaN
/// and inexact subnormal numbers.
///
/// ```
/// use seatmap_data::document::printed_number;
/// assert_eq!(printed_number("1,234.5"), Some(1234.5));
/// assert_eq!(printed_number("1.234,5"), None);
/// ```
pub fn printed_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole_end =
        unsigned.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(whole_end);
    if rest.contains(|c: char| !c.is_ascii_digit() && !".eE+-".contains(c))
        || !has_thousands_in_groups(whole)
    {
        return None;
    }
    let number: f64 = text.replace(',', "").parse().ok()?;
    (number.is_normal() || is_zero(unsigned)).then_some(number)
}

/// A number from a file in decimal digits, optionally with a point and an exponent. `None` for
/// everything else: thousands in groups, `nan`, `inf`, and numbers too small to be exact (`1e-320`,
/// `1e-400`).
///
/// ```
/// use seatmap_data::document::decimal_number;
/// assert_eq!(decimal_number("1.5e3"), Some(1500.0));
/// let refused = ["1,234", "1.234,5", "nan", "1e-400", "0x10", "1_000"];
/// assert!(refused.iter().all(|text| decimal_number(text).is_none()));
/// ```
pub fn decimal_number(text: &str) -> Option<f64> {
    let is_one_word = !text.contains(|c: char| c == ',' || c.is_whitespace());
    printed_number(text).filter(|_| is_one_word)
}

/// A whole number from a file in decimal digits only: no sign, no `0x`, no `_`. `None` if it does
/// not fit.
///
/// ```
/// use seatmap_data::document::whole_number;
/// assert_eq!(whole_number("17"), Some(17));
/// assert_eq!(["+17", "300"].map(whole_number::<u8>), [None, None]);
/// ```
pub fn whole_number<T: FromStr>(text: &str) -> Option<T> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits { text.parse().ok() } else { None }
}

/// Whether all digits are zeros: a number too small for a double also becomes zero.
fn is_zero(unsigned: &str) -> bool {
    let mantissa = unsigned.split(['e', 'E']).next().unwrap_or_default();
    !mantissa.contains(|c: char| ('1'..='9').contains(&c))
}

fn has_thousands_in_groups(whole: &str) -> bool {
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let mut others = groups.peekable();
    let is_parted = others.peek().is_some();
    !is_parted || (1..=3).contains(&first.len()) && others.all(|group| group.len() == 3)
}

/// Rounds to a thousandth of a nanosecond, so a time read back from a file is unchanged.
pub fn rounded_ns(ns: f64) -> f64 {
    (ns * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_numbers_are_read() {
        let cases = [
            ("42", 42.0),
            (" -1.5\n", -1.5),
            ("+3", 3.0),
            ("1e3", 1000.0),
            ("2.5E-3", 0.0025),
            (".5", 0.5),
            ("5.", 5.0),
            ("0", 0.0),
            ("0.000e5", 0.0),
            ("1,234", 1234.0),
            ("12,345,678.25", 12_345_678.25),
        ];
        for (text, number) in cases {
            assert_eq!(printed_number(text), Some(number), "{text}");
        }
    }

    #[test]
    fn ambiguous_numbers_are_refused() {
        for text in [
            "", ",", ".", "-", "1,5", "1.234,5", "1,23,456", "1234,567", ",123", "1,234,",
            "1.5,000", "inf", "-nan", "infinity", "0x10", "1e400", "1e-400", "1e-310", "4.9e-324",
            "1 2", "12 ms", "1_000", "1'000", "1e", "--1",
        ] {
            assert_eq!(printed_number(text), None, "{text}");
        }
    }
}
