//! Seats that differ in speed, kind and cache.

use crate::common::{Json, Place, assert_contains, two_cpus};
use serde_json::{Value, json};

const HYBRID: &str = "place --on core-i9-12900k --pattern stencil2d:3x4 --kicks 900";
const LOADS: &str = "1,1,1,1,4,4,4,4,4,4,4,4";
const TIMED: &str = "--objective time --load 1,1,1,1,4,4,4,4,4,4,4,4 --load-ns 1000";

fn placement(plan: &Value) -> Vec<u64> {
    plan["placement"].elements().iter().map(|os| os.whole()).collect()
}

#[test]
fn heavy_tasks_get_performance_cores() {
    let place = Place::new();
    let plan = place.json((HYBRID, TIMED, "--json"));
    assert_eq!(plan["objective"], "time");
    let seats = placement(&plan);
    assert!(seats[4..].iter().all(|os| *os < 16), "heavy tasks on performance cores: {plan}");
    assert!(plan["lower_bound"].as_f64() <= plan["cost"].as_f64(), "{plan}");
    for baseline in ["os", "compact", "scatter"] {
        assert!(plan["baselines"][baseline].as_f64() > plan["cost"].as_f64(), "{plan}");
    }
    let table = place.stdout((HYBRID, TIMED, "-o plan.json"));
    assert!(
        table.contains("(cost: time of the slowest seat; lower is better)")
            && table.contains("The slowest seat is CPU "),
        "{table}"
    );
    assert_contains(&table, ", performance core (speed 1.000): task ");
    assert_eq!(
        placement(&serde_json::from_str(&place.read("plan.json")).unwrap()),
        seats,
        "the same kicks"
    );
}

#[test]
fn loads_come_from_list_file_or_pattern() {
    let place = Place::new();
    place.file("loads.txt", LOADS.replace(',', " # each\n"));
    let seats = |more: &str| placement(&place.json((HYBRID, more, "--json")));
    let listed = seats(TIMED);
    let filed = "--objective time --load loads.txt --load-ns 1000";
    assert_eq!(seats(filed), listed);
    place.stdout(["pattern", "convert", "stencil2d:3x4", "--load", LOADS, "-o", "pattern.json"]);
    let pattern = place.read_json("pattern.json");
    assert_eq!(pattern["loads"][4], 4.0);
    let named = "place --on core-i9-12900k --pattern pattern.json --kicks 900 --json";
    let timed = "--objective time --load-ns 1000";
    assert_eq!(placement(&place.json((named, timed))), listed);
    assert!(place.stdout("pattern show pattern.json").contains("Loads are 1 to 4.\n"));
}

#[test]
fn kind_and_equal_kind_options_are_followed() {
    let place = Place::new();
    let seats = |more: &str| placement(&place.json(("place --on", more, "--kicks 100 --json")));
    let hybrid = "core-i9-12900k --pattern ring:6";
    for objective in ["distance", "congestion"] {
        let efficient = format!("{hybrid} --objective {objective} --kind efficiency");
        assert!(seats(&efficient).iter().all(|os| *os >= 16), "{objective}");
    }
    let equal = format!("{hybrid} --equal-kind");
    assert!(seats(&equal).iter().all(|os| *os < 16));
    let die = "ryzen-7950x3d --pattern ring:6 --equal-kind";
    assert!(seats(die).iter().all(|os| (8..16).contains(os)), "the die that clocks higher");
    let timed = format!("{equal} --objective time --load-ns 100");
    let cores: std::collections::HashSet<u64> = seats(&timed).iter().map(|os| os / 2).collect();
    assert_eq!(cores.len(), 6, "a core each");
    let unknown = "place --on graviton3 --pattern ring:6 --equal-kind";
    let sentence = "the kind and speed of 64 CPUs are unknown";
    assert!(place.stdout(unknown).contains(sentence));
    assert!(!place.stdout(("place --on", die)).contains("may be unequal"));
}

#[test]
fn refusals_name_the_remedy() {
    let place = Place::new();
    let unless = "has no effect without --objective time";
    for (more, remedy) in [
        ("--objective time", "--load-ns 5000"),
        ("--objective time --load-ns 1 --load 1,2", "2 loads for 12 tasks; give one for each"),
        ("--objective time --load-ns 1 --load x", "'x' is not a load"),
        ("--objective time --load-ns 1 --weight bytes", "leave --weight bytes out"),
        ("--objective time --load-ns 1 --method partition", "--method auto"),
        ("--load-ns 1 --method partition", &format!("--load-ns {unless}")),
        ("--load-ns 1 --objective distance", &format!("--load-ns {unless}")),
        (&format!("--load {LOADS}"), &format!("--load {unless} or --prefer big-cache")),
        (
            "--equal-kind --fix 0=20",
            "task 0 is fixed on CPU 20, which is not one of the equal CPUs",
        ),
    ] {
        place.refuses((HYBRID, more), remedy);
    }
    place.refuses(
        "place --on scc-48 --pattern ring:4 --kicks 9 --prefer big-cache",
        "leave --prefer big-cache out",
    );
    place.refuses("measure --on graviton3 --cpus 0-3 --speed", "--speed measures this host");
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

#[test]
fn idle_program_gets_no_plan() {
    let place = Place::new();
    place.file("seen.json", observed(0.0).replace("0.9", "0"));
    let on = "place --on graviton3 --pattern seen.json -o plan.json";
    let said = place.stderr(on, 1);
    assert!(said.starts_with("seatmap: nothing to place: "), "{said}");
    assert!(!place.path("plan.json").exists());
}
