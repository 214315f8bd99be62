//! The frame of every HTML page.

use super::numbers::whole_numbers;
use crate::glossary;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use seatmap_data::document::{is_hidden, visible_lines};

pub const CSS: &str = concat!(
    include_str!("../../assets/page.css"),
    ":root[data-theme=\"dark\"] {\n",
    include_str!("../../assets/dark.css"),
    "}\n@media (prefers-color-scheme: dark) {\n:root:not([data-theme=\"light\"]) {\n",
    include_str!("../../assets/dark.css"),
    "}\n}\n"
);
const THEME: &str = include_str!("../../assets/theme.js");
/// Allows only the contents of the file itself.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The head of a page: its title, the switch between light and dark, the sentence of the result,
/// and more.
pub fn head(title: &str, sentence: &str, more: &Markup) -> Markup {
    html! {
        header {
            div.title {
                h1 { (title) }
                button.js #theme type="button"
                    aria-label="Switch between light and dark" { "Light / dark" }
            }
            p.sentence { (sentence) }
            (more)
        }
    }
}

/// A complete page: a body in the common style, a script, and its JSON in the element `data`. Adds
/// tooltips to the body's terms, and their list.
///
/// Escapes `title` and hidden characters in `title` and `body`. `script` is inserted unchanged, so
/// it must never come from a file. `data` may contain anything: text that could end its element is
/// escaped. A script that displays text from `data` must receive it with hidden characters already
/// visible.
pub fn document(title: &str, body: &Markup, script: &str, data: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // The policy must precede everything that could load a resource.
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // An empty icon, so the browser does not request favicon.ico.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(CSS)) }
                // Sets the theme before the first paint, so a dark page does not flash.
                script { (PreEscaped(THEME)) }
                noscript { style { ".js { display: none !important }" } }
            }
            body {
                (PreEscaped(whole_numbers(&glossary::explained(body).0)))
                // The type keeps the browser from running it; the next script reads it.
                script type="application/json" id="data" { (PreEscaped(inert(data))) }
                script { (PreEscaped(script)) }
            }
        }
    };
    visible_lines(page.into_string())
}

/// `<` and hidden characters occur only in strings, where they can be escaped.
fn inert(json: &str) -> String {
    let mut inert = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => inert.push_str("\\u003c"),
            // JSON escapes UTF-16 units: a character beyond the first 65536 is two of them.
            c if c != '\n' && is_hidden(c) => c
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| inert += &format!("\\u{unit:04x}")),
            c => inert.push(c),
        }
    }
    inert
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_escaped() {
        let body = html! { p { ("<script>alert(1)</script>") } };
        let text = document(
            "</title><script>",
            &body,
            "",
            r#"{"name":"</script><script>alert(2)</script>"}"#,
        );
        assert_eq!(text.matches("<script").count(), 3);
        assert!(text.contains(r#"{"name":"\u003c/script>\u003cscript>alert(2)\u003c/script>"}"#));
        assert!(text.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"));
    }

    #[test]
    fn hidden_characters_are_escaped_in_text_and_data() {
        let name = "a\u{202e}b\u{9b}";
        let text = document(
            name,
            &html! { p { (name) } },
            "",
            &serde_json::json!({ "name": name }).to_string(),
        );
        assert!(!text.contains(|c: char| c != '\n' && is_hidden(c)));
        assert!(
            text.contains("<p>a\\u{202e}b\\u{9b}</p>")
                && text.contains(r#"{"name":"a\u202eb\u009b"}"#)
        );
    }

    #[test]
    fn document_loads_nothing_external() {
        let text = document("x", &html! {}, "", "null");
        assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("url("));
        assert!(text.contains("default-src &#39;none&#39;") || text.contains("default-src 'none'"));
    }
}
