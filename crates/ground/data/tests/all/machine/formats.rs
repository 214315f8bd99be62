//! Compares the JSON Schemas in `docs/formats/` with written documents, key by key in both
//! directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::document::schema::{never_written, refused};
use seatmap_data::machine::*;
use serde_json::{Value, json};

const README: &str = include_str!("../../../../../../docs/formats/README.md");

fn profile_schema() -> Value {
    serde_json::from_str(include_str!(
        "../../../../../../docs/formats/seatmap-profile-1.schema.json"
    ))
    .unwrap()
}

fn machine_schema() -> Value {
    serde_json::from_str(include_str!(
        "../../../../../../docs/formats/seatmap-machine-1.schema.json"
    ))
    .unwrap()
}

fn assert_valid(schema: &Value, instance: &Value, what: &str) {
    assert_eq!(refused(schema, instance), Vec::<String>::new(), "{what}");
}

/// A profile with every key: the schema's keys that it lacks are listed.
fn full_profile() -> Value {
    serde_json::from_str(include_str!("full_profile.json")).unwrap()
}

fn descriptions() -> impl Iterator<Item = Description> {
    catalog::names().filter_map(|name| Description::from_toml(catalog::find(name)?).ok())
}

#[test]
fn profile_keys_match_the_schema() {
    let schema = profile_schema();
    let read = Profile::from_json(&full_profile().to_string()).unwrap();
    let profile = serde_json::to_value(read).unwrap();
    assert_eq!(profile, full_profile());
    assert_valid(&schema, &profile, "the full profile");
    assert_eq!(never_written(&schema, &[profile]), Vec::<String>::new());
}

#[test]
fn bundled_and_sparse_profiles_match_the_schema() {
    let schema = profile_schema();
    for description in descriptions() {
        let profile = serde_json::to_value(description.to_profile()).unwrap();
        assert_valid(&schema, &profile, &description.name);
    }
    let origin = Origin { kind: OriginKind::Imported, source: "x".into(), date: None, tool: None };
    let sparse = Profile::new("sparse", origin, Topology::unknown([3]));
    assert_valid(&schema, &serde_json::to_value(sparse).unwrap(), "a sparse profile");
}

#[test]
fn machine_keys_match_the_schema() {
    let schema = machine_schema();
    let written: Vec<Value> = descriptions().map(|it| serde_json::to_value(it).unwrap()).collect();
    for machine in &written {
        assert_valid(&schema, machine, &machine["name"].to_string());
    }
    let of_the_machine =
        |path: &String| !path.starts_with("/distance/") && !path.contains("/far_offset/");
    let missing: Vec<String> =
        never_written(&schema, &written).into_iter().filter(of_the_machine).collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn schemas_and_readers_refuse_the_same() {
    let profile = (profile_schema(), full_profile());
    let machine = serde_json::to_value(descriptions().next().unwrap()).unwrap();
    let machine = (machine_schema(), machine);
    for ((schema, document), at, value, is_valid) in [
        // Unknown keys are ignored in profiles; a file that is typed may have none.
        (&profile, "/colour", json!("red"), true),
        (&profile, "/format", json!("seatmap-profile/2"), false),
        (&profile, "/core_distance/median_ns/0/1", json!(-1.0), false),
        (&profile, "/core_distance/status/0/1", json!("fine"), false),
        (&machine, "/colour", json!("red"), false),
        (&machine, "/topology/colour", json!("red"), false),
        (&machine, "/distance/colour", json!("red"), false),
        (&machine, "/distance/smt/colour", json!("red"), false),
        (&machine, "/distance/smt/round_trip_cycles", json!(20), false),
        (&machine, "/topology/packages", json!(0), false),
    ] {
        let mut changed = document.clone();
        if let Some(place) = changed.pointer_mut(at) {
            *place = value;
        } else {
            let (parent, key) = at.rsplit_once('/').unwrap();
            changed.pointer_mut(parent).unwrap()[key] = value;
        }
        assert_eq!(jsonschema::is_valid(schema, &changed), is_valid, "{at}");
    }
}

#[test]
fn readme_examples_are_read() {
    let example = |language: &str| {
        README.split_once(&format!("```{language}\n")).unwrap().1.split_once("```").unwrap().0
    };
    assert_eq!(Profile::from_json(example("json")).unwrap().name, "pair");
    let machine = Description::from_toml(example("toml")).unwrap();
    assert_eq!(machine.to_profile().topology.pus.len(), 16);
    assert_valid(
        &machine_schema(),
        &serde_json::to_value(machine).unwrap(),
        "the machine in the README",
    );
}
