//! Grammatical number in sentences, in the sources and in all snapshots of printed text.

use super::{assert_none, is_style, is_test, rust, texts};
use seatmap_data::statistics::words::faults;

/// In C programs' output, a status number precedes a name.
const OF_STATUSES: &str = "-c/tests/programs/snapshots/";

/// Rows are labels (`queue of 2 line by line`), not sentences.
const OF_TIMINGS: &str = "__reference__timings_are_as_recorded.snap";

const IN_TABLES: &str = "two spaces: ";

#[test]
fn numbers_and_nouns_agree() {
    let snapshots = texts(&[".snap"]);
    let printed = snapshots
        .iter()
        .filter(|(name, _)| !name.contains(OF_STATUSES) && !name.ends_with(OF_TIMINGS));
    let wrong = printed.flat_map(|(name, text)| {
        let found = faults(text).into_iter().filter(|fault| !fault.starts_with(IN_TABLES));
        found.map(move |fault| format!("{name}: {fault}"))
    });
    assert_none("sentences with a wrong number word", &wrong.collect::<Vec<_>>());
}

/// `{n} CPUs` prints "1 CPUs" when `n` is 1.
const COUNTED: &str = "CPUs PUs SPEs batches blocks bytes calls candidates cells channels columns contexts cores cycles \
    days detours edges elements entries events figures files gaps groups homes hours indexes interrupts jobs keys levels \
    lines links loads mappings messages moves names nodes numbers objects pages pairs passes periods phases placements \
    places processes programs ranks regimes resamplings rounds rows runs samples seats seconds sections steps stops \
    streams swaps switches tasks threads transfers tries users values vertices visits windows words workers";

/// A comment that starts like this, above a sentence, says why its number is never 1.
const NEVER_ONE: &str = "// Plural: ";

/// Outside the product.
const OTHERS: [&str; 3] = ["papers/", "bench/", "/examples/"];

/// Finds `{n} CPUs` and `{:.0} bytes`, but not constants, which are never 1, and `{:.1} CPUs`, a
/// measured figure.
fn counts(line: &str) -> Vec<&str> {
    let is_constant = |name: &str| {
        !name.is_empty() && name == name.to_uppercase() && !name.starts_with(char::is_numeric)
    };
    let count = |(at, _): (usize, &str)| {
        let (inside, behind) = line[at + 1..].split_once("} ")?;
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        let is_name =
            name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.".contains(letter));
        let is_measured = format.starts_with('.') && format != ".0";
        let noun = behind.split(|letter: char| !letter.is_ascii_alphabetic()).next()?;
        let is_counted = COUNTED.split_ascii_whitespace().any(|name| name == noun);
        let is_plural = is_name && is_counted && !is_constant(name) && !is_measured;
        is_plural.then(|| &line[at..at + inside.len() + 3 + noun.len()])
    };
    line.match_indices('{').filter_map(count).collect()
}

#[test]
fn a_number_before_several_things_is_found() {
    let line = r#"format!("{} CPUs, {n} of {MOST} threads, {seats:.0} seats, {load:.1} CPUs, {name} sits")"#;
    assert_eq!(counts(line), ["{} CPUs", "{seats:.0} seats"]);
}

/// `seatmap_data::statistics::words::counted` prints "1 thread".
#[test]
fn sentences_count_their_nouns() {
    let of_product = |name: &str| {
        !is_test(name)
            && !name.ends_with("_tests.rs")
            && !is_style(name)
            && !OTHERS.iter().any(|other| {
                name.starts_with(other) || other.starts_with('/') && name.contains(other)
            })
    };
    let sources = rust().into_iter().filter(|(name, _)| of_product(name));
    let wrong = sources.flat_map(|(name, text)| {
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines: Vec<&str> = product.lines().collect();
        let is_excused = |at: usize| {
            lines[at.saturating_sub(4)..=at].iter().any(|line| line.contains(NEVER_ONE))
        };
        // An assertion's message is only for developers.
        let is_assertion = |at: usize| {
            let starts = ["assert", "debug_assert", "invariant!"];
            lines[at.saturating_sub(4)..=at]
                .iter()
                .any(|line| starts.iter().any(|start| line.trim_start().starts_with(start)))
        };
        let is_sentence =
            |at: usize| !lines[at].trim_start().starts_with("//") && !is_assertion(at);
        let found = lines.iter().enumerate().filter(|(at, _)| is_sentence(*at) && !is_excused(*at));
        let found = found.flat_map(|(at, line)| {
            counts(line).into_iter().map(move |count| (at, count.to_owned()))
        });
        found.map(|(at, count)| format!("{name}:{}: {count}", at + 1)).collect::<Vec<_>>()
    });
    assert_none(
        "these say '1 threads' for one of them; see seatmap_data::statistics::words",
        &wrong.collect::<Vec<_>>(),
    );
}
