//! Hostile strings in every text of a study and of a ranking, through the verbs that read them.

use crate::common::Place;
use crate::hostile::{assert_harmless, assert_shown, hostile_text, strings};
use serde_json::{Value, json};

/// Both parts of a ranking get the same string, because parts of different studies are rejected.
#[test]
fn ranking_strings_are_escaped() {
    let place = Place::new();
    let parts = ["1/2", "2/2"].map(|part| {
        let study = "rank --on cell-ps3 --pattern ring:3 --runs 1";
        place.json((study, &["--shard", part, "--json"]))
    });
    let mut pointers = Vec::new();
    strings(&parts[0], "", &mut pointers);
    let mut taken = 0;
    for pointer in &pointers {
        for (name, part) in ["first", "second"].iter().zip(&parts) {
            let mut copy = part.clone();
            *copy.pointer_mut(pointer).unwrap() = hostile_text().into();
            place.file(name, copy.to_string());
        }
        taken += usize::from(assert_harmless(&place, "rank merge first second", pointer));
        taken += usize::from(assert_harmless(
            &place,
            "rank merge first second --html page.html",
            pointer,
        ));
    }
    assert!(taken > 0, "every part is refused: {pointers:?}");
}

/// A study with text in each place. One command provides all figures.
fn study() -> Value {
    let command = "rank --on cell-ps3 --pattern ring:3 --runs 1";
    json!({ "format": "seatmap-study/3", "name": "own", "title": "A title", "paper": "Nobody 2026",
        "holds": "A cost holds.", "about": "Some words.", "conclusion": "It works.",
        "figure": [{ "place": "table 1", "what": "a cost", "command": command, "over": command,
            "value": "/best_mean_ns", "over_value": "/best_mean_ns", "published": 7.0,
            "null": { "what": "another cost", "command": command }, "unit": "ns", "kind": "check",
            "note": "It is not seven." },
            { "place": "section 2", "what": "a change", "command": command, "minus": command,
            "value": "/best_mean_ns", "says": "It grows.", "above": 1.0,
            "null": { "what": "no change" }, "unit": "ns", "kind": "check" }],
        "table": [{ "title": "A table", "about": "Costs.", "rows": "placement", "value": "/best_mean_ns",
            "column": [{ "name": "once", "word": "--seed 1" }],
            "row": [{ "what": "a row", "command": format!("{command} COLUMN"), "note": "One row." }] }],
        "picture": [{ "title": "A picture", "file": "ranking.svg",
            "command": "rank --on cell-ps3 --pattern ring:3 --runs 1 --svg FILE" }] })
}

/// A document as TOML; strings have JSON's escapes.
fn toml(value: &Value) -> String {
    let inside = |members: &serde_json::Map<String, Value>, between: &str| {
        members
            .iter()
            .map(|(key, member)| format!("{key} = {}", toml(member)))
            .collect::<Vec<_>>()
            .join(between)
    };
    match value {
        Value::Object(members) if members.contains_key("format") => inside(members, "\n"),
        Value::Object(members) => format!("{{ {} }}", inside(members, ", ")),
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(toml).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[test]
fn study_strings_are_escaped() {
    let place = Place::new();
    let study = study();
    let mut pointers = Vec::new();
    strings(&study, "", &mut pointers);
    let mut pages = 0;
    for pointer in pointers {
        let mut copy = study.clone();
        *copy.pointer_mut(&pointer).unwrap() = hostile_text().into();
        place.file("copy.toml", toml(&copy));
        if assert_harmless(&place, "study copy.toml --write pages", &pointer) {
            let page = place.read("pages/own.md");
            assert_shown(&pointer, page.as_bytes());
            assert!(!page.contains("<script>"), "{pointer}: {page}");
            assert_shown(&pointer, place.read("pages/own.csv").as_bytes());
            pages += 1;
        }
    }
    assert!(pages > 10, "{pages}");
    let entries =
        std::fs::read_dir(place.path("pages")).unwrap().map(|entry| entry.unwrap().file_name());
    let own = ["own.csv", "own.md", "own.svg", "ranking.svg"];
    assert_eq!(entries.filter(|name| !own.iter().any(|own| name == own)).count(), 0);
}
