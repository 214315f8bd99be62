//! Counts words of Seatmap's former dialect in comments, pages and messages: "where" for "if",
//! "somebody" for the user or the system, "told" for "received", clauses for adjectives.
//!
//! The rates of comments and pages are per 1,000 words; ripgrep, jj and uv are below all of them.
//! Each bound may only fall.

use super::size::{divided, string_literals};
use super::{rust, texts};

/// The most uses in 1,000 words of comments, and in 1,000 words of pages.
const MOST_IN_1000: [(Phrase, f64, f64); 4] = [
    (Phrase::WhereForIf, 0.2, 0.7),
    (Phrase::Somebody, 0.05, 0.05),
    (Phrase::Told, 0.05, 0.05),
    (Phrase::Clause, 1.6, 1.6),
];
/// The most uses in all messages.
const MOST_IN_MESSAGES: [(Phrase, usize); 4] =
    [(Phrase::WhereForIf, 12), (Phrase::Somebody, 6), (Phrase::Told, 4), (Phrase::Clause, 60)];
/// The most words of comments, and of pages with their examples.
const MOST_WORDS: (usize, usize) = (280_000, 85_000);

const AFTER_WHERE: [&str; 10] =
    ["it", "there", "that", "this", "no", "nobody", "the", "a", "one", "they"];
const SOMEBODY: [&str; 4] = ["somebody", "nobody", "whoever", "anybody"];
const VERBS: [&str; 7] = ["is", "are", "was", "were", "has", "have", "had"];

/// A habit of the dialect.
#[derive(Clone, Copy, Debug)]
enum Phrase {
    /// "Where" before a word that shows it to mean "if".
    WhereForIf,
    /// "Somebody" and its like.
    Somebody,
    /// "Told" and "tells of".
    Told,
    /// "That is", "which was" and their like.
    Clause,
}

impl Phrase {
    /// Whether it begins at a word; `next` is the word one blank after it.
    fn begins(self, word: &str, next: Option<&str>) -> bool {
        let next_is = |words: &[&str]| next.is_some_and(|next| words.contains(&next));
        match self {
            Phrase::WhereForIf => {
                matches!(word, "where" | "Where") && (next_is(&AFTER_WHERE) || next_is(&["none"]))
            }
            Phrase::Somebody => SOMEBODY.iter().any(|one| one.eq_ignore_ascii_case(word)),
            Phrase::Told => word == "told" || matches!(word, "tell" | "tells") && next_is(&["of"]),
            Phrase::Clause => matches!(word, "that" | "which") && next_is(&VERBS),
        }
    }

    fn uses(self, text: &str) -> usize {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut count = 0;
        let mut rest = text;
        while let Some(at) = rest.find(is_word) {
            let from = &rest[at..];
            let end = from.find(|letter| !is_word(letter)).unwrap_or(from.len());
            rest = &from[end..];
            let next = rest.strip_prefix(' ').filter(|next| next.starts_with(is_word));
            let next = next.map(|next| next.split(|letter| !is_word(letter)).next().unwrap_or(""));
            count += usize::from(self.begins(&from[..end], next));
        }
        count
    }
}

fn comments() -> String {
    let mut found = String::new();
    for (_, text) in rust().into_iter().filter(|(name, _)| !name.starts_with("fuzz")) {
        for line in text.lines().map(str::trim).filter(|line| line.starts_with("//")) {
            found += line.trim_start_matches(['/', '!', ' ']);
            found.push('\n');
        }
    }
    found
}

/// The text of all pages without examples.
fn pages() -> String {
    let pages = texts(&[".md"]);
    let prose = pages.iter().flat_map(|(_, text)| text.split("```").step_by(2));
    prose.collect::<Vec<_>>().join("\n")
}

/// The string literals of production code.
fn messages() -> String {
    let mut found = String::new();
    for (name, text) in rust().into_iter().filter(|(name, _)| !name.starts_with("fuzz")) {
        let lines: Vec<&str> = text.lines().collect();
        let (production, _) = divided(&name, &lines);
        for literal in string_literals(production) {
            found += &literal;
            found.push('\n');
        }
    }
    found
}

#[test]
fn dialect_words_are_rare() {
    let comments = comments();
    let pages = pages();
    let messages = messages();
    let in_1000 = |phrase: Phrase, text: &str| {
        1000.0 * phrase.uses(text) as f64 / text.split_whitespace().count() as f64
    };
    let mut wrong = Vec::new();
    for (phrase, most_in_comments, most_in_pages) in MOST_IN_1000 {
        for (of, text, most) in
            [("comments", &comments, most_in_comments), ("pages", &pages, most_in_pages)]
        {
            let rate = in_1000(phrase, text);
            if rate > most {
                wrong.push(format!("{phrase:?} in {of}: {rate:.2} in 1,000 words, at most {most}"));
            }
        }
    }
    for (phrase, most) in MOST_IN_MESSAGES {
        let uses = phrase.uses(&messages);
        if uses > most {
            wrong.push(format!("{phrase:?} in messages: {uses}, at most {most}"));
        }
    }
    let words = comments.split_whitespace().count();
    if words > MOST_WORDS.0 {
        wrong.push(format!("comments: {words} words, at most {}", MOST_WORDS.0));
    }
    let words: usize =
        texts(&[".md"]).iter().map(|(_, text)| text.split_whitespace().count()).sum();
    if words > MOST_WORDS.1 {
        wrong.push(format!("pages: {words} words, at most {}", MOST_WORDS.1));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn dialect_phrases_are_counted() {
    let uses = |text: &str| {
        [Phrase::WhereForIf, Phrase::Somebody, Phrase::Told, Phrase::Clause]
            .map(|phrase| phrase.uses(text))
    };
    assert_eq!(uses("Where it fails, nobody is told."), [1, 1, 1, 0]);
    assert_eq!(uses("Whoever tells of a mask that was changed"), [0, 1, 1, 1]);
    assert_eq!(uses("the node where memory is; elsewhere it was, that\nis"), [0; 4]);
}
