//! `seatmap-papers place` and `measure`.

use crate::common::{Json, Place, assert_contains};

const RING: &str = "place --on cell-ps3 --pattern ring:4 --packet=16k";

#[test]
fn place_time_matches_best_ranked_mapping() {
    let place = Place::new();
    let plan = place.json((RING, "--kicks 1000 --json"));
    assert_eq!((&plan["objective"], &plan["optimal"]), (&"simulated".into(), &true.into()));
    assert_eq!(plan["method"], "all 360 placements run");
    let rank = "rank --on cell-ps3 --pattern ring:4 --long --packet 16k";
    let once = "--rounds 4 --variant pinned --runs 1 --json";
    let ranking = place.json((rank, once));
    assert!(ranking["best_mean_ns"].number() >= 0.999 * plan["cost"].number(), "{ranking}");
}

#[test]
fn changed_figure_changes_the_cost() {
    let place = Place::new();
    let cost = |more: &str| place.json((RING, "--kicks 10 --json", more))["cost"].number();
    assert!(cost("--set beats=16") > 1.5 * cost(""));
    assert_contains(&place.refusal((RING, "--set nothing=1")), "unknown figure 'nothing'");
}

#[test]
fn picture_shows_simulated_link_traffic() {
    let place = Place::new();
    let on = "place --on cell-qs20 --pattern pairs:6 --kicks 10";
    let picture = place.stdout((on, "--svg -"));
    assert!(
        picture.contains(">busy cycles on a link, clockwise outside</text>")
            && picture.contains(">time, ns</text>"),
        "{picture}"
    );
}

#[test]
fn impossible_placements_are_refused() {
    let place = Place::new();
    let refused = |on: &str, more: &str, why: &str| {
        let words = ["place", "--on", on, "--pattern"].into_iter().chain(more.split(' '));
        let said = place.refusal(words.collect::<Vec<_>>());
        assert_contains(&said, why);
    };
    refused("cell-ps3", "ring:32", "2 to 31 tasks");
    refused("cell-ps3", "ring:4 --packet 20", "20 bytes");
    refused("cell-ps3", "ring:7", "7 tasks on 6 PUs");
    refused("cell-ps4", "ring:4", "the models of the Cell are cell-ps3, cell-qs20, cell-qs22");
    refused("scc-48", "ring:4", "scc-48 is not a model of the Cell");
}

#[test]
fn measured_distances_form_a_profile() {
    let place = Place::new();
    let profile = place.json("measure --on cell-ps3");
    assert_eq!(profile["topology"]["pus"].as_array().map(Vec::len), Some(6));
    assert!(profile["core_distance"]["median_ns"][0][1].number() > 100.0);
    place.stdout("measure --on cell-ps3 -o ps3.json");
    assert!(place.read("ps3.json").contains("seatmap-profile/"));
}
