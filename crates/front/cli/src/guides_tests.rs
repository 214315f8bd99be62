//! Each verb has a guide, whose words are known and whose examples parse.

use crate::GUIDES;
use crate::verbs::command;
use seatmap_console::guide::{VerbGuide, read};
use seatmap_console::{for_tests, manual};

fn verbs(command: &clap::Command, words: &str) -> Vec<String> {
    let inner = command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
    let below =
        inner.flat_map(|inner| verbs(inner, format!("{words} {}", inner.get_name()).trim_start()));
    std::iter::once(words.to_owned()).chain(below).collect()
}

#[test]
fn every_verb_has_one_guide_with_examples() {
    let verbs = verbs(&command(), "");
    let guides = read(GUIDES, "seatmap");
    for verb in &verbs {
        let tables: Vec<&VerbGuide> = guides.iter().filter(|guide| guide.verb == *verb).collect();
        assert_eq!(tables.len(), 1, "'{verb}'");
        assert!(!tables[0].examples.is_empty(), "'{verb}' has no example");
        assert!(tables[0].exits.len() > 1, "'{verb}' has no exit codes");
    }
    assert_eq!(guides.len(), verbs.len(), "a guide is of no verb");
}

#[test]
fn guide_examples_parse() {
    let wrong = for_tests::mistakes(GUIDES, "seatmap", command);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_option_is_explained_in_the_manual() {
    let bare = for_tests::unexplained(command(), GUIDES).unwrap();
    assert!(bare.is_empty(), "{bare:#?}");
}

#[test]
fn related_pages_exist() {
    let pages = manual::pages(command(), GUIDES).unwrap();
    for guide in read(GUIDES, "seatmap") {
        for (name, _) in guide.pages("seatmap").filter(|(name, _)| name.starts_with("seatmap")) {
            let file = format!("{name}.1");
            assert!(pages.iter().any(|page| page.file == file), "'{}': {name}", guide.verb);
        }
    }
}

/// A line with a mistyped keyword or the name of no part would be lost.
#[test]
fn each_line_of_guides_is_understood() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../console/src/guides.txt");
    let shared = std::fs::read_to_string(path).unwrap();
    let lines = Vec::from_iter(GUIDES.lines().chain(shared.lines()));
    for line in lines.iter().filter(|line| !line.is_empty() && !line.starts_with(' ')) {
        let (keyword, word) = line.split_once(' ').unwrap_or((line, ""));
        let is_known = match keyword {
            "with" => lines.iter().any(|line| line.strip_prefix("part ") == Some(word)),
            keyword => {
                ["$", "#", "exit", "file", "part", "program", "see", "short", "variable", "verb"]
                    .contains(&keyword)
            }
        };
        assert!(is_known, "{line}");
    }
}
