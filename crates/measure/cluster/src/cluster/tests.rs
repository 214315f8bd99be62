//! The cluster file and its JSON Schema in `docs/formats/`.

use crate::cluster::{FORMAT, HeldBack};
use crate::mpi::{CollectiveOperation, CollectiveTime, Mpi, MpiPair};
use crate::{
    Cluster, ConnectionEnd, LoadedStreams, Missing, Node, NodeConfiguration, NodePair, QuotaStop,
    Stream, StreamPattern, Trip,
};
use proptest::prelude::*;
use seatmap_data::document::schema::{add_later_keys, refused};
use seatmap_data::machine::{Origin, OriginKind, Profile, Topology};
use serde_json::{Value, json};

const NOTHING: Vec<String> = Vec::new();

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../docs/formats/seatmap-cluster-1.schema.json"))
        .unwrap()
}

/// No `..Default`: a new field must be added here and to the schema.
fn full() -> Cluster {
    let node = |rank: usize| Node {
        name: format!("n{rank}"),
        rank,
        address: "10.77.0.1".to_owned(),
        facts: NodeConfiguration::read(),
        profile: Some(profile()),
    };
    Cluster {
        format: FORMAT.to_owned(),
        date: Some("2026-11-23".to_owned()),
        launcher: Some("Slurm".to_owned()),
        nodes: vec![node(0), node(1)],
        pairs: vec![pair()],
        groups: vec![vec![0], vec![1]],
        held_back: Some(HeldBack { pairs: 3, error_percent: 1.5 }),
        mpi: Some(mpi()),
        loaded: vec![LoadedStreams {
            exchange: StreamPattern::Incast,
            streams: vec![Stream { from: 1, to: 0, rate_mbps: 93.0 }],
        }],
        missing: vec![Missing {
            nodes: vec!["n2".to_owned()],
            why: "it did not answer within 60 s".to_owned(),
        }],
    }
}

fn profile() -> Profile {
    let origin =
        Origin { kind: OriginKind::Measured, source: "test".into(), date: None, tool: None };
    Profile::new("n0", origin, Topology::unknown(0..2))
}

fn pair() -> NodePair {
    let trip = Trip {
        size_bytes: 8,
        median_ns: 110e3,
        p10_ns: 90e3,
        p90_ns: 200e3,
        ci95_ns: [105e3, 115e3],
        count: 100,
    };
    NodePair {
        nodes: [0, 1],
        trips: vec![trip],
        rate_mbps: [190.0, 191.0],
        gap_ns: [900.0, 950.0],
        retransmits: [0, 2],
        segments: [3000, 3100],
        clock_offset_ns: Some(-120.0),
        mtu_bytes: Some(1500),
        ends: Some([0.15, 0.5].map(|cpus| ConnectionEnd {
            mtu_bytes: Some(1500),
            wait_share: Some(0.1),
            stops: Some(vec![stop(cpus)]),
        })),
        beside: Some(json!({ "looks": 3 })),
    }
}

fn stop(cpus: f64) -> QuotaStop {
    QuotaStop {
        group: "/box".to_owned(),
        file: "/sys/fs/cgroup/box/cpu.max".to_owned(),
        cpus,
        period_ms: 100.0,
        is_read_only: true,
        stopped_periods: 14,
        periods: 75,
        stopped_ms: 680.0,
    }
}

#[test]
fn schema_describes_every_key() {
    let written: Value = serde_json::from_str(&full().to_json()).unwrap();
    assert_eq!(refused(&schema(), &written), NOTHING);
    assert_eq!(Cluster::from_json(&full().to_json()).unwrap(), full());
}

#[test]
fn reader_ignores_keys_of_later_programs() {
    let mut document: Value = serde_json::from_str(&full().to_json()).unwrap();
    add_later_keys(&mut document, &["mitigations", "beside"]);
    assert_eq!(Cluster::from_json(&document.to_string()).unwrap(), full());
}

