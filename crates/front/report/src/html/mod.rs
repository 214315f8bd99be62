//! One self-contained HTML page: no request leaves it, now or in ten years.
//!
//! [`page`] shows a profile. [`document`] is the frame around any page of Seatmap (style, light and
//! dark, the terms explained, and a policy that forbids the browser to load anything); placements,
//! noise, seatings and others fill it with their own bodies.

mod charts;
mod data;
mod doctor;
mod map;
mod page;
mod replay;
mod seating;
pub(crate) mod tables;

pub use doctor::doctor;
pub use page::page;
pub use replay::replay;
pub use seating::seating_page;
pub use tables::facts;

use crate::floor::Comparison;
use crate::glossary;
use crate::page::draw;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use seatmap_cluster::Cluster;
use seatmap_document::{is_hidden, visible_lines};
use seatmap_machine::Profile;
use seatmap_noise::NoiseReport;
use seatmap_pattern::Pattern;
use seatmap_plan::Plan;
use seatmap_tune::{Results, Tuned};

/// The style of all pages.
pub(crate) const CSS: &str = concat!(
    include_str!("../../assets/page.css"),
    ":root[data-theme=\"dark\"] {\n",
    include_str!("../../assets/dark.css"),
    "}\n@media (prefers-color-scheme: dark) {\n:root:not([data-theme=\"light\"]) {\n",
    include_str!("../../assets/dark.css"),
    "}\n}\n"
);
/// The switch between light and dark, on all pages.
const THEME: &str = include_str!("../../assets/theme.js");
/// The policy that allows only the contents of the file itself.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The head of a page: its title, the switch between light and dark, the one sentence that says
/// what to make of the page, and anything else that the reader should know before its figures.
#[must_use]
pub fn head(title: &str, sentence: &str, more: &Markup) -> Markup {
    html! {
        header {
            div.title {
                h1 { (title) }
                button.js #theme type="button" aria-label="Switch between light and dark" { "Light / dark" }
            }
            p.sentence { (sentence) }
            (more)
        }
    }
}

/// A whole page: a body in the common style, a script, and the JSON that the script finds in the
/// element `data`. The terms of the field in the body get their tooltips here, and their list at
/// the end.
///
/// `title` and the text in `body` are escaped, and hidden characters in them are made visible;
/// `script` is taken as it is and must come from this program, never from a file. `data` may hold
/// anything: all text that could end its element is escaped. A script that shows text from `data`
/// must be given it visible.
#[must_use]
pub fn document(title: &str, body: &Markup, script: &str, data: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // The policy stands before everything that could load something.
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // An empty icon, or the browser would ask the server for favicon.ico.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(CSS)) }
                // In the head: the theme is set before the body is painted, so that a dark page
                // does not flash.
                script { (PreEscaped(THEME)) }
                noscript { style { ".js { display: none !important }" } }
            }
            body {
                (glossary::explained(body))
                // Not a script to the browser because of its type: it is read by the next one.
                script type="application/json" id="data" { (PreEscaped(inert(data))) }
                script { (PreEscaped(script)) }
            }
        }
    };
    visible_lines(page.into_string())
}

/// Commands compared by running them, as one HTML file.
#[must_use]
pub fn bench(results: &Results) -> String {
    draw::html(&crate::bench::page(results))
}

/// A race of ways to seat a program, as one HTML file.
#[must_use]
pub fn tune(tuned: &Tuned) -> String {
    draw::html(&crate::tune::page(tuned))
}

/// A measured cluster as one HTML file: its switches with their nodes, the round trips of all
/// pairs, and what is odd.
#[must_use]
pub fn cluster(cluster: &Cluster) -> String {
    draw::html(&crate::cluster::blocks(cluster))
}

/// The noise on some CPUs, as one HTML file.
#[must_use]
pub fn noise(report: &NoiseReport) -> String {
    draw::html(&crate::noise::page(report))
}

/// A pattern as one HTML file: its figures, its matrix, and what is sent most.
#[must_use]
pub fn pattern(pattern: &Pattern) -> String {
    draw::html(&crate::pattern::page(pattern))
}

/// A plan as one HTML file: its gain, the seats, the distances of the machine and those between the
/// tasks.
#[must_use]
pub fn placement(
    profile: &Profile,
    pattern: &Pattern,
    plan: &Plan,
    comparison: &Comparison,
) -> String {
    draw::html(&crate::placement::page(profile, pattern, plan, comparison))
}

/// JSON that cannot end the element it stands in: `<` and hidden characters occur in JSON only
/// inside strings, where they may be escaped.
fn inert(json: &str) -> String {
    let mut inert = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => inert.push_str("\\u003c"),
            // JSON escapes UTF-16 units: a character outside of the first 65536 is a pair of them.
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
    fn hostile_text_stays_text() {
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
    fn hidden_characters_are_seen_and_data_stays_data() {
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
    fn nothing_is_loaded_from_elsewhere() {
        let text = document("x", &html! {}, "", "null");
        assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("url("));
        assert!(text.contains("default-src &#39;none&#39;") || text.contains("default-src 'none'"));
    }
}
