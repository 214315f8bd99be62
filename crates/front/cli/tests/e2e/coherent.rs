//! Coherent models: measured, placed on and characterised like any machine.

use crate::common::{Place, assert_contains};

#[test]
fn ring_model_is_measured_with_host_protocol() {
    let place = Place::new();
    let profile = place.json("measure --on xeon-phi-5110p --homes 64 --cpus 0-59 --json");
    assert_eq!(profile["origin"]["kind"], "model");
    let lines = &profile["home_model"]["lines"];
    assert_eq!(
        (lines["resolvable"].as_bool(), lines["home_of_line"].as_array().map(Vec::len)),
        (Some(true), Some(64))
    );
    let shown = place.stdout("measure --on xeon-phi-5110p --cpus 1,5,9,13 --loaded");
    assert_contains(&shown, "Under load");
}

#[test]
fn pizza_slices_keep_clusters_and_lines_together() {
    let place = Place::new();
    let arguments = "place --on xeon-phi-5110p --pattern clusters:4x9 --method pizza";
    let plan = place.json((arguments, "--sections 4 --kicks 10 --json"));
    // Slices begin with the core of PU 0, which is the last one.
    let seats: Vec<u64> = plan["placement"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pu| (pu.as_u64().unwrap_or_default() + 3) % 240 / 60)
        .collect();
    assert_eq!(seats.len(), 36);
    assert!(
        seats.chunks(9).all(|cluster| cluster.iter().all(|seat| *seat == cluster[0])),
        "{seats:?}"
    );
    assert_eq!(
        plan["channels"].as_array().map(Vec::len),
        Some(144),
        "each pair of a cluster sits on two cores"
    );
}

#[test]
fn model_file_error_names_line_and_column() {
    let place = Place::new();
    let text =
        include_str!("../../../../../machines/scc-48.toml").replace("columns = 6", "colums = 6");
    place.file("x.toml", &text);
    place.refuses("measure --on x.toml", "x.toml:16:1: unknown field `colums`");
}
