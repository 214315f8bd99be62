//! A machine of sixteen PUs in two groups, with three homes and a hostile name; a plan on a ring of
//! 240.

use seatmap_data::machine::Profile;
use seatmap_data::plan::{Baselines, Channel, Plan, Random};
use seatmap_report::floor::{DrawnPlacement, FloorPlan, SeatingComparison};

/// Even and odd PUs form groups, so the two orders differ.
pub fn profile() -> Profile {
    Profile::from_json(include_str!("profile.json")).expect("a profile")
}

/// The profile's page.
pub fn page() -> String {
    seatmap_report::html::page(&profile(), None, &[], &[])
}

/// The page of a plan on the 5110P: four tasks around a ring, two lines at a home on the other
/// side.
pub fn placement() -> String {
    let Some(Ok(model)) = seatmap_sim::catalog::load("xeon-phi-5110p") else {
        return String::new();
    };
    let Ok(pattern) = seatmap_data::pattern::generate("ring:4") else { return String::new() };
    let mut profile = profile();
    profile.topology = model.topology.clone();
    let channel = |from, to| Channel { from, to, home: 40, line: None, distance_ns: 1.0 };
    let plan = Plan {
        cost: Some(750.0),
        baselines: Some(Baselines {
            os: 1000.0,
            compact: 1000.0,
            scatter: 2000.0,
            random: Random { mean: 1500.0, best: 900.0 },
        }),
        channels: vec![channel(0, 1), channel(1, 2)],
        ..Plan::new("xeon-phi-5110p", vec![1, 5, 9, 13])
    };
    let seatings = [
        DrawnPlacement::in_order(&profile, &pattern, &plan, vec![0, 60, 120, 180]),
        DrawnPlacement::planned(&pattern, &plan),
    ];
    let comparison =
        SeatingComparison::new(FloorPlan::of(&profile, Some(&model)), &pattern, &plan, seatings);
    seatmap_report::placement::page(&profile, &pattern, &plan, &comparison).html()
}

/// The page of the cluster in the guide.
pub fn cluster() -> String {
    let text = include_str!("../../../../../examples/cluster.json");
    let cluster = seatmap_cluster::Cluster::from_json(text).expect("a cluster");
    seatmap_report::cluster::page(&cluster).html()
}
