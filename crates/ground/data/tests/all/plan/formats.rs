//! Compares the JSON Schema in `docs/formats/` with written documents, key by key in both
//! directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::document::schema::{never_written, refused};
use seatmap_data::plan::placed::{FORMAT, MAX_TASKS};
use seatmap_data::plan::{Objective, Plan};
use seatmap_os::cpu_list::MAX_CPU;
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../../docs/formats/seatmap-plan-1.schema.json"))
        .unwrap()
}

fn assert_valid(instance: &Value) {
    assert_eq!(refused(&schema(), instance), Vec::<String>::new());
}

/// A plan with every key: the schema's keys that it lacks are listed.
fn full() -> Plan {
    Plan::from_json(include_str!("full_plan.json")).unwrap()
}

#[test]
fn plan_keys_match_the_schema() {
    let written = serde_json::to_value(full()).unwrap();
    assert_valid(&written);
    assert_eq!(never_written(&schema(), &[written]), Vec::<String>::new());
}

#[test]
fn sparse_plan_and_every_objective_match_the_schema() {
    assert_valid(&serde_json::to_value(Plan::new("desk", vec![3])).unwrap());
    assert_valid(&json!({ "format": FORMAT, "machine": "desk", "placement": [3, 1] }));
    use Objective::{Congestion, Distance, Measured, Simulated, Time};
    for objective in [Distance, Congestion, Simulated, Measured, Time] {
        let plan = Plan { objective: Some(objective), ..full() };
        assert_valid(&serde_json::to_value(plan).unwrap());
    }
}

#[test]
fn schema_and_reader_refuse_the_same() {
    for (at, value, is_read) in [
        ("/format", json!("seatmap-plan/2"), false),
        ("/placement", json!([]), false),
        ("/placement/0", json!(-1), false),
        ("/placement/0", json!(MAX_CPU + 1), false),
        ("/objective", json!("speed"), false),
        ("/baselines/random", json!(null), false),
        ("/channels/0/to", json!(MAX_TASKS), false),
        ("/memory/0", json!([1024]), false),
        ("/memory/0", json!(["0"]), false),
        ("/memory/0", json!([]), true),
        ("/channels/0/line", json!(null), true),
    ] {
        let mut plan = serde_json::to_value(full()).unwrap();
        plan["colour"] = json!("red"); // Unknown keys are ignored.
        *plan.pointer_mut(at).unwrap() = value;
        assert_eq!(Plan::from_json(&plan.to_string()).is_ok(), is_read, "{plan}");
        assert_eq!(jsonschema::is_valid(&schema(), &plan), is_read, "{plan}");
    }
}
