//! Compares the JSON Schemas in `docs/formats/` with written documents, key by key in both
//! directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use crate::machine::full_pu::full_pu;
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

/// A complete profile. No `..Default`: a new field must be added here, and so to the schema.
fn full_profile() -> Profile {
    let origin = Origin {
        kind: OriginKind::Measured,
        source: "host".into(),
        date: Some("2026-01-31".into()),
        tool: Some("seatmap".into()),
    };
    Profile {
        format: profile::FORMAT.into(),
        name: "full".into(),
        origin,
        environment: full_environment(),
        clock: Clock {
            step_ns: Some(10.0),
            source: Some("tsc".into()),
            frequency_hz: Some(2.5e9),
            quantised: false,
        },
        topology: Topology {
            pus: vec![full_pu(0, CoreKind::Performance), full_pu(4, CoreKind::Efficiency)],
        },
        core_distance: Some(full_core_distance()),
        home_model: Some(full_home_model()),
        loaded: vec![LoadedPoint {
            pairs: 1,
            median_ns: 90.0,
            p10_ns: 80.0,
            p90_ns: 120.5,
            draws: 4,
            samples: 128,
        }],
        loaded_seed: Some(1),
        speed: Some(full_speed()),
        wakeups: Some(full_wakeups()),
    }
}

fn full_environment() -> Environment {
    let text = |text: &str| Some(text.to_owned());
    Environment {
        hypervisor: text("kvm"),
        steal_percent: Some(0.5),
        kernel: text("6.12.0"),
        cpu_model: text("a processor"),
        microcode: text("0x1"),
        governor: text("performance"),
        turbo: Some(true),
        smt: text("on"),
        thp: text("madvise"),
        bios: text("vendor 1.0 2026-01-01"),
        load_average: Some(0.25),
        mitigations: [("meltdown".to_owned(), "Not affected".to_owned())].into(),
        cpuset: text("0,4"),
        offline: text("1-3"),
        quota: text("none"),
    }
}

fn full_wakeups() -> Wakeups {
    let pair = WakeupPair {
        pus: [0, 4],
        median_ns: 9000.0,
        p10_ns: 8000.0,
        mad_ns: 100.0,
        ci95_low_ns: 8900.0,
        ci95_high_ns: 9100.5,
        batches: 72,
    };
    Wakeups { passes: 9, round_trips: 40, pairs: vec![pair] }
}

fn full_speed() -> SeatSpeed {
    let work = WorkTimes {
        rounds: 9,
        alone_p10_ns: vec![1e6, 2e6],
        alone_median_ns: vec![1.1e6, 2.2e6],
        together_p10_ns: vec![1.2e6, 2.0e6],
        together_median_ns: vec![1.3e6, 2.2e6],
    };
    SeatSpeed::of(vec![0, 4], work)
}

fn full_core_distance() -> CoreDistance {
    let matrix = |ns: f64| Matrix::from_fn(2, |i, j| if i == j { f64::NAN } else { ns });
    let regimes =
        vec![Regime { median_ns: 80.0, share: 0.75 }, Regime { median_ns: 297.0, share: 0.25 }];
    let protocol = Protocol {
        passes: 3,
        batches: 32,
        round_trips: 100,
        further_passes: 20,
        resolution_ns: 0.1,
        discarded_gap: 1,
        discarded_switched: 2,
        discarded_moved: 3,
        kept: 90,
        seconds: 0.5,
        parallel: true,
    };
    CoreDistance {
        pus: vec![0, 4],
        median_ns: matrix(80.0),
        p10_ns: Some(matrix(79.0)),
        mad_ns: Some(matrix(0.5)),
        ci95_low_ns: Some(matrix(79.5)),
        ci95_high_ns: Some(matrix(80.5)),
        deciles_ns: Some(vec![Some([
            78.0, 79.0, 79.5, 80.0, 80.0, 80.0, 80.0, 80.5, 81.0, 82.0, 90.0,
        ])]),
        status: Square::from_fn(2, |i, j| (i != j).then_some(PairStatus::MultiRegime)),
        regimes: vec![PairRegimes { pus: [0, 4], regimes }],
        protocol: Some(protocol),
    }
}

fn full_home_model() -> HomeModel {
    let rate = Rate { right: 1, of: 1 };
    let lines = HomeLines {
        home_of_line: vec![0, 1, 0],
        nearest_pu: vec![0, 4],
        confidence: 0.99,
        resolvable: true,
        samples: 96,
        checked: Some(HomesChecked { found: rate, said: rate, nearest: Rate { right: 3, of: 3 } }),
    };
    HomeModel {
        groups: vec![vec![0, 4]],
        between_ns: Matrix::filled(1, 80.0),
        inside_ns: Some(vec![vec![79.0, 81.0]]),
        offset_ns: vec![vec![-0.5, 0.5], vec![0.5, -0.5]],
        r2: 0.99,
        residual_ns: 0.3,
        pair_view_empty: true,
        star_r2: Some(0.97),
        smt_ns: Some(16.0),
        lines: Some(lines),
    }
}

fn descriptions() -> impl Iterator<Item = Description> {
    catalog::names().filter_map(|name| Description::from_toml(catalog::find(name)?).ok())
}

#[test]
fn profile_keys_match_the_schema() {
    let schema = profile_schema();
    let profile = serde_json::to_value(full_profile()).unwrap();
    full_profile().check().unwrap();
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
    let profile = |change: &dyn Fn(&mut Value)| {
        let mut profile = serde_json::to_value(full_profile()).unwrap();
        change(&mut profile);
        jsonschema::is_valid(&profile_schema(), &profile)
    };
    assert!(profile(&|it| it["colour"] = json!("red")), "unknown keys are ignored in profiles");
    assert!(!profile(&|it| it["format"] = json!("seatmap-profile/2")));
    assert!(!profile(&|it| it["core_distance"]["median_ns"][0][1] = json!(-1.0)));
    assert!(!profile(&|it| it["core_distance"]["status"][0][1] = json!("fine")));

    let machine = |change: &dyn Fn(&mut Value)| {
        let mut machine = serde_json::to_value(descriptions().next().unwrap()).unwrap();
        change(&mut machine);
        jsonschema::is_valid(&machine_schema(), &machine)
    };
    for part in ["", "/topology", "/distance", "/distance/smt"] {
        let is_valid = machine(&|it| it.pointer_mut(part).unwrap()["colour"] = json!("red"));
        assert!(!is_valid, "a file that is typed may have no unknown keys");
    }
    assert!(!machine(&|it| it["distance"]["smt"]["round_trip_cycles"] = json!(20)));
    assert!(!machine(&|it| it["topology"]["packages"] = json!(0)));
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
