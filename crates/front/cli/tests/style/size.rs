//! The size of the code: `size.txt` contains the tokens of each crate and four counts of the whole.
//! These numbers may only fall. A commit that raises one says what it removed in return.
//!
//! Tokens exclude comments, and short names or packed lines do not reduce them.

use super::{root, rust, texts};
use std::collections::BTreeMap;

/// A bound this far above the counted size is out of date: other code could grow into the gap.
const SLACK: usize = 200;

/// Two-character operators. `..=` is the only one with three.
const OPERATORS: [&str; 18] = [
    "::", "->", "=>", "-=", "+=", "*=", "/=", "%=", "&=", "|=", "^=", "!=", "<=", ">=", "==", "&&",
    "||", "..",
];

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The length in bytes of the quoted literal at the start of `text`, if it ends.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == quote {
            return Some(at + 1);
        }
    }
    None
}

/// The length in bytes of a raw string. It is assumed to end at its first quotation mark, so a
/// string that contains quotation marks counts as several tokens.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?.trim_start_matches('#');
    let inside = hashes.strip_prefix('"')?;
    let rest = &inside[inside.find('"')? + 1..];
    Some(text.len() - rest.trim_start_matches('#').len())
}

/// The length in bytes of a character literal such as `'a'` or `b'\n'`.
fn character(text: &str) -> Option<usize> {
    let prefix = usize::from(text.starts_with('b'));
    let inside = text[prefix..].strip_prefix('\'')?;
    let escape = usize::from(inside.starts_with('\\'));
    let letter = inside[escape..].chars().next()?;
    let is_closed = inside[escape + letter.len_utf8()..].starts_with('\'');
    let is_letter = escape == 1 || letter != '\'';
    (is_closed && is_letter).then_some(prefix + escape + letter.len_utf8() + 2)
}

/// The length in bytes of the first token of a text without leading blanks.
fn token(text: &str) -> usize {
    let bytes = text.strip_prefix('b').unwrap_or(text);
    let string = bytes.starts_with('"').then(|| quoted(bytes, '"')).flatten();
    let string = string.map(|length| text.len() - bytes.len() + length);
    if let Some(length) = raw_string(text).or(string).or_else(|| character(text)) {
        return length;
    }
    let word = |from: &str| from.find(|letter| !is_word(letter)).unwrap_or(from.len());
    let first = text.chars().next().unwrap_or(' ');
    let behind = &text[first.len_utf8()..];
    if first == '\'' && behind.starts_with(|next: char| next.is_ascii_lowercase() || next == '_') {
        return 1 + word(behind);
    }
    if first.is_ascii_digit() {
        return text.find(|letter| !is_word(letter) && letter != '.').unwrap_or(text.len());
    }
    if first.is_ascii_alphabetic() || first == '_' {
        return word(text);
    }
    if text.starts_with("..=") {
        return 3;
    }
    if OPERATORS.iter().any(|operator| text.starts_with(operator)) {
        return 2;
    }
    first.len_utf8()
}

/// The number of tokens in lines, without comments.
fn tokens(lines: &[&str]) -> usize {
    let code: Vec<&str> =
        lines.iter().copied().filter(|line| !line.trim().starts_with("//")).collect();
    let code = code.join("\n");
    let mut rest = code.trim_start();
    let mut count = 0;
    while !rest.is_empty() {
        rest = rest[token(rest)..].trim_start();
        count += 1;
    }
    count
}

/// The string literals in lines, without comments and without raw strings.
pub(super) fn string_literals(lines: &[&str]) -> Vec<String> {
    let code: Vec<&str> =
        lines.iter().copied().filter(|line| !line.trim().starts_with("//")).collect();
    let code = code.join("\n");
    let mut rest = code.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (one, behind) = rest.split_at(token(rest));
        if one.starts_with('"') {
            found.push(one.to_owned());
        }
        rest = behind.trim_start();
    }
    found
}

#[test]
fn tokens_are_counted() {
    assert_eq!(tokens(&["let x = \"a b\\\" c\";", "// no token"]), 5);
    assert_eq!(tokens(&["fn f<'a>(x: &'a str) -> char { b'\\'' }"]), 17);
    assert_eq!(tokens(&["for i in a..=b {}", "r#\"a b\"#"]), 9);
}

/// The crate of a file: a folder below a floor of the product, below `papers` or below `bench`.
fn crate_of(name: &str) -> String {
    let depth = if name.starts_with("crates/") { 3 } else { 2 };
    name.split('/').take(depth).collect::<Vec<_>>().join("/")
}

