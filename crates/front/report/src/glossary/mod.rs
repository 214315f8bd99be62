//! Explains each technical term of a page where it appears.
//!
//! [`TERMS`] is the single list of terms. [`explained`] gives each term a tooltip at its first
//! occurrence in a section (`<abbr title>`, in pictures an SVG `<title>`). A page ends with a list
//! of its terms, because paper and telephones show no tooltips.

mod find;

use find::{Occurrence, first_terms};
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The terms in alphabetical order.
pub static TERMS: LazyLock<Vec<Term>> = LazyLock::new(|| {
    let terms = include_str!("terms.txt").lines().filter_map(|line| line.split_once(": "));
    terms.map(|(word, meaning)| Term { word, meaning }).collect()
});

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// Singular, as in the middle of a sentence.
    pub word: &'static str,
    /// One or two sentences, units included.
    pub meaning: &'static str,
}

/// Names, programs, elements with their own tooltip, and elements that no pointer reaches.
const LEFT_ALONE: [&str; 11] = [
    "script", "style", "title", "desc", "abbr", "h1", "button", "code", "pre", "noscript", "option",
];
/// Elements within which a term is explained once.
const SCOPES: [&str; 5] = ["section", "header", "footer", "svg", "figure"];

/// Gives the terms in a body tooltips, and appends the list of terms.
pub fn explained(body: &Markup) -> Markup {
    let mut page = ExplainedPage::default();
    for piece in pieces(&body.0) {
        page.take(piece);
    }
    // The body is already escaped; escaping it again would show its tags.
    html! { (PreEscaped(page.text)) (list(&page.used)) }
}

fn list(used: &BTreeSet<Term>) -> Markup {
    html! {
        @if !used.is_empty() {
            details.terms {
                summary { "Terms on this page" }
                dl { @for term in used { dt { (term.word) } dd { (term.meaning) } } }
            }
        }
    }
}

#[derive(Clone, Copy)]
pub enum Piece<'a> {
    Tag(&'a str),
    Text(&'a str),
}

/// `<` and `>` only delimit tags, since both are escaped elsewhere.
pub fn pieces(markup: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = markup;
    std::iter::from_fn(move || {
        let (piece, after) = match rest.find(['<', '>']) {
            None if rest.is_empty() => return None,
            Some(0) => {
                let end = rest.find('>').map_or(rest.len(), |at| at + 1);
                (Piece::Tag(&rest[..end]), &rest[end..])
            }
            Some(at) if rest.as_bytes()[at] == b'<' => (Piece::Text(&rest[..at]), &rest[at..]),
            // The text after the last tag. A stray '>' also ends the search for terms.
            _ => (Piece::Text(rest), ""),
        };
        rest = after;
        Some(piece)
    })
}

pub fn name_of(tag: &str) -> &str {
    let name = tag.trim_start_matches(['<', '/']);
    name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
}

#[derive(Default)]
struct ExplainedPage {
    text: String,
    /// Open elements whose text is not explained.
    left_alone: Vec<String>,
    /// Open scopes with their explained terms.
    scopes: Vec<(String, BTreeSet<Term>)>,
    /// The first term in an open `<text>`.
    in_text: Option<Option<Term>>,
    used: BTreeSet<Term>,
}

impl ExplainedPage {
    fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) if self.left_alone.is_empty() => self.explain(text),
            Piece::Text(text) => self.text += text,
            Piece::Tag(tag) => self.tag(tag),
        }
    }

    fn tag(&mut self, tag: &str) {
        let name = name_of(tag);
        if tag.starts_with("</") {
            self.end(name)
        } else if tag.ends_with("/>") {
            // An empty element opens nothing. Void elements such as <input> are in neither list.
        } else {
            self.begin(name)
        }
        self.text += tag;
    }

    fn begin(&mut self, name: &str) {
        if LEFT_ALONE.contains(&name) {
            self.left_alone.push(name.to_owned());
        } else if SCOPES.contains(&name) {
            self.scopes.push((name.to_owned(), BTreeSet::new()));
        } else if name == "text" {
            self.in_text = Some(None);
        }
    }

    fn end(&mut self, name: &str) {
        // Check these first: such an element is inside the open scope.
        if self.left_alone.last().is_some_and(|open| open == name) {
            self.left_alone.pop();
        } else if self.scopes.last().is_some_and(|(open, _)| open == name) {
            self.scopes.pop();
        } else if name == "text"
            && let Some(Some(term)) = self.in_text.take()
        {
            // SVG has no <abbr>: its tooltip is a <title> before the element's end tag.
            self.text += &html! { title { (term.word) ": " (term.meaning) } }.0;
        }
    }

    fn explain(&mut self, text: &str) {
        let mut from = 0;
        for Occurrence { term, at, end } in first_terms(text) {
            if !self.is_new(term) {
                continue;
            }
            // An element has one tooltip: that of its first term.
            if let Some(in_text) = &mut self.in_text {
                *in_text = in_text.or(Some(term));
                continue;
            }
            self.text += &text[from..at];
            self.text += &html! { abbr title=(term.meaning) { (PreEscaped(&text[at..end])) } }.0;
            from = end;
        }
        self.text += &text[from..];
    }

    fn is_new(&mut self, term: Term) -> bool {
        // The list at the end includes terms whose tooltip is in another section.
        self.used.insert(term);
        self.scopes.last_mut().is_none_or(|(_, explained)| explained.insert(term))
    }
}

#[cfg(test)]
mod tests;
