//! Text from files, made safe to show.

/// Whether a character is not shown as itself but affects its surroundings: controls (C0, DEL, C1);
/// direction marks, embeddings, overrides and isolates, which reorder text; and zero-width
/// characters.
///
/// These are the Unicode category Cc, the property Default_Ignorable_Code_Point
/// (DerivedCoreProperties.txt, version 16) without the variation selectors of emoji, the line and
/// paragraph separators, and the annotation marks.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Escapes every hidden character as Rust does (`\n`, `\u{202e}`), so the text is one line.
///
/// Used for contents and names of files and names of other programs: in the terminal, pages,
/// pictures and comments of scripts.
///
/// ```
/// assert_eq!(seatmap_os::visible::visible("lab\u{1b}[2J\u{202e}7"), "lab\\u{1b}[2J\\u{202e}7");
/// ```
pub fn visible(text: &str) -> String {
    escaped(text, is_hidden)
}

/// Like [`visible`], but keeps line ends.
pub fn visible_lines(text: String) -> String {
    // Most texts need no escapes and no copy.
    if text.contains(is_escaped) { escaped(&text, is_escaped) } else { text }
}

fn is_escaped(c: char) -> bool {
    c != '\n' && is_hidden(c)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_escaped() {
        assert_eq!(
            visible("a\nb\t\u{1b}[31m\u{7f}\u{9b}1m"),
            "a\\nb\\t\\u{1b}[31m\\u{7f}\\u{9b}1m"
        );
    }

    #[test]
    fn bidirectional_and_zero_width_characters_are_escaped() {
        for c in [
            '\u{200b}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}',
            '\u{2066}',
        ] {
            assert_eq!(visible(&format!("a{c}b")), format!("a\\u{{{:x}}}b", c as u32));
        }
        for c in ['\u{2069}', '\u{feff}', '\u{ad}', '\u{61c}', '\u{180e}', '\u{e0041}'] {
            assert!(is_hidden(c), "{c:?}");
        }
    }

    #[test]
    fn human_text_is_unchanged() {
        let text = "Zoë's 机器 (日本語), עברית, ﷼, e\u{301}, ❤\u{fe0f} 100 % \\ \"x\"";
        assert_eq!(visible(text), text);
        assert_eq!(visible_lines(format!("{text}\n{text}\n")), format!("{text}\n{text}\n"));
    }

    #[test]
    fn page_output_keeps_only_line_ends() {
        assert_eq!(visible_lines("a\r\nb\u{202e}\n".into()), "a\\r\nb\\u{202e}\n");
    }
}
