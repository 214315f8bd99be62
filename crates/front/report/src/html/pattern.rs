//! The page of one pattern: its figures, its matrix, and what is sent most.

use super::{document, head};
use crate::pattern::{degrees, name, size};
use crate::traffic::short;
use crate::{sentence, svg};
use maud::{Markup, html};
use seatmap_pattern::{Edge, Pattern};

/// Edges in the table.
const LISTED: usize = 20;

/// A pattern as one HTML file that works offline and without scripts.
#[must_use]
pub fn pattern(pattern: &Pattern) -> String {
    let title = name(pattern);
    let lead = html! { p.lead { (size(pattern)) } p.origin { (degrees(pattern)) } };
    let body = html! {
        (head(&title, &sentence::of_pattern(pattern), &lead))
        main {
            section.card { h2 { "Who sends how much to whom" } (svg::traffic::picture(pattern)) }
            @if stand_out(pattern) { section.card { h2 { "The heaviest edges" } (heaviest(pattern)) } }
        }
        footer { "Only proportions matter to a placement." }
    };
    document(&title, &body, "", "null")
}

/// Whether some edges are heavier than others, so that a list of them is useful.
fn stand_out(pattern: &Pattern) -> bool {
    pattern.edges.windows(2).any(|edges| edges[0].bytes != edges[1].bytes)
}

fn heaviest(pattern: &Pattern) -> Markup {
    let mut edges: Vec<&Edge> = pattern.edges.iter().collect();
    edges.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    let task = |at: usize| match pattern.names.get(at) {
        Some(name) => format!("{at} ({name})"),
        None => at.to_string(),
    };
    let rest = edges.len().saturating_sub(LISTED);
    html! {
        table.figures {
            thead { tr { th { "from" } th { "to" } th { "bytes" } th { "messages" } } }
            tbody {
                @for edge in edges.iter().take(LISTED) {
                    tr {
                        td { (task(edge.from)) }
                        td { (task(edge.to)) }
                        td { strong { (short(edge.bytes)) } }
                        td { (short(edge.messages)) }
                    }
                }
            }
        }
        @if rest > 0 { p { "and " (rest) " more" } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_come_first_and_names_cannot_run_as_scripts() {
        let mut ring = seatmap_pattern::generate("ring:30").unwrap();
        ring.names = vec!["<script>alert(1)</script>".to_owned(); 30];
        ring.edges[29].bytes = 4096.0;
        let page = pattern(&ring);
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert!(page.contains("<td>29 (") && !page.contains("<td>27 ("));
        assert!(page.contains("and 10 more") && page.contains("<svg"));
    }

    #[test]
    fn equal_edges_are_not_listed() {
        for spec in ["idle:3", "ring:3"] {
            assert!(
                !pattern(&seatmap_pattern::generate(spec).unwrap()).contains("heaviest"),
                "{spec}"
            );
        }
    }
}
