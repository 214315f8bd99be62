//! Finds the terms in a text.

use super::{TERMS, Term};

/// A term's range of bytes.
pub struct Occurrence {
    pub term: Term,
    pub at: usize,
    pub end: usize,
}

/// The terms from left to right; the longer one if two begin at the same place.
pub fn first_terms(text: &str) -> Vec<Occurrence> {
    let mut found = Vec::from_iter(TERMS.iter().filter_map(|term| first(*term, text)));
    // 'core distance' covers 'core' at the same place.
    found.sort_by_key(|one| (one.at, std::cmp::Reverse(one.end)));
    let mut free_from = 0;
    found.retain(|one| {
        let is_free = one.at >= free_from;
        free_from = if is_free { one.end } else { free_from };
        is_free
    });
    found
}

/// A separate word, in the singular or the plural, also at the beginning of a sentence.
fn first(term: Term, text: &str) -> Option<Occurrence> {
    let word = term.word;
    let begins = |at: usize| {
        let mut here = text[at..].chars();
        let mut wanted = word.chars();
        let first = here.next()?;
        let letter = wanted.next()?;
        // A term in lower case may begin a sentence; 'PU' never matches 'pu'.
        let alike =
            first == letter || (letter.is_lowercase() && first.to_ascii_lowercase() == letter);
        (alike && here.as_str().starts_with(wanted.as_str())).then_some(at)
    };
    let ends = |at: usize| {
        let end = at + word.len();
        let plural = ["es", "s"].into_iter().find(|plural| text[end..].starts_with(plural));
        let plural = end + plural.map_or(0, str::len);
        let is_word =
            is_edge(text[..at].chars().next_back()) && is_edge(text[plural..].chars().next());
        is_word.then_some(Occurrence { term, at, end: plural })
    };
    text.char_indices().filter_map(|(at, _)| begins(at)).find_map(ends)
}

/// A term does not begin or end inside a word, a path or a name.
fn is_edge(beside: Option<char>) -> bool {
    beside.is_none_or(|c| !c.is_alphanumeric() && !['-', '_', '/', '@', '='].contains(&c))
}
