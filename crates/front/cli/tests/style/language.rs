//! How sentences begin, in pages, comments and messages. Headings are exempt, because only text
//! with a final punctuation mark is a sentence.

use super::{assert_none, others, texts};

/// Widest line of a comment. Tables are exempt.
const WIDEST_COMMENT: usize = 100;
/// Widest line of a page. Tables and examples are exempt.
const WIDEST_PROSE: usize = 120;

/// Whether a sentence begins with a free relative. Questions are exempt.
fn is_free_relative(sentence: &str) -> bool {
    let beginnings = ["Who ", "Whoever ", "That which ", "What "];
    beginnings.iter().any(|beginning| sentence.starts_with(beginning)) && !sentence.ends_with('?')
}

/// Whether the text says "is no X", except "there is no X", "is no longer" and "is no more than".
fn negates_a_noun(text: &str) -> bool {
    ["is no ", "are no "].iter().any(|phrase| {
        text.match_indices(phrase).any(|(at, _)| {
            let before = text[..at].trim_end().to_lowercase();
            let after = &text[at + phrase.len()..];
            let is_word = text[..at].ends_with(char::is_whitespace);
            let compares =
                ["longer", "more", "less", "other"].iter().any(|word| after.starts_with(word));
            is_word && !before.ends_with("there") && !compares
        })
    })
}

/// The sentences of a paragraph, each with its punctuation mark.
fn sentences(paragraph: &str) -> impl Iterator<Item = &str> {
    paragraph
        .split_inclusive(['.', '?', '!', ';'])
        .scan("", |before, part| {
            let follows = before.is_empty() || part.starts_with(' ');
            *before = part;
            Some((follows, part.trim()))
        })
        .filter_map(|(follows, sentence)| follows.then_some(sentence))
}

/// A paragraph and the number of its first line.
type Paragraph = (usize, String);

/// Joins lines to paragraphs. `None` ends a paragraph.
fn paragraphs<'a>(lines: impl Iterator<Item = (usize, Option<&'a str>, bool)>) -> Vec<Paragraph> {
    let mut found: Vec<Paragraph> = Vec::new();
    let mut goes_on = false;
    for (at, line, begins) in lines {
        match (line, found.last_mut()) {
            (Some(line), Some((_, text))) if goes_on && !begins => *text += &format!(" {line}"),
            (Some(line), _) => found.push((at, line.to_owned())),
            (None, _) => {}
        }
        goes_on = line.is_some();
    }
    found
}

/// The prose of a page, without examples, headings and tables. Each list item is a paragraph.
fn prose(text: &str) -> Vec<Paragraph> {
    let mut inside = false;
    paragraphs(text.lines().enumerate().map(move |(at, line)| {
        let is_fence = line.starts_with("```");
        inside ^= is_fence;
        let line = line.trim();
        let hidden =
            inside || is_fence || line.is_empty() || line.starts_with(['#', '|', '!', '<']);
        let number = line
            .split_once(". ")
            .filter(|(number, _)| number.chars().all(|digit| digit.is_ascii_digit()));
        let item = line.strip_prefix("- ").or_else(|| number.map(|(_, item)| item));
        (at + 1, (!hidden).then_some(item.unwrap_or(line)), item.is_some())
    }))
}

/// Comments and messages, which are string literals at the start of a line.
fn comments_and_messages(text: &str) -> Vec<Paragraph> {
    let comment = |line: &'_ str| -> Option<String> {
        let line = line.trim_start();
        let marks = ["///", "//!", "//"];
        marks.iter().find_map(|mark| line.strip_prefix(mark)).map(|text| text.trim().to_owned())
    };
    let commented: Vec<(usize, Option<String>)> =
        text.lines().enumerate().map(|(at, line)| (at + 1, comment(line))).collect();
    let lines = commented.iter().map(|(at, line)| {
        let line = line.as_deref().filter(|line| !line.is_empty() && !line.starts_with(['|', '#']));
        (
            *at,
            line.map(|line| line.strip_prefix("- ").unwrap_or(line)),
            line.is_some_and(|line| line.starts_with("- ")),
        )
    });
    let mut found = paragraphs(lines);
    for (at, line) in
        text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
    {
        found
            .extend(line.split('"').skip(1).step_by(2).map(|message| (at + 1, message.to_owned())));
    }
    found
}