fn is_all_tests(name: &str) -> bool {
    name.contains("/tests/") || name.ends_with("tests.rs") || name.contains("/benches/")
}

/// Splits a file into the lines of production code and the lines of tests.
pub(super) fn divided<'a>(name: &str, lines: &'a [&'a str]) -> (&'a [&'a str], &'a [&'a str]) {
    let first_test = lines.iter().position(|line| line.trim() == "#[cfg(test)]");
    let cut = if is_all_tests(name) { 0 } else { first_test.unwrap_or(lines.len()) };
    lines.split_at(cut)
}

fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(limited) => limited.trim_start_matches(char::is_alphabetic).strip_prefix(')')?,
        None => rest,
    };
    let kinds = ["struct ", "enum ", "trait ", "type "];
    let named = kinds.iter().find_map(|kind| rest.strip_prefix(' ')?.strip_prefix(kind))?;
    named.split(|letter| !is_word(letter)).next()
}

/// The current values of everything in `size.txt`.
fn counted() -> BTreeMap<String, usize> {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    let mut options = 0;
    for (name, text) in rust() {
        if name.starts_with("fuzz") {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        let (production, tests) = divided(&name, &lines);
        let owner = crate_of(&name);
        *sizes.entry(format!("{owner} production")).or_default() += tokens(production);
        *sizes.entry(format!("{owner} tests")).or_default() += tokens(tests);
        for name in production.iter().filter_map(|line| public_type(line)) {
            *types.entry(name.to_owned()).or_default() += 1;
        }
        if name.starts_with("crates/front/cli/src/verbs") {
            options += text.matches("#[arg(").count();
        }
    }
    let manifests = texts(&["Cargo.toml"]);
    let crates = manifests.iter().filter(|(name, _)| name.starts_with("crates/"));
    sizes.insert("all: crates of the product".to_owned(), crates.count());
    sizes.insert("all: options of the command".to_owned(), options);
    let shared = types.values().filter(|uses| **uses > 1);
    sizes.insert("all: public types that share a name".to_owned(), shared.sum());
    for (building, folder) in [("product", "crates/"), ("papers", "papers/"), ("bench", "bench/")] {
        for kind in ["production", "tests"] {
            let of_building = |key: &String| key.starts_with(folder) && key.ends_with(kind);
            let sum = sizes.iter().filter(|(key, _)| of_building(key)).map(|(_, size)| size).sum();
            sizes.insert(format!("all: {kind} of the {building}"), sum);
        }
    }
    sizes.retain(|_, size| *size > 0);
    sizes
}

/// The numbers in `size.txt`.
fn allowed(text: &str) -> BTreeMap<String, usize> {
    let of_line = |line: &str| {
        let (size, what) = line.trim().split_once(' ')?;
        Some((what.to_owned(), size.parse().ok()?))
    };
    text.lines().filter_map(of_line).collect()
}

/// A line for each size that exceeds its bound or whose bound is out of date.
fn differences(
    allowed: &BTreeMap<String, usize>,
    counted: &BTreeMap<String, usize>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (what, size) in counted {
        let bound = allowed.get(what).copied().unwrap_or(0);
        if *size > bound {
            found.push(format!("{what}: {size}, {} more than allowed", size - bound));
        } else if bound - size > SLACK {
            found.push(format!("{what}: {size} now: lower the bound of {bound}"));
        }
    }
    let gone = allowed.keys().filter(|what| !counted.contains_key(*what));
    found.extend(gone.map(|what| format!("{what}: gone")));
    found
}

#[test]
fn sizes_stay_within_bounds() {
    let counted = counted();
    let allowed = allowed(include_str!("size.txt"));
    let found = differences(&allowed, &counted);
    if found.is_empty() {
        return;
    }
    let lines: Vec<String> =
        counted.iter().map(|(what, size)| format!("{size:>9} {what}\n")).collect();
    let written = root().join("target/size.txt");
    let wrote = std::fs::write(&written, lines.concat());
    panic!(
        "sizes that are not those of style/size.txt (as counted: {}, {wrote:?}):\n  {}",
        written.display(),
        found.join("\n  ")
    );
}

#[test]
fn exceeded_and_loose_bounds_are_found() {
    let size = |size| BTreeMap::from([("x".to_owned(), size)]);
    assert_eq!(differences(&size(5), &size(6)), ["x: 6, 1 more than allowed"]);
    assert_eq!(differences(&size(300), &size(6)), ["x: 6 now: lower the bound of 300"]);
    assert_eq!(differences(&size(6), &BTreeMap::new()), ["x: gone"]);
    assert!(differences(&size(7), &size(6)).is_empty());
}
