//! The JSON Schema in `docs/formats/` against what is really written, key by key in both directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_pattern::edge::MAX_AMOUNT;
use seatmap_pattern::pattern::{FORMAT, MAX_EDGES, MAX_TASKS};
use seatmap_pattern::{Edge, Pattern, generate};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../docs/formats/seatmap-pattern-1.schema.json")).unwrap()
}

/// The schema with every object closed, so that a key that it does not list is an error.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut object: serde_json::Map<_, _> = object.iter().map(|(key, it)| (key.clone(), closed(it))).collect();
            if object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".into(), json!(false));
            }
            Value::Object(object)
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        other => other.clone(),
    }
}

fn assert_valid(schema: &Value, instance: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let told = |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
    let errors: Vec<String> = validator.iter_errors(instance).map(told).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Visits each property of a schema with its path, following `$ref` and the items of arrays.
fn visit_properties(root: &Value, schema: &Value, path: &str, visit: &mut dyn FnMut(&str, &Value)) {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        visit_properties(root, root.pointer(target.trim_start_matches('#')).unwrap(), path, visit);
    }
    if let Some(items) = schema.get("items") {
        visit_properties(root, items, &format!("{path}/0"), visit);
    }
    for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = format!("{path}/{key}");
        visit(&path, property);
        visit_properties(root, property, &path, visit);
    }
}

/// A pattern in which nothing is left out: a new field must be added here, and so to the schema.
fn full() -> Pattern {
    Pattern {
        format: FORMAT.into(),
        name: "pair".into(),
        tasks: 2,
        names: vec!["left".into(), "right".into()],
        edges: vec![Edge { from: 0, to: 1, bytes: 4096.0, messages: 2.5 }],
    }
}

#[test]
fn the_schema_is_one_and_says_what_each_key_is() {
    jsonschema::meta::validate(&schema()).unwrap();
    visit_properties(&schema(), &schema(), "", &mut |path, property| {
        assert!(property.get("description").is_some_and(Value::is_string), "{path} has no description");
    });
}

#[test]
fn patterns_have_the_keys_of_the_schema_and_no_others() {
    full().check().unwrap();
    let written = serde_json::to_value(full()).unwrap();
    assert_valid(&closed(&schema()), &written);
    visit_properties(&schema(), &schema(), "", &mut |path, _| {
        assert!(written.pointer(path).is_some(), "{path} is never written");
    });
    assert_valid(&closed(&schema()), &serde_json::to_value(generate("stencil2d:3x3").unwrap()).unwrap());
    assert_valid(&schema(), &json!({ "format": FORMAT, "name": "x", "tasks": 1, "edges": [] }));
}

#[test]
fn bounds_are_the_same_in_both() {
    let schema = schema();
    let bound = |path: &str| schema.pointer(path).and_then(Value::as_f64).unwrap();
    assert_eq!(bound("/properties/tasks/maximum"), MAX_TASKS as f64);
    assert_eq!(bound("/$defs/task/maximum"), (MAX_TASKS - 1) as f64);
    assert_eq!(bound("/properties/edges/maxItems"), MAX_EDGES as f64);
    assert_eq!(bound("/$defs/amount/maximum"), MAX_AMOUNT);
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let both = |change: &dyn Fn(&mut Value)| {
        let mut pattern = serde_json::to_value(full()).unwrap();
        change(&mut pattern);
        let read = Pattern::from_json(&pattern.to_string()).is_ok();
        assert_eq!(jsonschema::is_valid(&schema(), &pattern), read, "{pattern}");
        read
    };
    assert!(both(&|it| it["colour"] = json!("red")), "unknown keys are ignored");
    assert!(both(&|it| it["edges"] = json!([])));
    assert!(both(&|it| it["edges"][0] = json!({ "from": 1, "to": 0, "bytes": 0 })));
    assert!(!both(&|it| it["format"] = json!("seatmap-pattern/2")));
    assert!(!both(&|it| it["tasks"] = json!(0)));
    assert!(!both(&|it| it["tasks"] = json!(MAX_TASKS + 1)));
    assert!(!both(&|it| it["names"] = json!([0, 1])));
    assert!(!both(&|it| it["edges"][0]["bytes"] = json!(-1)));
    assert!(!both(&|it| it["edges"][0]["messages"] = json!(2e18)));
    assert!(!both(&|it| it["edges"][0]["bytes"] = json!(null)));
    assert!(!both(&|it| it["edges"][0]["from"] = json!(-1)));
    assert!(!both(&|it| it["edges"][0]["to"] = json!("1")));
}

#[test]
fn the_example_in_the_guide_is_read() {
    let guide = include_str!("../../../docs/src/patterns.md");
    let example = guide.split_once("```json\n").unwrap().1.split_once("```").unwrap().0;
    let pattern = Pattern::from_json(example).unwrap();
    assert_eq!((&pattern.names[2][..], pattern.edges[1].messages), ("writer", 1.0));
    assert_valid(&closed(&schema()), &serde_json::from_str(example).unwrap());
}
