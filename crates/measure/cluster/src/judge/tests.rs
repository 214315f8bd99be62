//! Faults in synthetic two-level trees with the noise of a shared computer.

pub mod cluster_model;

use super::*;
use crate::choice::{PairValues, choose};
use crate::cluster::{Missing, NodePair, Trip};
use cluster_model::cluster_of;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
enum Put {
    Nothing,
    /// A node's link is slower by this factor, both ways.
    Link(usize, f64),
    Upload(usize, f64),
    Way(usize, usize, f64),
    /// This share of a node's packets is lost.
    Loss(usize, f64),
    Node(usize, f64),
    Jitter(usize),
    /// Packets from a node, and to it, are late by this many nanoseconds.
    Late(usize, [f64; 2]),
    /// Packets between two nodes are late, in each direction.
    LateWay(usize, usize, [f64; 2]),
    /// The first switch's uplink is slower, in each direction.
    Uplink([f64; 2]),
}

fn cluster(nodes: usize, on_a_switch: usize, put: Put, all: bool, seed: u64) -> Cluster {
    let names: Vec<String> = (0..nodes).map(|node| format!("n{node}")).collect();
    let mut measured = BTreeMap::new();
    let mut known = PairValues::new();
    let chosen = choose(&names, all, &mut known, &mut |pairs| {
        pairs
            .iter()
            .map(|pair| {
                let made = made(*pair, on_a_switch, put, seed);
                let value = made.trip(crate::choice::SIZE_BYTES).map(|trip| trip.median_ns);
                measured.insert(*pair, made);
                value
            })
            .collect()
    });
    cluster_of(names, measured.into_values().collect(), chosen)
}

const BETWEEN_MBPS: f64 = 190.0;

fn made([a, b]: [usize; 2], on_a_switch: usize, put: Put, seed: u64) -> NodePair {
    let mut rng = fastrand::Rng::with_seed(seed.wrapping_mul(7919) ^ (a * 1009 + b) as u64);
    let mut noise = |share: f64| 1.0 + share * (2.0 * rng.f64() - 1.0);
    let is_near = a / on_a_switch == b / on_a_switch;
    let rate = |from: usize, to: usize| {
        let rate = if is_near { 5000.0 } else { BETWEEN_MBPS };
        match put {
            Put::Link(node, factor) if from == node || to == node => {
                f64::min(rate, 5000.0 / factor)
            }
            Put::Upload(node, factor) if from == node => f64::min(rate, 5000.0 / factor),
            Put::Node(node, factor) if from == node || to == node => rate / factor,
            Put::Way(x, y, factor) if (from, to) == (x, y) => rate / factor,
            Put::Uplink([out, _]) if !is_near && from < on_a_switch => rate / out,
            Put::Uplink([_, into]) if !is_near && to < on_a_switch => rate / into,
            _ => rate,
        }
    };
    let delay_ns = |from: usize, to: usize| match put {
        Put::Late(node, [out, _]) if from == node => out,
        Put::Late(node, [_, into]) if to == node => into,
        Put::LateWay(x, y, [there, _]) if (from, to) == (x, y) => there,
        Put::LateWay(x, y, [_, back]) if (to, from) == (x, y) => back,
        _ => 0.0,
    };
    let [there_ns, back_ns] = [delay_ns(a, b), delay_ns(b, a)];
    let rate_mbps = [(a, b), (b, a)].map(|(from, to)| rate(from, to) * noise(0.1));
    let late = match put {
        Put::Node(node, factor) if a == node || b == node => factor,
        _ => 1.0,
    };
    let wide = if matches!(put, Put::Jitter(node) if a == node || b == node) { 12.0 } else { 1.0 };
    let trip = |size_bytes: u32, ns: f64, noise: f64, wide: f64| Trip {
        size_bytes,
        median_ns: ns * noise,
        p10_ns: ns * noise * 0.8,
        p90_ns: ns * noise * (1.0 + 0.4 * wide),
        ci95_ns: [ns * noise * 0.95, ns * noise * 1.05],
        count: 200,
    };
    let bytes_ns = |size: u32| 8e3 * f64::from(size) * (1.0 / rate_mbps[0] + 1.0 / rate_mbps[1]);
    let base = 110e3 * late + there_ns + back_ns;
    let segments = [3000; 2];
    let lost = |from: usize| match put {
        Put::Loss(node, share) if from == node => (share * 3000.0) as u64,
        _ => 0,
    };
    let retransmits = [a, b].map(|from| lost(from) + if noise(1.0) < 0.5 { 2 } else { 0 });
    let trips = vec![
        trip(8, base, noise(0.15), wide),
        trip(crate::choice::SIZE_BYTES, base + bytes_ns(64 << 10), noise(0.1), 1.0),
    ];
    NodePair {
        nodes: [a, b],
        trips,
        rate_mbps,
        gap_ns: [900.0; 2],
        retransmits,
        segments,
        clock_offset_ns: Some(1e4 + (there_ns - back_ns) / 2.0),
        mtu_bytes: Some(1500),
        ends: None,
        beside: None,
    }
}

