//! Packed lines: counts that may only fall. If you repair some, lower the count.

use super::{is_test, others};

const WIDEST_CODE: usize = 100;

/// Most wide lines are string literals or attributes, which the formatter cannot break.
const MOST_WIDE_LINES: usize = 308;
const MOST_NAMED_CLOSURES: usize = 200;
const MOST_TUPLE_LETS: usize = 5;

/// Production code, without unit tests.
fn production() -> Vec<String> {
    let files =
        others().into_iter().filter(|(name, _)| !is_test(name) && !name.contains("/benches/"));
    let code = files.map(|(_, text)| text.split("#[cfg(test)]").next().unwrap().to_owned());
    code.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn count(what: impl Fn(&str) -> bool) -> usize {
    production().iter().filter(|line| what(line)).count()
}

fn assert_falls(what: &str, found: usize, most: usize) {
    assert!(found <= most, "{found} {what}, and no more than {most} are left to mend");
}

/// A closure with a name instead of a function or an argument: `let name = |...|`.
fn names_a_closure(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("let ") else { return false };
    let value = rest.split_once(" = ").map(|(_, value)| value.trim_start_matches("move "));
    value.is_some_and(|value| value.starts_with('|'))
}

/// `let (a, b) = (x, y);`: two statements on one line.
fn lets_two(line: &str) -> bool {
    line.trim_start().starts_with("let (") && line.contains(") = (") && line.ends_with(");")
}

/// An arm of a `match` on a `bool`, which should be an `if`.
fn matches_a_bool(line: &str) -> bool {
    ["true =>", "false =>"].iter().any(|arm| line.trim_start().starts_with(arm))
}

#[test]
fn lines_hold_one_statement() {
    assert_falls("closures with a name", count(names_a_closure), MOST_NAMED_CLOSURES);
    assert_falls("lets of two values", count(lets_two), MOST_TUPLE_LETS);
    assert_falls("arms on a bool", count(matches_a_bool), 0);
    let wide = count(|line| line.chars().count() > WIDEST_CODE);
    assert_falls("lines of code that are too wide", wide, MOST_WIDE_LINES);
}

#[test]
fn packing_offences_are_found() {
    assert!(
        names_a_closure("    let told = |line: &str| line.len();")
            && !names_a_closure("let a = b || c;")
    );
    assert!(lets_two("let (a, b) = (1, 2);") && !lets_two("let (a, b) = pair();"));
    assert!(matches_a_bool("        true => 1,") && !matches_a_bool("        Some(true) => 1,"));
}
