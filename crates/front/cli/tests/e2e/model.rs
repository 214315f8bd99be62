//! `seatmap model fit` and the uses of its file.

use crate::common::{Json, Place};

/// One-way distances between two groups of four PUs, each with its own offset.
fn csv() -> String {
    let one_way = |i: usize, j: usize| if i / 4 == j / 4 { 25.0 } else { 80.0 } + [0.0, 1.0, 2.5, 0.5][i % 4] + [0.0, 1.0, 2.5, 0.5][j % 4];
    let row = |i: usize| {
        (0..8)
            .map(|j| if j < i { format!("{:.2}", one_way(i, j)) } else { String::new() })
            .collect::<Vec<_>>()
            .join(",")
    };
    (0..8).map(|i| row(i) + "\n").collect()
}

fn fitted() -> Place {
    let place = Place::new();
    place.file("box.csv", csv());
    place.stdout("model fit box.csv -o twin.toml");
    place
}

#[test]
fn twin_can_be_measured_and_shown() {
    let place = fitted();
    let measured = place.json("measure --on twin.toml --json");
    let ns = measured["core_distance"]["median_ns"][1][6].number();
    assert!((ns - 2.0 * (80.0 + 1.0 + 2.5)).abs() < 0.1, "{ns}");
    let shown = place.json("show twin.toml --json");
    assert_eq!((shown["origin"]["kind"].as_str(), shown["pus"].as_u64()), (Some("model"), Some(8)));
    let placed = "place --on twin.toml --pattern ring:8 --objective simulated --kicks 3 --json";
    assert_eq!(place.json(placed)["placement"].as_array().map(Vec::len), Some(8));
    assert!(place.stdout("measure --on twin.toml --loaded").contains("Under load"));
    assert!(place.stdout("export twin.toml --format csv").lines().count() >= 8);
}

#[test]
fn twin_of_twin_equals_twin() {
    let place = fitted();
    insta::assert_snapshot!(place.stdout("model fit box.csv -o twin.toml"));
    let report = place.json("model fit twin.toml -o again.toml --json");
    assert!(report["all"]["worst_ns"].number() < 0.1, "{report}");
}

#[test]
fn fit_names_missing_data() {
    let place = fitted();
    place.file("one.csv", ",\n");
    place.file(
        "bare.xml",
        "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\"/></topology>",
    );
    place.file("bad.toml", place.read("twin.toml").replace("group = 1", "group = 7"));
    let refusals = [
        place.one_line_refusal("model fit box.csv -o x.toml --homes"),
        place.one_line_refusal("model fit box.csv -o x.toml --loaded"),
        place.one_line_refusal("model fit box.csv -o nowhere/x.toml"),
        place.one_line_refusal("model fit box.csv -o - --json"),
        place.one_line_refusal("model fit one.csv -o x.toml"),
        place.one_line_refusal("measure --on twin.toml --homes 64"),
        place.one_line_refusal("measure --on bad.toml"),
        place.one_line_refusal("place --on box.csv --pattern ring:4 --objective simulated"),
    ];
    assert!(!place.path("x.toml").exists());
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn loaded_curve_is_fitted_with_its_pairs() {
    let place = fitted();
    let profile = place.json("measure --on twin.toml --loaded --seed 7 --json");
    assert_eq!(profile["loaded_seed"], 7);
    place.file("loaded.json", profile.to_string());
    let report = place.json("model fit loaded.json -o again.toml --loaded --json");
    let loaded = &report["loaded"];
    assert_eq!((&report["format"], &loaded["same_pairs"]), (&"seatmap-fit/1".into(), &true.into()));
    assert!(loaded["rmse_percent"].number() < 1.0, "{loaded}");
    let shown = place.stdout("model fit loaded.json -o again.toml");
    assert!(shown.contains("held out") && !shown.contains("drew its own"), "{shown}");
}

#[test]
fn fit_reproduces_published_machine() {
    let place = Place::new();
    let Some(csv) = seatmap_needs::published("core-to-core/xeon-8375c-2s-128.csv") else { return };
    let report = place.json(["model", "fit", csv.to_str().unwrap(), "-o", "twin.toml", "--json"]);
    assert!(report["all"]["rmse_ns"].number() <= 0.5, "{report}");
}