fn pages() -> Vec<(String, String)> {
    let is_page = |name: &str| {
        name.starts_with("docs/src/")
            || name.starts_with("docs/formats/")
            || !name.contains('/')
            || name == "bench/README.md"
    };
    texts(&[".md"]).into_iter().filter(|(name, _)| is_page(name)).collect()
}

fn offenders(
    texts: &[(String, String)],
    split: fn(&str) -> Vec<Paragraph>,
    offends: fn(&str) -> bool,
) -> Vec<String> {
    let of_file = |(name, text): &(String, String)| {
        split(text)
            .into_iter()
            .flat_map(|(at, paragraph)| {
                let bad: Vec<String> = sentences(&paragraph)
                    .filter(|one| offends(one))
                    .map(|one| format!("{name}:{at}: {one}"))
                    .collect();
                bad
            })
            .collect::<Vec<_>>()
    };
    texts.iter().flat_map(of_file).collect()
}

#[test]
fn pages_begin_sentences_with_their_subject() {
    assert!(pages().len() > 20, "the pages are not where they were");
    assert_none(
        "sentences that begin with a free relative",
        &offenders(&pages(), prose, is_free_relative),
    );
    assert_none("'is no X' for 'is not an X'", &offenders(&pages(), prose, negates_a_noun));
}

fn is_whole_free_relative(sentence: &str) -> bool {
    is_free_relative(sentence) && sentence.ends_with(['.', ';', '!'])
}

#[test]
fn code_begins_sentences_with_their_subject() {
    let code = others();
    let free = offenders(&code, comments_and_messages, is_whole_free_relative);
    assert_none("sentences that begin with a free relative", &free);
    assert_none(
        "'is no X' for 'is not an X'",
        &offenders(&code, comments_and_messages, negates_a_noun),
    );
}

#[test]
fn lines_fit_on_a_screen() {
    let wide = |lines: &[&str], at: usize| {
        let comment = lines[at].trim_start();
        let text = comment.trim_start_matches(['/', '!']).trim_start();
        // Code in a comment has no formatter.
        let is_table =
            text.starts_with('|') || text.starts_with("let ") || text.starts_with("assert");
        comment.starts_with("//") && !is_table && lines[at].chars().count() > WIDEST_COMMENT
    };
    assert_none("comments that are too wide", &super::lines_that(&others(), wide));
    let of_page = |(name, text): &(String, String)| {
        let mut inside = false;
        let wide = text.lines().enumerate().filter(move |(_, line)| {
            inside ^= line.starts_with("```");
            let is_prose = !inside && !line.starts_with(['|', '!', '`']) && !line.contains("](");
            is_prose && line.chars().count() > WIDEST_PROSE
        });
        wide.map(|(at, line)| format!("{name}:{}: {line}", at + 1)).collect::<Vec<_>>()
    };
    assert_none("prose that is too wide", &pages().iter().flat_map(of_page).collect::<Vec<_>>());
}

#[test]
fn language_offences_are_found() {
    assert!(is_free_relative("Who can be met starts.") && !is_free_relative("Who knows?"));
    assert!(
        is_free_relative("What remains is noise.") && !is_free_relative("Whole machines remain.")
    );
    assert!(negates_a_noun("This is no file.") && !negates_a_noun("There is no file."));
    assert!(!negates_a_noun("It is no longer there.") && !negates_a_noun("This no one sees."));
    let page = "# Who\n\nGood. What is\nodd is this. It costs 1.5 ns.\n```text\nWho sits.\n```\n- Whoever asks.\n";
    let found = offenders(&[("page".to_owned(), page.to_owned())], prose, is_free_relative);
    assert_eq!(found, ["page:3: What is odd is this.", "page:8: Whoever asks."]);
    let code = "/// Good.\n/// Who sits\n/// where.\nlet heading = \"What went on\";\nlet text = \"What went on.\";\n";
    let found = offenders(
        &[("code".to_owned(), code.to_owned())],
        comments_and_messages,
        is_whole_free_relative,
    );
    assert_eq!(found, ["code:1: Who sits where.", "code:5: What went on."]);
}
