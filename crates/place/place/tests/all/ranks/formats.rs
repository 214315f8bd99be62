//! Rank plans: the JSON Schema in `docs/formats/` key by key, and invalid texts.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use proptest::prelude::*;
use seatmap_data::document::schema::{add_later_keys, never_written, refused};
use seatmap_place::ranks::{RankPlan, export};
use serde_json::{Value, json};

const NOTHING: Vec<String> = Vec::new();

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../../docs/formats/seatmap-ranks-1.schema.json"))
        .unwrap()
}

/// A plan with every key: the schema's keys that it lacks are listed.
fn full() -> RankPlan {
    RankPlan::from_json(include_str!("full_ranks.json")).unwrap()
}

#[test]
fn the_schema_describes_every_key() {
    let written: Value = serde_json::from_str(&full().to_json()).unwrap();
    assert_eq!(refused(&schema(), &written), NOTHING);
    assert_eq!(never_written(&schema(), &[written]), NOTHING);
    assert_eq!(RankPlan::from_json(&full().to_json()).unwrap(), full());
}

#[test]
fn rank_plan_ignores_unknown_keys() {
    let mut document: Value = serde_json::from_str(&full().to_json()).unwrap();
    add_later_keys(&mut document, &[]);
    assert_eq!(RankPlan::from_json(&document.to_string()).unwrap(), full());
}

#[test]
fn rank_plan_rejects_contradictory_fields() {
    for (at, value, refusal) in [
        ("/node_of_rank", json!([]), "0 ranks; 1 to 1048576 are supported"),
        ("/nodes/1", json!("n0"), "two nodes have the name n0"),
        ("/nodes/1", json!("n1\nn2"), "'n1\nn2' is not a host name"),
        ("/nodes/1", json!("--x"), "'--x' is not a host name"),
        ("/node_of_rank/0", json!(2), "a rank is on node 2, but there are 2, counted from 0"),
        ("/group_of_node", json!([0]), "1 group for 2 nodes"),
        ("/cpus_of_rank/0", json!([]), "cpus_of_rank must list CPUs for exactly 3 ranks"),
        (
            "/cpus_of_rank/2/1",
            json!(u32::MAX),
            "cpus_of_rank[2]: CPU 4294967295 is beyond the largest index, 1048576",
        ),
        ("/costs/total_ns", json!(-1), "costs.total_ns is -1e0, out of range"),
        ("/orders/0/costs/in_node", json!(1.5), "orders[0].costs.in_node is 1.5e0, out of range"),
        ("/lower_bound_ns", json!(-5), "lower_bound_ns is -5e0, out of range"),
        ("/format", json!("seatmap-ranks/2"), "this program reads seatmap-ranks/1"),
    ] {
        let mut document: Value = serde_json::from_str(&full().to_json()).unwrap();
        *document.pointer_mut(at).unwrap() = value;
        let error = RankPlan::from_json(&document.to_string()).unwrap_err().to_string();
        assert!(error.contains(refusal), "{at}: {error}");
    }
}

proptest! {
    /// Any value in any place is refused, or can be written for any launcher.
    #[test]
    fn any_accepted_rank_plan_can_be_exported(at in 0..7usize, value in any::<u32>(), text in ".{0,9}", kind in 0..4usize) {
        let mut document: Value = serde_json::from_str(&full().to_json()).unwrap();
        let place = match at {
            0 => &mut document["nodes"][1],
            1 => &mut document["node_of_rank"][1],
            2 => &mut document["cpus_of_rank"][2],
            3 => &mut document["cpus_of_rank"][1][0],
            4 => &mut document["costs"]["total_ns"],
            5 => &mut document["group_of_node"][0],
            _ => &mut document["orders"],
        };
        *place = match kind {
            0 => json!(value),
            1 => json!(value % 3),
            2 => json!(text),
            _ => json!([]),
        };
        if let Ok(plan) = RankPlan::from_json(&document.to_string()) {
            let lines = export::slurm(&plan).lines().count();
            prop_assert_eq!(lines, plan.node_of_rank.len());
            let _ = (export::openmpi(&plan), export::mpich(&plan), export::rankfile(&plan));
            let _ = (export::torchrun::write(&plan), export::groups::write(&plan));
        }
    }
}
