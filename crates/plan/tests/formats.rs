//! The JSON Schema in `docs/formats/` against what is really written, key by key in both directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_machine::{CoreKind, Pu, cpu_list::MAX_CPU};
use seatmap_plan::plan::{FORMAT, MAX_TASKS};
use seatmap_plan::{Agreement, Baselines, Channel, Objective, Plan, Random};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../docs/formats/seatmap-plan-1.schema.json")).unwrap()
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

/// Visits each property of a schema with its dotted path, following `$ref` and the items of arrays.
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

/// A plan in which nothing is left out. No `..Default`: a new field must be added here, and so to the schema.
fn full() -> Plan {
    let random = Random { mean: 200.0, best: 120.0 };
    Plan {
        format: FORMAT.into(),
        machine: "desk".into(),
        pattern: Some("ring:2".into()),
        placement: vec![4, 0],
        names: vec!["left".into(), "right".into()],
        pus: vec![pu(0, CoreKind::Performance), pu(4, CoreKind::Efficiency)],
        objective: Some(Objective::Distance),
        cost: Some(100.0),
        lower_bound: Some(90.5),
        optimal: false,
        baselines: Some(Baselines { os: 110.0, compact: 100.0, scatter: 300.0, random }),
        channels: vec![Channel { from: 0, to: 1, home: 1, line: Some(7), distance_ns: 80.0 }],
        agreement: Some(Agreement { placements: 40, distance: Some(0.9), congestion: Some(0.5) }),
        method: Some("portfolio".into()),
        seconds: Some(0.5),
        seed: Some(1),
        date: Some("2026-01-31".into()),
        tool: Some("seatmap".into()),
    }
}

fn pu(os: u32, kind: CoreKind) -> Pu {
    Pu {
        os,
        core: Some(os),
        smt: Some(0),
        l2: Some(os),
        l3: Some(0),
        die: Some(0),
        numa: Some(0),
        package: Some(0),
        kind: Some(kind),
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
fn plans_have_the_keys_of_the_schema_and_no_others() {
    let plan = full();
    plan.check().unwrap();
    let written = serde_json::to_value(plan).unwrap();
    assert_valid(&closed(&schema()), &written);
    visit_properties(&schema(), &schema(), "", &mut |path, _| {
        assert!(written.pointer(path).is_some(), "{path} is never written");
    });
}

#[test]
fn every_objective_and_a_sparse_plan_are_valid() {
    let schema = closed(&schema());
    assert_valid(&schema, &serde_json::to_value(Plan::new("desk", vec![3])).unwrap());
    assert_valid(&schema, &json!({ "format": FORMAT, "machine": "desk", "placement": [3, 1] }));
    for objective in [Objective::Distance, Objective::Congestion, Objective::Simulated, Objective::Measured] {
        let plan = Plan { objective: Some(objective), ..full() };
        assert_valid(&schema, &serde_json::to_value(plan).unwrap());
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let both = |change: &dyn Fn(&mut Value)| {
        let mut plan = serde_json::to_value(full()).unwrap();
        change(&mut plan);
        let read = Plan::from_json(&plan.to_string()).is_ok();
        assert_eq!(jsonschema::is_valid(&schema(), &plan), read, "{plan}");
        read
    };
    assert!(both(&|it| it["colour"] = json!("red")), "unknown keys are ignored");
    assert!(!both(&|it| it["format"] = json!("seatmap-plan/2")));
    assert!(!both(&|it| it["placement"] = json!([])));
    assert!(!both(&|it| it["placement"][0] = json!(-1)));
    assert!(!both(&|it| it["placement"][0] = json!(MAX_CPU + 1)));
    assert!(!both(&|it| it["objective"] = json!("speed")));
    assert!(!both(&|it| it["baselines"]["random"] = json!(null)));
    assert!(!both(&|it| it["channels"][0]["to"] = json!(MAX_TASKS)));
    assert!(both(&|it| it["channels"][0]["line"] = json!(null)));
}
