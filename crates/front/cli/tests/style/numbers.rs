//! Grammatical number in sources and in snapshots of printed text.

use super::{assert_none, is_style, is_test, rust, texts};
use seatmap_needs::faults;

/// Snapshots of the C programs' own output, in which the number of a status precedes a name.
const OF_STATUSES: &str = "-c/tests/programs/snapshots/";

/// Recorded timings: their rows are labels (`queue of 2 line by line`), not sentences.
const OF_TIMINGS: &str = "__reference__timings_match_the_recorded_ones.snap";

/// Refusals with a conversion in Python.
const OF_CODE: &str = "__foreign_formats_are_named_with_a_conversion.snap";

/// Tables separate columns by two spaces.
const IN_TABLES: &str = "two spaces: ";

/// Plans for other programs, in a shell's words.
const IN_SHELL: &str = ": export ";

/// Finds `1 threads`, `2 thread` and `-0 %`.
#[test]
fn numbers_and_nouns_agree() {
    let snapshots = texts(&[".snap"]);
    let printed = snapshots.iter().filter(|(name, _)| {
        !name.contains(OF_STATUSES) && !name.ends_with(OF_TIMINGS) && !name.ends_with(OF_CODE)
    });
    let wrong = printed.flat_map(|(name, text)| {
        let found = faults(text)
            .into_iter()
            .filter(|fault| !fault.starts_with(IN_TABLES) && !fault.contains(IN_SHELL));
        found.map(move |fault| format!("{name}: {fault}"))
    });
    assert_none("sentences with a wrong number word", &wrong.collect::<Vec<_>>());
}

/// Counted nouns: `{n} CPUs` in a source prints "1 CPUs" when `n` is 1.
const COUNTED: &str = "CPUs PUs SPEs batches blocks bytes calls candidates cells channels columns contexts cores cycles \
    days detours edges elements entries events figures files gaps groups homes hours indexes interrupts jobs keys levels \
    lines links loads mappings messages moves names nodes numbers objects pages pairs passes periods phases placements \
    places processes programs ranks regimes resamplings rounds rows runs samples seats seconds sections steps stops \
    streams swaps switches tasks threads transfers tries users values vertices visits windows words workers";

/// Begins a comment that says why a number is never 1.
const NEVER_ONE: &str = "// Plural: ";

/// Folders outside the product.
const OTHERS: [&str; 3] = ["papers/", "bench/", "/examples/"];

/// Finds a number in braces and a plural noun. Omits constants, which are never 1, and measured
/// figures such as `{:.1} CPUs`.
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
fn number_before_plural_noun_is_found() {
    let line = r#"format!("{} CPUs, {n} of {MOST} threads, {seats:.0} seats, {load:.1} CPUs, {name} sits")"#;
    assert_eq!(counts(line), ["{} CPUs", "{seats:.0} seats"]);
}

/// `{count} threads` prints "1 threads" when `count` is 1;
/// `seatmap_data::statistics::words::counted` prints "1 thread".
#[test]
fn plural_nouns_use_counted() {
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
        // Messages of assertions are for developers.
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
