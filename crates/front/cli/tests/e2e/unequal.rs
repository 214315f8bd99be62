//! Seats that differ in speed, kind and cache.

use crate::common::{Json, Place, assert_contains, two_cpus};
use serde_json::{Value, json};

fn placement(plan: &Value) -> Vec<u64> {
    plan["placement"].elements().iter().map(|os| os.whole()).collect()
}

#[test]
fn speeds_are_measured_stored_and_shown() {
    let place = Place::new();
    let Some(cpus) = two_cpus() else { return };
    place.stdout(format!("measure --cpus {cpus} --quick --speed -o host.json"));
    let profile = place.read_json("host.json");
    let list = |value: &Value| value.elements().iter().map(|it| it.number()).collect::<Vec<f64>>();
    let alone = list(&profile["speed"]["alone"]);
    let together = list(&profile["speed"]["together"]);
    assert!(
        alone.len() == 2 && together.len() == 2 && alone.iter().copied().fold(0.0, f64::max) == 1.0,
        "{profile}"
    );
    assert_eq!(profile["speed"]["work"]["rounds"], 9);
    let shown = place.stdout("show host.json");
    assert_contains(&shown, "Speed, 1 is the fastest CPU\n");
    assert!(
        shown.contains("equally fast, within ") || shown.contains("slower than the fastest"),
        "{shown}"
    );
    let json = place.json("show host.json --json");
    assert_eq!(json["speed"]["alone"], profile["speed"]["alone"]);
    let schema: Value = serde_json::from_str(include_str!(
        "../../../../../docs/formats/seatmap-show-1.schema.json"
    ))
    .unwrap();
    assert_eq!(seatmap_data::document::schema::refused(&schema, &json), Vec::<String>::new());
    let missing =
        seatmap_data::document::schema::never_written(&schema, std::slice::from_ref(&json));
    assert!(missing.iter().all(|path| !path.starts_with("/speed")), "{missing:?}");
    assert!(json["speed"]["spread"].number() < 1.0);
}

/// Two busy tasks and six idle ones, in a chain.
fn observed(messages: f64) -> String {
    let edges: Vec<Value> = (0..7)
        .map(|from| json!({"from": from, "to": from + 1, "bytes": 64.0, "messages": messages}))
        .collect();
    let pattern = json!({
        "format": "seatmap-pattern/1", "name": "seen", "tasks": 8, "edges": edges,
        "loads": [0.9, 0, 0, 0, 0, 0, 0, 0.9], "load_ns": 1e9,
        "observation": {"methods": ["sockets"], "seconds": 1.0}
    });
    pattern.to_string()
}

#[test]
fn observed_program_is_judged_by_time_first() {
    let place = Place::new();
    place.file("seen.json", observed(1000.0));
    let on = "place --on core-i9-12900k --pattern seen.json --kicks 300";
    let table = place.stdout(on);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].starts_with("Observed 7000 messages a second for 1.0 s; one takes "));
    assert!(lines[2].starts_with("At these costs the plan saves at most 0."), "{table}");
    assert!(lines[2].contains(" Seats hardly matter. Shared memory was not observed."), "{table}");
    assert!(lines[3].starts_with("Estimated costs (time of the slowest seat; lower is better)"));
    let plan = place.json((on, "--json"));
    assert_eq!(plan["objective"], "time");
    let seats = placement(&plan);
    assert!(seats[0] != seats[7] && seats[0] < 16 && seats[7] < 16, "busy ones on fast cores");
    // There are 7,000 messages per second, none farther than the largest distance.
    let effect = |key: &str| plan["effect"][key].number();
    assert_eq!((effect("observed_s"), effect("messages")), (1.0, 7000.0));
    assert!(effect("planned_s") < effect("farthest_s"));
    assert!((effect("farthest_s") - 7000.0 * effect("farthest_ns") / 1e9).abs() < 1e-9);
}
