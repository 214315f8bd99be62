//! Keeps the numbers of a page whole. A narrow browser ends a line at the hyphen of `48-95`, and
//! anywhere in the words of a program; behind a comma of `0-7,96-103` it may.

use crate::glossary::{Piece, name_of, pieces};

/// Elements whose text no line of the page holds.
const LEFT_ALONE: [&str; 5] = ["script", "style", "title", "svg", "noscript"];

/// A body in which no line ends inside a number or a range of numbers, but after each comma of a
/// list of them.
pub(super) fn whole_numbers(body: &str) -> String {
    let mut text = String::with_capacity(body.len());
    let mut left_alone = 0_usize;
    let mut code = 0_usize;
    for piece in pieces(body) {
        match piece {
            Piece::Text(words) if left_alone == 0 => write(&mut text, words, code > 0),
            Piece::Text(words) => text += words,
            Piece::Tag(tag) => {
                let name = name_of(tag);
                let open = if name == "code" { &mut code } else { &mut left_alone };
                if tag.starts_with("</") && is_counted(name) {
                    *open = open.saturating_sub(1);
                } else if is_counted(name) && !tag.ends_with("/>") {
                    *open += 1;
                }
                text += tag;
            }
        }
    }
    text
}

fn is_counted(name: &str) -> bool {
    name == "code" || LEFT_ALONE.contains(&name)
}

/// Writes a text with its numbers whole.
fn write(text: &mut String, words: &str, is_code: bool) {
    let mut rest = words;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        *text += &rest[..at];
        let number = &rest[at..][..length(&rest.as_bytes()[at..])];
        rest = &rest[at + number.len()..];
        if number.contains('-') || (is_code && number.len() > 1) {
            *text += &format!("<span class=\"whole\">{number}</span>");
        } else {
            *text += number;
        }
        if rest.starts_with(',') && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            *text += ",<wbr>";
            rest = &rest[1..];
        }
    }
    *text += rest;
}

/// The bytes of the number, range, date or time with which these bytes begin.
fn length(bytes: &[u8]) -> usize {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let goes_on = |at: usize| is_digit(at) || (b".:-".contains(&bytes[at]) && is_digit(at + 1));
    (0..bytes.len()).find(|at| !goes_on(*at)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::whole_numbers;

    #[test]
    fn a_line_ends_after_a_comma_and_not_inside_a_number() {
        for (body, whole) in [
            ("<td>CPUs 48-95,7.</td>", "<td>CPUs <b>48-95</b>,<wbr>7.</td>"),
            ("at 2026-11-28T16:57:25Z", "at <b>2026-11-28</b>T16:57:25Z"),
            ("-3.5 %, 12 - 14, 5-", "-3.5 %, 12 - 14, 5-"),
            ("<code>echo 120 &gt; a2</code> 120", "<code>echo <b>120</b> &gt; a2</code> 120"),
            ("<svg><text>0-7</text></svg>0-7", "<svg><text>0-7</text></svg><b>0-7</b>"),
            ("<script>a[1-2,3]</script>", "<script>a[1-2,3]</script>"),
        ] {
            let spans = whole.replace("<b>", "<span class=\"whole\">").replace("</b>", "</span>");
            assert_eq!(whole_numbers(body), spans);
        }
    }
}
