//! Keeps the numbers in a page's tables whole. On a narrow page, a browser breaks lines at the
//! hyphen of `48-95`, and anywhere in code.

use crate::glossary::{Piece, name_of, pieces};
use crate::words::joined;

/// A list of more bytes may be broken after its commas.
const LONGEST_ON_A_LINE: usize = 20;

/// No line in the tables ends inside a number, a range or a short list.
pub fn whole_numbers(body: &str) -> String {
    let mut text = String::with_capacity(body.len());
    let mut cells = 0_usize;
    let mut pictures = 0_usize;
    let mut code = 0_usize;
    for piece in pieces(body) {
        let tag = match piece {
            Piece::Tag(tag) => tag,
            Piece::Text(words) if cells > 0 && pictures == 0 => {
                write(&mut text, words, code > 0);
                continue;
            }
            Piece::Text(words) => {
                text += words;
                continue;
            }
        };
        text += tag;
        let open = match name_of(tag) {
            "td" | "th" => &mut cells,
            "svg" => &mut pictures,
            "code" => &mut code,
            _ => continue,
        };
        *open = if tag.starts_with("</") { open.saturating_sub(1) } else { *open + 1 };
    }
    text
}

fn write(text: &mut String, words: &str, is_code: bool) {
    let mut rest = words;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        *text += &rest[..at];
        let list = &rest[at..][..length(&rest.as_bytes()[at..])];
        rest = &rest[at + list.len()..];
        // `core-i9-12900k` is a name, whatever its digits are.
        let is_name = text.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        let is_list = list.contains('-') && !is_name;
        if list.len() > LONGEST_ON_A_LINE {
            let numbers =
                list.split(',').map(|number| format!("<span class=\"whole\">{number}</span>"));
            *text += &joined(numbers, ",<wbr>");
        } else if is_list || (is_code && list.len() > 1) {
            *text += &format!("<span class=\"whole\">{list}</span>");
        } else {
            *text += list;
        }
    }
    *text += rest;
}

/// The bytes of the number, range, date, time or list at the beginning.
fn length(bytes: &[u8]) -> usize {
    let mut length = 0;
    loop {
        match &bytes[length..] {
            [b'0'..=b'9', ..] | [b'.' | b':' | b'-' | b',', b'0'..=b'9', ..] => length += 1,
            _ => return length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::whole_numbers;

    #[test]
    fn numbers_break_only_after_comma() {
        for (body, whole) in [
            ("<td>CPUs 48-95,7.</td>", "<td>CPUs <b>48-95,7</b>.</td>"),
            (
                "<td>0-7,96-103,1000-1100,9</td>",
                "<td><b>0-7</b>,<wbr><b>96-103</b>,<wbr><b>1000-1100</b>,<wbr><b>9</b></td>",
            ),
            ("<td>0,16</td>", "<td>0,16</td>"),
            ("<th>2026-11-28T16:57:25Z</th>", "<th><b>2026-11-28</b>T16:57:25Z</th>"),
            ("<td>core-i9-12900k</td>", "<td>core-i9-12900k</td>"),
            ("<td>-3.5 %, 12 - 14, 5-</td>", "<td>-3.5 %, 12 - 14, 5-</td>"),
            (
                "<td><code>echo 12 &gt; a2</code> 12</td>",
                "<td><code>echo <b>12</b> &gt; a2</code> 12</td>",
            ),
            ("<td><svg><text>0-7</text></svg></td>", "<td><svg><text>0-7</text></svg></td>"),
            ("<thead><p>0-7,8</p></thead>", "<thead><p>0-7,8</p></thead>"),
        ] {
            let spans = whole.replace("<b>", "<span class=\"whole\">").replace("</b>", "</span>");
            assert_eq!(whole_numbers(body), spans);
        }
    }
}
