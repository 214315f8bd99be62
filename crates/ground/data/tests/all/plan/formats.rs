//! Compares the JSON Schema in `docs/formats/` with written documents, key by key in both
//! directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use crate::machine::full_pu::full_pu;
use seatmap_data::document::schema::{never_written, refused};
use seatmap_data::machine::CoreKind;
use seatmap_data::plan::placed::{FORMAT, MAX_TASKS};
use seatmap_data::plan::{Agreement, Baselines, Channel, Effect, Objective, Plan, Random};
use seatmap_os::cpu_list::MAX_CPU;
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../../docs/formats/seatmap-plan-1.schema.json"))
        .unwrap()
}

fn assert_valid(instance: &Value) {
    assert_eq!(refused(&schema(), instance), Vec::<String>::new());
}

/// A complete plan. No `..Default`: a new field must be added here, and so to the schema.
fn full() -> Plan {
    let random = Random { mean: 200.0, best: 120.0 };
    Plan {
        format: FORMAT.into(),
        machine: "desk".into(),
        pattern: Some("ring:2".into()),
        placement: vec![4, 0],
        seats: vec![vec![0, 4], vec![0]],
        memory: vec![vec![1], vec![0, 1]],
        names: vec!["left".into(), "right".into()],
        paths: vec!["0".into(), "0.0".into()],
        pus: vec![full_pu(0, CoreKind::Performance), full_pu(4, CoreKind::Efficiency)],
        objective: Some(Objective::Distance),
        cost: Some(100.0),
        waits: true,
        lower_bound: Some(90.5),
        optimal: false,
        effect: Some(Effect {
            observed_s: 3.0,
            messages: 1000.0,
            outside_wakeups: 7.0,
            saw_memory: false,
            nearest_ns: 80.0,
            farthest_ns: 400.0,
            planned_s: 8e-5,
            farthest_s: 4e-4,
        }),
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

#[test]
fn plan_keys_match_the_schema() {
    let plan = full();
    plan.check().unwrap();
    let written = serde_json::to_value(plan).unwrap();
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
