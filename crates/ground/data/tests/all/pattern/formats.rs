//! Compares the JSON Schema in `docs/formats/` with written documents, key by key in both
//! directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::document::schema::{never_written, refused};
use seatmap_data::pattern::graph::{FORMAT, MAX_TASKS};
use seatmap_data::pattern::{Pattern, generate};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!(
        "../../../../../../docs/formats/seatmap-pattern-1.schema.json"
    ))
    .unwrap()
}

fn assert_valid(instance: &Value) {
    assert_eq!(refused(&schema(), instance), Vec::<String>::new());
}

/// A pattern with every key: the schema's keys that it lacks are listed.
fn full() -> Pattern {
    Pattern::from_json(include_str!("full_pattern.json")).unwrap()
}

#[test]
fn pattern_keys_match_the_schema() {
    let written = serde_json::to_value(full()).unwrap();
    assert_valid(&written);
    assert_eq!(never_written(&schema(), &[written]), Vec::<String>::new());
    assert_valid(&serde_json::to_value(generate("stencil2d:3x3").unwrap()).unwrap());
    assert_valid(&json!({ "format": FORMAT, "name": "x", "tasks": 1, "edges": [] }));
}

#[test]
fn schema_and_reader_refuse_the_same() {
    for (at, value, is_read) in [
        ("/edges", json!([]), true),
        ("/edges/0", json!({ "from": 1, "to": 0, "bytes": 0 }), true),
        ("/format", json!("seatmap-pattern/2"), false),
        ("/tasks", json!(0), false),
        ("/tasks", json!(MAX_TASKS + 1), false),
        ("/names", json!([0, 1]), false),
        ("/edges/0/bytes", json!(-1), false),
        ("/edges/0/messages", json!(2e18), false),
        ("/edges/0/bytes", json!(null), false),
        ("/edges/0/from", json!(-1), false),
        ("/edges/0/to", json!("1"), false),
    ] {
        let mut pattern = serde_json::to_value(full()).unwrap();
        pattern["colour"] = json!("red"); // Unknown keys are ignored.
        *pattern.pointer_mut(at).unwrap() = value;
        assert_eq!(Pattern::from_json(&pattern.to_string()).is_ok(), is_read, "{pattern}");
        assert_eq!(jsonschema::is_valid(&schema(), &pattern), is_read, "{pattern}");
    }
}

#[test]
fn guide_example_is_read() {
    let guide = include_str!("../../../../../../docs/src/patterns.md");
    let example = guide.split_once("```json\n").unwrap().1.split_once("```").unwrap().0;
    let pattern = Pattern::from_json(example).unwrap();
    assert_eq!((&pattern.names[2][..], pattern.edges[1].messages), ("writer", 1.0));
    assert_valid(&serde_json::from_str(example).unwrap());
}
