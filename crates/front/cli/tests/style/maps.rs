//! Checks the table in each crate's `//!`: it names all public modules, and only existing ones.

use super::{assert_none, others};

fn map(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix("//!"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The words between a mark and the next backquote, without a link's kind (`mod@place`).
fn words<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    let rests = text.match_indices(mark).map(move |(at, _)| &text[at + mark.len()..]);
    rests
        .filter_map(|rest| rest.split('`').next())
        .map(|word| word.rsplit('@').next().unwrap_or(word))
}

fn is_small(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with("seatmap_")
        && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
}

fn declares(text: &str, name: &str) -> bool {
    let code = text.lines().filter(|line| !line.starts_with("//"));
    let mut tokens =
        code.flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    tokens.any(|token| token == name)
}

/// Public modules missing from the table, and links to missing items.
fn flaws(file: &str, text: &str) -> Vec<String> {
    let map = map(text);
    let public = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "))
        .map(|rest| rest.trim_end_matches(';'));
    let left_out = public.filter(|module| !words(&map, "`").any(|word| word == *module));
    let ghosts = words(&map, "[`").filter(|word| is_small(word) && !declares(text, word));
    let left_out = left_out.map(|module| format!("{file}: the map leaves out {module}"));
    left_out.chain(ghosts.map(|word| format!("{file}: the map names {word}"))).collect()
}

#[test]
fn maps_name_the_modules() {
    let crates: Vec<_> =
        others().into_iter().filter(|(name, _)| name.ends_with("src/lib.rs")).collect();
    assert!(crates.len() > 20, "the crates are not where they were");
    let found: Vec<String> = crates.iter().flat_map(|(name, text)| flaws(name, text)).collect();
    assert_none("maps that are not those of their crates", &found);
}

#[test]
fn wrong_maps_are_found() {
    let text = "//! | [`one`], [`mod@two`] | both |\n//! | `three` | hidden |\npub mod one;\npub mod four;\nmod three;\n";
    assert_eq!(flaws("x", text), ["x: the map leaves out four", "x: the map names two"]);
}

fn marks_an_example(line: &str) -> bool {
    let comment = line.trim_start();
    let words = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"));
    words.is_some_and(|words| ["```", "```no_run"].contains(&words.trim()))
}

/// Cargo builds a program for each library that it searches for examples.
#[test]
fn doctests_are_enabled_only_with_examples() {
    let sources = others();
    let is_wrong = |folder: &str, manifest: &str| {
        let below = format!("{folder}src/");
        let of_crate = || sources.iter().filter(|(file, _)| file.starts_with(&below));
        let is_library = of_crate().any(|(file, _)| file.ends_with("/src/lib.rs"));
        let has_examples = of_crate().any(|(_, text)| text.lines().any(marks_an_example));
        is_library && has_examples == manifest.contains("doctest = false")
    };
    let manifests = super::texts(&["Cargo.toml"]).into_iter();
    let manifests = manifests.filter(|(name, _)| name.contains('/') && !name.starts_with("fuzz/"));
    let wrong = manifests
        .filter(|(name, manifest)| is_wrong(name.trim_end_matches("Cargo.toml"), manifest));
    let wrong: Vec<String> = wrong.map(|(name, _)| name).collect();
    assert_none("examples that are not run, or none where they are looked for", &wrong);
}