#[test]
fn contradictory_figures_are_refused() {
    for (at, value, refusal) in [
        ("/nodes", json!([]), "0 nodes; 1 to 8192 are supported"),
        ("/nodes/1/name", json!("n0"), "two nodes have the name n0"),
        ("/pairs/0/nodes", json!([1, 0]), "a pair of nodes 1 and 0: the first"),
        ("/pairs/0/nodes", json!([0, 2]), "a pair of nodes 0 and 2: the first"),
        ("/pairs/0/rate_mbps/1", json!(0), "is not a positive number up to 1e15"),
        ("/pairs/0/trips", json!([]), "not in the order of their sizes"),
        ("/groups/1", json!([0]), "node 0 of a group is not among the 2"),
        ("/pairs/0/ends/1/stops/0/periods", json!(3), "impossible figures"),
        ("/mpi/pairs/0/nodes", json!([0, 2]), "in the MPI figures"),
        ("/loaded/0/streams/0/to", json!(2), "not among the 2"),
        (
            "/nodes/1/profile/topology/pus/1/os",
            json!(0),
            "the profile of node n1: topology.pus: PU 0 is listed twice",
        ),
        (
            "/nodes/0/facts/cpus",
            json!(9_000_000_000_u64),
            "node n0 has 9000000000 CPUs; at most 1048576 are supported",
        ),
        ("/loaded/0/streams/0/rate_mbps", json!(-1), "impossible rate"),
        ("/pairs/0/trips/0/median_ns", json!(1e300), "not a positive number"),
        ("/held_back/error_percent", json!(-1), "the error of the held-back pairs is -1e0 percent"),
        ("/format", json!("seatmap-cluster/2"), "this program reads seatmap-cluster/1"),
    ] {
        let mut document: Value = serde_json::from_str(&full().to_json()).unwrap();
        *document.pointer_mut(at).unwrap() = value;
        let error = Cluster::from_json(&document.to_string()).unwrap_err().to_string();
        assert!(error.contains(refusal), "{at}: {error}");
    }
}

proptest! {
    #[test]
    fn reader_survives_any_value_anywhere(at in 0..12usize, value in any::<f64>(), index in 0..5usize) {
        let mut document: Value = serde_json::from_str(&full().to_json()).unwrap();
        let place = match at {
            0 => &mut document["pairs"][0]["nodes"][index % 2],
            1 => &mut document["pairs"][0]["rate_mbps"][index % 2],
            2 => &mut document["pairs"][0]["segments"][index % 2],
            3 => &mut document["pairs"][0]["trips"][0]["median_ns"],
            4 => &mut document["pairs"][0]["trips"][0]["ci95_ns"][index % 2],
            5 => &mut document["groups"][index % 2],
            6 => &mut document["held_back"],
            7 => &mut document["nodes"][index % 2]["facts"],
            8 => &mut document["pairs"][0]["retransmits"][index % 2],
            9 => &mut document["pairs"][0]["clock_offset_ns"],
            10 => &mut document["pairs"][0]["trips"][0]["size_bytes"],
            _ => &mut document["missing"],
        };
        *place = match index {
            0 => json!(value),
            1 => json!(value.abs() as u64),
            2 => json!([]),
            3 => Value::Null,
            _ => json!({ "x": 1 }),
        };
        if let Ok(cluster) = Cluster::from_json(&document.to_string()) {
            let _ = crate::judge::faults(&cluster);
        }
    }
}

fn mpi() -> Mpi {
    let trip = Trip {
        size_bytes: 8,
        median_ns: 2e3,
        p10_ns: 1.9e3,
        p90_ns: 2.2e3,
        ci95_ns: [1.9e3, 2.1e3],
        count: 300,
    };
    let pair = MpiPair { nodes: [0, 1], trips: vec![trip], rate_mbps: [9e4, 9.1e4] };
    let barrier = CollectiveTime {
        operation: CollectiveOperation::Barrier,
        size_bytes: 0,
        median_ns: 4e3,
        p10_ns: 3e3,
        p90_ns: 6e3,
        count: 40,
    };
    Mpi { library: "Open MPI v4.1.4".to_owned(), pairs: vec![pair], collectives: vec![barrier] }
}
