//! Tests that terms are found, explained and listed, and that every page's terms are in the table.

use super::*;
use seatmap_data::plan::Plan;

fn of(markup: &str) -> String {
    explained(&PreEscaped(markup.to_owned())).0
}

#[test]
fn terms_are_sorted_and_explained() {
    for two in TERMS.windows(2) {
        assert!(
            two[0].word.to_lowercase() < two[1].word.to_lowercase(),
            "{} before {}",
            two[0].word,
            two[1].word
        );
    }
    for Term { word, meaning } in TERMS.iter() {
        assert!(
            meaning.ends_with('.') && meaning.len() > 15 && meaning.len() < 180,
            "{word}: {meaning}"
        );
        assert!(!meaning.starts_with(word), "{word} explains itself");
    }
}

#[test]
fn a_term_is_explained_once_in_a_section() {
    let page =
        of("<section><h2>Medians</h2><p>the median</p></section><section><p>median</p></section>");
    assert_eq!(page.matches("<abbr title=\"Half of").count(), 2, "{page}");
    assert!(page.contains(
        "<h2><abbr title=\"Half of the samples are below this value and half above it.\">Medians</abbr></h2>"
    ));
    assert!(page.contains("<p>the median</p>"));
}

#[test]
fn longest_term_matches_whole_words_only() {
    let page = of("<p>random, mean; p99.9; submedian; meaning; home_of; a/home</p>");
    assert_eq!(page.matches("<abbr").count(), 2, "{page}");
    assert!(page.contains(">random, mean</abbr>") && page.contains(">p99.9</abbr>"), "{page}");
}

#[test]
fn headings_scripts_and_tooltips_are_unchanged() {
    let kept = "<h1>median</h1><script>median</script><code>home</code><abbr title=\"x\">median</abbr><b title=\"a median\"></b>";
    assert_eq!(of(kept), kept);
    assert_eq!(of("<p>a &lt; median</p>").matches("<abbr").count(), 1);
}

#[test]
fn picture_terms_get_title_elements() {
    let page = of("<svg><text x=\"1\">median, ns</text><text>median</text></svg>");
    assert!(page.starts_with("<svg><text x=\"1\">median, ns<title>median: Half of"), "{page}");
    assert_eq!(page.matches("<title>").count(), 1, "{page}");
}

#[test]
fn a_page_ends_with_its_terms() {
    let page = of("<p>FWQ and steal</p>");
    let list = page.split_once("<details").unwrap().1;
    assert!(list.contains("<dt>FWQ</dt><dd>Fixed work quanta"), "{list}");
    assert!(list.contains("<dt>steal</dt>") && !list.contains("median</dt>"), "{list}");
    assert!(!of("<p>nothing</p>").contains("<details"));
}

fn pages() -> Vec<(&'static str, String)> {
    use crate::{html, samples};
    let profile = samples::two_groups();
    let pattern = samples::pattern("ring:4");
    let plan = Plan { placement: vec![0, 1, 2, 3], ..samples::plan(200.0, 250.0, 200.0) };
    let comparison = samples::compared(&profile, &pattern, &plan, vec![0, 1, 4, 5]);
    vec![
        ("show", html::page(&profile, None, &[], &[])),
        ("place", crate::placement::page(&profile, &pattern, &plan, &comparison).html()),
        ("noise", crate::noise::page(&samples::noise()).html()),
        ("pattern", crate::pattern::page(&pattern).html()),
        ("seating", crate::seating::html("", "", Vec::new(), &[])),
    ]
}

/// The text without tooltips, the list of terms, tags and pictures.
fn visible_text(page: &str) -> String {
    let mut text = String::new();
    let mut hidden = 0;
    let body =
        page.split_once("<body>").unwrap().1.split("<details class=\"terms\">").next().unwrap();
    for piece in body.split('<') {
        let (tag, rest) = piece.split_once('>').unwrap_or(("", piece));
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        if ["abbr", "svg", "h1", "button", "script", "noscript", "code"].contains(&name) {
            hidden += if tag.starts_with('/') { -1 } else { 1 };
        }
        if hidden == 0 {
            text += rest;
            text.push('\n');
        }
    }
    text
}

#[test]
fn every_term_on_a_page_has_a_tooltip() {
    for (name, page) in pages() {
        let text = visible_text(&page);
        for term in TERMS.iter() {
            let is_used =
                text.split([' ', '\n', ',', '.', ':', ';', '(', ')']).any(|word| word == term.word);
            let tooltip = html! { abbr title=(term.meaning) {} }.0.replace("</abbr>", "");
            assert!(!is_used || page.contains(&tooltip), "{} on the page of {name}", term.word);
        }
    }
}

#[test]
fn pages_explain_their_basic_terms() {
    let expected = [
        ("show", "core distance; home; median; p10; MAD; 95 % interval; distance class; PU; L3"),
        ("place", "lower bound; compact; scatter; random, mean; weight; round trip"),
        ("noise", "FWQ; steal; stolen; gap; excess; p99.9; detour loop"),
        ("seating", "verified; seat"),
    ];
    let pages: std::collections::BTreeMap<_, _> = pages().into_iter().collect();
    for (name, terms) in expected {
        let list = pages[name].split_once("<details class=\"terms\">").unwrap().1;
        for term in terms.split("; ") {
            assert!(list.contains(&format!("<dt>{term}</dt>")), "{term} on the page of {name}");
        }
    }
}

#[test]
fn every_page_begins_with_one_sentence() {
    for (name, page) in pages() {
        let after = page.split_once("</h1>").unwrap().1;
        let sentence =
            after.split_once("<p class=\"sentence\">").unwrap().1.split("</p>").next().unwrap();
        assert!(after.find("<p class=\"sentence\">") < after.find("<main>"), "{name}");
        assert!(sentence.ends_with('.') && sentence.len() > 15, "{name}: {sentence}");
    }
}
