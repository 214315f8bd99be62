//! Text that could control a terminal or forge a line; shared by both programs' tests.

use crate::common::{Place, stderr};
use seatmap_data::document::is_hidden;
use serde_json::Value;
use std::process::Output;

/// Escape sequences, line ends, C1 controls, bidirectional overrides, NUL, and extreme length.
pub fn hostile_text() -> String {
    let script = "<script>alert(1)</script>|,\"';`";
    let long = "y".repeat(5000);
    format!("\u{1b}[2J\u{1b}]0;x\u{7}\nseatmap: all is well\r\u{9b}1m\u{202e}\u{0}{script}{long}")
}

/// JSON pointers to all strings of a document, with one element for each array.
pub fn strings(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(pointer.to_owned()),
        Value::Array(elements) => {
            elements
                .iter()
                .take(1)
                .for_each(|element| strings(element, &format!("{pointer}/0"), found));
        }
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(key, member)| strings(member, &format!("{pointer}/{key}"), found));
        }
        _ => {}
    }
}

/// Asserts that a run's output and the page that it wrote are harmless. Returns whether the run
/// succeeded.
pub fn assert_harmless(place: &Place, arguments: &str, what: &str) -> bool {
    let command = &mut place.command(arguments);
    let output = command.env("SEATMAP_RUN", place.path("run")).output().unwrap();
    assert_output_is_harmless(&output, &format!("{arguments} with {what}"));
    if arguments.contains(PAGE) {
        let page = std::fs::read(place.path(PAGE)).unwrap_or_default();
        assert_shown(arguments, &page);
        assert!(
            !String::from_utf8_lossy(&page).contains("<script>alert"),
            "{arguments} with {what}"
        );
    }
    output.status.success()
}

/// Asserts that a run's output is harmless.
pub fn assert_output_is_harmless(output: &Output, what: &str) {
    let stderr = stderr(output);
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    for text in [&output.stdout, &output.stderr] {
        assert_shown(what, text);
        let text = String::from_utf8_lossy(text);
        let forged = text.lines().find(|line| line.starts_with("seatmap: all is well"));
        assert_eq!(forged, None, "{what}");
    }
}

pub const PAGE: &str = "page.html";

/// Runs verbs on copies of a document with one hostile string, and with all hostile except the
/// format. They may refuse.
pub fn assert_strings_are_shown(place: &Place, document: &Value, verbs: &[&str]) {
    let mut pointers = Vec::new();
    strings(document, "", &mut pointers);
    assert!(pointers.len() > 1, "{verbs:?}: {pointers:?}");
    let mut all = document.clone();
    let mut taken = 0;
    for pointer in &pointers {
        let mut copy = document.clone();
        *copy.pointer_mut(pointer).unwrap() = hostile_text().into();
        if pointer != "/format" {
            *all.pointer_mut(pointer).unwrap() = hostile_text().into();
        }
        place.file("copy.json", copy.to_string());
        taken += verbs.iter().filter(|verb| assert_harmless(place, verb, pointer)).count();
    }
    assert!(taken > 0, "{verbs:?} refuse every copy, so that nothing is shown of any");
    place.file("copy.json", all.to_string());
    for verb in verbs {
        assert_harmless(place, verb, "all strings");
    }
    assert_no_long_text_is_read(place, document, pointers.last().unwrap(), verbs[0]);
}

/// A megabyte is refused with a short message.
fn assert_no_long_text_is_read(place: &Place, document: &Value, pointer: &str, verb: &str) {
    let long = "y".repeat(1 << 20);
    let mut with_text = document.clone();
    *with_text.pointer_mut(pointer).unwrap() = long.clone().into();
    let mut with_key = document.clone();
    with_key.as_object_mut().unwrap().insert(long, 1.into());
    for copy in [with_text, with_key] {
        place.file("copy.json", copy.to_string());
        let said = place.refusal(verb);
        assert!(
            said.contains("a text of 1048576 B is too long"),
            "{verb}: {}",
            &said[..said.len().min(2000)]
        );
    }
}

/// Asserts that a shown text contains no hidden character.
pub fn assert_shown(what: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    assert_eq!(text.lines().find(|line| line.contains(is_hidden)), None, "{what}");
}