fn only(cluster: &Cluster) -> ClusterFault {
    let mut found = faults(cluster);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

fn named(cluster: &Cluster) -> (Vec<Vec<String>>, String) {
    let found = faults(cluster);
    let sentences = found.iter().map(|fault| format!("{}\n", fault.sentence)).collect();
    (found.into_iter().map(|fault| fault.nodes).collect(), sentences)
}

#[test]
fn fifty_faults_are_named_and_healthy_clusters_have_none() {
    let mut missed = Vec::new();
    for seed in 0..50 {
        let node = seed as usize % 16;
        let put = match seed % 5 {
            0 => Put::Link(node, 3.0),
            1 => Put::Upload(node, 3.0),
            2 => Put::Way(node, (node + 1 + seed as usize % 7) % 16, 3.0),
            3 => Put::Loss(node, 0.01),
            _ => Put::Node(node, 3.0),
        };
        let (nodes, sentences) = named(&cluster(16, 4, put, true, seed));
        let right = match put {
            Put::Way(from, to, _) => vec![format!("n{from}"), format!("n{to}")],
            _ => vec![format!("n{node}")],
        };
        if nodes.first() != Some(&right) || nodes.iter().any(|nodes| *nodes != right) {
            missed.push(format!("{put:?}: {sentences}"));
        }
    }
    assert!(missed.is_empty(), "{} of 50: {missed:#?}", missed.len());
    for seed in 100..120 {
        let found = faults(&cluster(16, 4, Put::Nothing, true, seed));
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn much_slower_link_is_one_fault() {
    for seed in 0..10 {
        let node = seed as usize % 8;
        let (nodes, sentences) = named(&cluster(8, 4, Put::Link(node, 80.0), true, seed));
        assert_eq!(nodes, [vec![format!("n{node}")]], "{sentences}");
    }
}

#[test]
fn few_pairs_name_a_bad_link_among_64_nodes() {
    for seed in 0..10 {
        let node = (seed as usize * 13 + 5) % 64;
        let (nodes, sentences) = named(&cluster(64, 8, Put::Link(node, 3.0), false, seed));
        assert_eq!(nodes, [vec![format!("n{node}")]], "{sentences}");
        assert!(faults(&cluster(64, 8, Put::Nothing, false, seed)).is_empty());
    }
}

#[test]
fn one_way_slowness_and_jitter_are_distinguished() {
    let upload = faults(&cluster(8, 4, Put::Upload(2, 3.0), true, 1));
    assert!(
        upload[0].one_way
            && upload[0].sentence.starts_with("n2: its link is slow: streams from it have 1/"),
        "{upload:#?}"
    );
    let jitter = only(&cluster(8, 4, Put::Jitter(5), true, 1));
    assert_eq!(jitter.kind, ClusterFaultKind::Jittery);
    assert!(jitter.sentence.starts_with("n5: its link has jitter: small messages scatter by "));
}

#[test]
fn wide_scatter_is_jitter_and_shift_is_slowness() {
    let mut cluster = cluster(8, 4, Put::Nothing, true, 1);
    for ([p10_ns, median_ns, p90_ns], kind) in [
        ([217_000.0, 460_000.0, 708_000.0], ClusterFaultKind::Jittery),
        ([440_000.0, 450_000.0, 470_000.0], ClusterFaultKind::Slow),
        ([500_000.0, 560_000.0, 900_000.0], ClusterFaultKind::Slow),
    ] {
        for pair in cluster.pairs.iter_mut().filter(|pair| pair.nodes.contains(&5)) {
            (pair.trips[0].p10_ns, pair.trips[0].median_ns, pair.trips[0].p90_ns) =
                (p10_ns, median_ns, p90_ns);
        }
        let found = only(&cluster);
        assert_eq!((found.kind, &found.nodes[..]), (kind, &["n5".to_owned()][..]));
    }
}

#[test]
fn lossy_link_is_not_the_norm_for_others() {
    let mut cluster = cluster(8, 4, Put::Loss(0, 0.02), true, 1);
    for pair in cluster.pairs.iter_mut().filter(|pair| pair.nodes[0] == 0) {
        let trip = &mut pair.trips[0];
        (trip.p10_ns, trip.p90_ns, trip.count) = (trip.median_ns * 0.99, trip.median_ns * 1.01, 48);
    }
    for pair in cluster.pairs.iter_mut().filter(|pair| pair.nodes[0] != 0) {
        pair.trips[0].p90_ns = pair.trips[0].median_ns * 3.5;
    }
    let (nodes, sentences) = named(&cluster);
    assert_eq!(nodes, [["n0"]], "{sentences}");
}

#[test]
fn differing_facts_clocks_and_packet_sizes_are_reported() {
    let mut cluster = cluster(8, 4, Put::Nothing, true, 3);
    cluster.nodes[6].facts.cpus = 7;
    for pair in &mut cluster.pairs {
        if pair.nodes.contains(&1) {
            pair.mtu_bytes = Some(9000);
        }
        match pair.nodes {
            [4, _] => pair.clock_offset_ns = Some(-3e9),
            [_, 4] => pair.clock_offset_ns = Some(3e9),
            _ => {}
        }
    }
    cluster.missing.push(Missing {
        nodes: vec!["n9".to_owned()],
        why: "it did not answer within 60 s".to_owned(),
    });
    let sentences: Vec<String> = faults(&cluster).into_iter().map(|fault| fault.sentence).collect();
    assert_eq!(
        sentences,
        [
            "n9 could not be measured: it did not answer within 60 s",
            "n1: packets of 9000 bytes, but 1500 bytes on 7 of 8 nodes",
            "n4: its clock is 3.000 s ahead of those of the others",
            "n6: CPUs 7, but 8 on 7 of 8 nodes",
        ]
    );
}

/// `port` is the link's rate, from the node and to it.
fn ported(node: usize, port: [f64; 2]) -> Cluster {
    let base = cluster(8, 4, Put::Nothing, true, 3);
    let end = |at: usize, way: usize| if at == node { port[way] } else { 1000.0 };
    let rate = |from: usize, to: usize| {
        let between = if from / 4 == to / 4 { f64::INFINITY } else { 400.0 };
        end(from, 0).min(end(to, 1)).min(between)
    };
    let mut measured: BTreeMap<[usize; 2], NodePair> =
        base.pairs.iter().map(|pair| (pair.nodes, pair.clone())).collect();
    for pair in measured.values_mut() {
        let [a, b] = pair.nodes;
        pair.rate_mbps = [rate(a, b), rate(b, a)];
        for trip in &mut pair.trips {
            let ns = 1e5 + f64::from(trip.size_bytes) * 8e3 * (1.0 / rate(a, b) + 1.0 / rate(b, a));
            (trip.median_ns, trip.p10_ns, trip.p90_ns, trip.ci95_ns) =
                (ns, 0.9 * ns, 1.2 * ns, [ns, ns]);
        }
        (pair.retransmits, pair.segments) = ([0, 0], [1000, 1000]);
    }
    let names: Vec<String> = base.nodes.iter().map(|node| node.name.clone()).collect();
    let trip = |pair: &NodePair| pair.trip(crate::choice::SIZE_BYTES).map(|trip| trip.median_ns);
    let chosen = choose(&names, true, &mut PairValues::new(), &mut |pairs| {
        pairs.iter().map(|pair| trip(&measured[pair])).collect()
    });
    Cluster { pairs: measured.into_values().collect(), groups: chosen.groups, ..base }
}

#[test]
fn port_as_slow_as_the_uplink_is_named() {
    assert_eq!(faults(&ported(0, [1000.0, 1000.0])), []);
    for node in 0..8 {
        for (port, words, one_way) in [
            ([333.0, 333.0], "both ways", false),
            ([333.0, 1000.0], "from it", true),
            ([1000.0, 333.0], "to it", true),
            ([100.0, 100.0], "both ways", false),
        ] {
            let found = only(&ported(node, port));
            assert_eq!(
                (&found.nodes[..], found.one_way),
                (&[format!("n{node}")][..], one_way),
                "{port:?}: {found:?}"
            );
            assert!(found.sentence.contains(words), "n{node} {port:?}: {found:?}");
        }
    }
}

#[test]
fn late_nodes_and_pairs_are_reported() {
    for seed in 0..10 {
        let node = seed as usize % 8;
        let late = 4e5;
        for delays in [[late, late], [late, 0.0], [0.0, late]] {
            let found = only(&cluster(8, 4, Put::Late(node, delays), true, seed));
            let words = format!("n{node}: its link delays small messages: they take ");
            assert!(found.sentence.starts_with(&words), "{delays:?}: {found:?}");
            let other = (node + 5) % 8;
            let low = node.min(other);
            let high = node.max(other);
            let found = only(&cluster(8, 4, Put::LateWay(low, high, delays), true, seed));
            let words = format!("n{low} and n{high}: this way delays small messages: they take ");
            assert!(found.sentence.starts_with(&words), "{delays:?}: {found:?}");
        }
    }
}

#[test]
fn slow_uplink_is_attributed_to_its_switch() {
    for seed in 0..10 {
        for (factors, words, one_way) in [
            ([3.0, 3.0], "streams both ways", false),
            ([3.0, 1.0], "streams from them", true),
            ([1.0, 3.0], "streams to them", true),
        ] {
            let found = only(&cluster(16, 4, Put::Uplink(factors), true, seed));
            let begin = "n[0-3]: the path between their switch and the others is slow";
            assert!(found.sentence.starts_with(begin), "{found:#?}");
            assert!(found.sentence.contains(words) && found.one_way == one_way, "{found:#?}");
        }
    }
}

#[test]
fn clock_offset_below_a_round_trip_is_no_fault() {
    let found = only(&cluster(8, 4, Put::Late(3, [200e6, 0.0]), true, 1));
    assert_ne!(found.kind, ClusterFaultKind::Clock, "{found:#?}");
}
